#pragma once

/// @file trueasync/runtime/detail/context_boost.hpp
/// The switch where there is no own one: Boost.Context's `fcontext`. Slower, but everywhere.

#include <cstddef>
#include <trueasync/base/export.hpp>

namespace trueasync::detail {

struct Registers {
    void* fcontext;
    void (*entry)();

    const void* stack() const noexcept { return fcontext; }
};

TA_API void switch_registers(Registers& from, Registers& to) noexcept;
TA_API void prepare_registers(Registers& registers, void* stack_top, void (*entry)()) noexcept;

}  // namespace trueasync::detail
