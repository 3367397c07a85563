#pragma once

/// @file trueasync/runtime/detail/context_x86_64.hpp
/// The switch for x86-64 (System V): three words, inlined, no call and no return.
///
/// The compiler is told that everything is clobbered, so it saves just what is live. Nothing is pushed: a leaf function's
/// red zone stays intact. An inlined jump keeps the processor's return stack in step with each coroutine's own calls.

#include <cstdint>
#include <trueasync/base/export.hpp>

namespace trueasync::detail {

struct Registers {
    void* sp;
    void* bp;  // saved by hand: it cannot be listed as clobbered where it is the frame pointer
    const void* ip;

    const void* stack() const noexcept { return sp; }
};

#if defined(__AVX512F__)
#define TA_CLOBBER_AVX512                                                                                         \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define TA_CLOBBER_AVX512
#endif

#if defined(__CET__) && (__CET__ & 1)
#define TA_LANDING_PAD "endbr64\n\t"
#else
#define TA_LANDING_PAD ""
#endif

TA_INLINE void switch_registers(Registers& from, Registers& to) noexcept {
    Registers* save = &from;
    Registers* load = &to;
    asm volatile(
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rbp, 8(%0)\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 16(%0)\n\t"
        "movq 0(%1), %%rsp\n\t"
        "movq 8(%1), %%rbp\n\t"
        "jmpq *16(%1)\n\t"
        ".p2align 4\n"
        "1:\n\t" TA_LANDING_PAD
        : "+D"(save), "+S"(load)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)" TA_CLOBBER_AVX512
    );
}

#undef TA_CLOBBER_AVX512
#undef TA_LANDING_PAD

/// `entry` is jumped to as if called, with a return address of null: there unwinding ends.
TA_INLINE void prepare_registers(Registers& registers, void* stack_top, void (*entry)()) noexcept {
    auto* top = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(stack_top) & ~std::uintptr_t{15}) - 1;
    *top = nullptr;
    registers.sp = top;
    registers.bp = nullptr;
    registers.ip = reinterpret_cast<const void*>(entry);
}

}  // namespace trueasync::detail
