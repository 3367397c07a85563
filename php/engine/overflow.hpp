#pragma once

/// A coroutine that runs out of stack ends the process in one line that says so. Without this it would be a plain segmentation fault.

#include <trueasync/runtime/stack_pool.hpp>

namespace trueasync::php {

void guard_overflow(const StackPool& stacks) noexcept;
void unguard_overflow() noexcept;

}  // namespace trueasync::php
