#pragma once

/// What can be waited for: the interfaces, and the way from a PHP object to its event.

#include "../zend.hpp"

#include <trueasync/event/event.hpp>
#include <trueasync/runtime/wait.hpp>

namespace trueasync::php {

class PhpCoroutine;

inline zend_class_entry* ce_awaitable = nullptr;
inline zend_class_entry* ce_completable = nullptr;
inline zend_class_entry* ce_timeout = nullptr;
inline zend_class_entry* ce_signal = nullptr;

/// Tells how an object of `ce`, a final class, leads to its event.
using EventOf = Event* (*)(zend_object* object);
void add_awaitable(zend_class_entry* ce, EventOf event_of);

/// The event of an object; throws and returns null for one of a class that only PHP code knows.
Event* event_of(zend_object* object) noexcept;

/// The limit that a token is; none for null. Marks a token that is a future as used. False: it threw.
bool limit_of(zend_object* token, WaitLimit& limit) noexcept;

/// After an awaited event is complete: its value into `return_value`, or its exception is thrown. False: it
/// has kept neither.
bool return_outcome(Event& event, zval* return_value) noexcept;

/// `await` and all that waits like it: for `event`, with a token or without; the outcome goes to `return_value`.
void await_event(Event& event, zend_object* token, zval* return_value) noexcept;

/// The same for a coroutine, without a token. False: nothing was done, since it is not that simple.
bool await_coroutine(PhpCoroutine& coroutine, zval* return_value) noexcept;

void register_awaitables();

}  // namespace trueasync::php
