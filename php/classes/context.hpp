#pragma once

/// `Async\Context` and the four context functions.

#include "../object.hpp"

#include <trueasync/structured/scope.hpp>

namespace trueasync::php {

class PhpCoroutine;

inline zend_class_entry* ce_context = nullptr;

/// The context of a coroutine alone: a new reference to its object, which lives as long as the coroutine from now on.
zend_object* coroutine_context(PhpCoroutine& coroutine) noexcept;

/// The coroutine, which has a context, lets go of its object.
void end_context(PhpCoroutine& coroutine) noexcept;

/// What the context of a scope, or of a coroutine, holds, if nobody else has that context.
void show_context(ScopeEvent& scope, Shown& shown);
void show_context(PhpCoroutine& coroutine, Shown& shown);

void register_context();

}  // namespace trueasync::php
