#pragma once

/// `Async\Context` and the four context functions.

#include "../zend.hpp"

namespace trueasync::php {

class PhpCoroutine;

inline zend_class_entry* ce_context = nullptr;

/// The context of a coroutine alone: a new reference to its object.
zend_object* coroutine_context(PhpCoroutine& coroutine) noexcept;

void register_context();

}  // namespace trueasync::php
