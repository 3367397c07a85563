#pragma once

/// @file trueasync/runtime/detail/registers.hpp
/// The machine's part of a context switch: one implementation per processor, chosen here.
///
/// Each gives `struct Registers`, `switch_registers(from, to)` (saves the running context into `from` and continues
/// `to`) and `prepare_registers(registers, stack_top, entry)` (the first switch to `registers` calls `entry` on that
/// stack; `entry` never returns). Floating-point control words belong to the thread and are not switched.

#if defined(TRUEASYNC_CONTEXT_BOOST)
#include <trueasync/runtime/detail/context_boost.hpp>
#elif defined(__x86_64__)
#include <trueasync/runtime/detail/context_x86_64.hpp>
#elif defined(__aarch64__)
#include <trueasync/runtime/detail/context_aarch64.hpp>
#else
#error "no own switch for this processor: configure with -DTRUEASYNC_CONTEXT=boost"
#endif
