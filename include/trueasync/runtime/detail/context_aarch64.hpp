#pragma once

/// @file trueasync/runtime/detail/context_aarch64.hpp
/// The switch for aarch64 (AAPCS64): three words, inlined, no call and no return; see the x86-64 twin.

#include <cstdint>
#include <trueasync/base/export.hpp>

extern "C" TA_API void trueasync_entry_aarch64() noexcept;

namespace trueasync::detail {

struct Registers {
    void* sp;
    void* fp;  // x29, saved by hand: it cannot be listed as clobbered where it is the frame pointer
    const void* pc;

    const void* stack() const noexcept { return sp; }
};

// The platform's own on Apple systems, an ordinary temporary elsewhere.
#if defined(__APPLE__)
#define TA_CLOBBER_X18
#else
#define TA_CLOBBER_X18 "x18",
#endif

TA_INLINE void switch_registers(Registers& from, Registers& to) noexcept {
    register Registers* save asm("x0") = &from;
    register Registers* load asm("x1") = &to;
    asm volatile(
        "mov x2, sp\n\t"
        "adr x3, 1f\n\t"
        "stp x2, x29, [x0]\n\t"
        "str x3, [x0, #16]\n\t"
        "ldp x2, x29, [x1]\n\t"
        "ldr x3, [x1, #16]\n\t"
        "mov sp, x2\n\t"
        "br x3\n"
        "1:\n\t"
#if defined(__ARM_FEATURE_BTI_DEFAULT)
        "hint #36\n\t"  // bti j
#endif
        : "+r"(save), "+r"(load)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
          TA_CLOBBER_X18 "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc",
          "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
          "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
    );
}

#undef TA_CLOBBER_X18

/// `entry` is found by the trampoline in the word on top of the new stack.
inline void prepare_registers(Registers& registers, void* stack_top, void (*entry)()) noexcept {
    auto* top = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(stack_top) & ~std::uintptr_t{15}) - 2;
    top[0] = reinterpret_cast<void*>(entry);
    top[1] = nullptr;
    registers.sp = top;
    registers.fp = nullptr;
    registers.pc = reinterpret_cast<const void*>(&trueasync_entry_aarch64);
}

}  // namespace trueasync::detail
