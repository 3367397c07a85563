#pragma once

/// A coroutine that runs out of stack ends the process in one line that says so. Without this it would be a plain segmentation fault.

#include <trueasync/runtime/stack_pool.hpp>

namespace trueasync::php {

/// `stack_size` is what the user has set.
void guard_overflow(const StackPool& stacks, std::size_t stack_size) noexcept;
void unguard_overflow() noexcept;

}  // namespace trueasync::php
