#pragma once

/// @file trueasync/runtime/execution_context.hpp
/// A stack and the registers saved on leaving it.

#include <trueasync/base/export.hpp>
#include <trueasync/runtime/detail/registers.hpp>
#include <trueasync/runtime/stack_pool.hpp>

namespace trueasync {

/// Where a coroutine runs. The main coroutine's context has no stack of its own: it keeps the thread's.
///
/// Thread rule: a context is continued only on the thread that made it.
/// What is switched: general registers, vector registers, the C++ exception state (by the scheduler). What is not:
/// floating-point control words and the signal mask, which belong to the thread.
class ExecutionContext {
public:
    /// Gives the context a stack of `pool`; the first switch to it calls `entry`, which never returns.
    void prepare([[maybe_unused]] const StackPool& pool, std::byte* stack_top, void (*entry)()) noexcept {
        stack_top_ = stack_top;
#ifdef TA_ASAN
        stack_base_ = pool.stack_at(stack_top).base;
#endif
        detail::prepare_registers(registers_, stack_top, entry);
        annotate_created();
    }

    /// Takes over the stack of a context that has finished, while running on it.
    void inherit(ExecutionContext& other) noexcept {
        stack_top_ = other.stack_top_;
#ifdef TA_ASAN
        stack_base_ = other.stack_base_;
#endif
#ifdef TA_TSAN
        fiber_ = other.fiber_;
#endif
    }

    /// Makes this the context of the running thread's own stack.
    TA_API void adopt_thread() noexcept;

    std::byte* stack_top() const noexcept { return stack_top_; }
    const detail::Registers& registers() const noexcept { return registers_; }

    /// For the one that comes after the next: of many, each has left the caches when its turn comes. Fetches the part of its stack where it will
    /// go on. Only of one that has started.
    TA_INLINE void prefetch() const noexcept {
#pragma GCC unroll 10
        for (std::ptrdiff_t at = 0; at < kPrefetched; at += 64) {
            __builtin_prefetch(static_cast<const std::byte*>(registers_.stack()) + at);
        }
    }

    /// Leaves `from`, continues `to`; returns when somebody switches back.
    static TA_INLINE void switch_to(ExecutionContext& from, ExecutionContext& to) noexcept {
#if defined(TA_ASAN) || defined(TA_TSAN)
        void* fake_stack = nullptr;
        annotate_leaving(&fake_stack, to);
        detail::switch_registers(from.registers_, to.registers_);
        annotate_arrived(fake_stack);
#else
        detail::switch_registers(from.registers_, to.registers_);
#endif
    }

    /// Leaves a stack that is never continued; `from` may be gone as soon as this is called.
    [[noreturn]] static TA_INLINE void leave_for_good(ExecutionContext& to, [[maybe_unused]] void* fiber) noexcept {
        detail::Registers nobody;
#if defined(TA_ASAN) || defined(TA_TSAN)
        annotate_leaving(nullptr, to);
        annotate_destroyed(fiber);
#endif
        detail::switch_registers(nobody, to.registers_);
        __builtin_unreachable();
    }

    /// The sanitizer's name for this context, to hand to `leave_for_good`; null without a sanitizer.
    void* fiber() const noexcept {
#ifdef TA_TSAN
        return fiber_;
#else
        return nullptr;
#endif
    }

    // For the sanitizers; nothing in other builds.
#if defined(TA_ASAN) || defined(TA_TSAN)
    /// Call first thing on a stack that was never used before.
    TA_API static void annotate_arrived(void* fake_stack) noexcept;

    /// A context which is not running will never be continued.
    TA_API static void annotate_destroyed(void* fiber) noexcept;
#else
    static void annotate_arrived(void* /*fake_stack*/) noexcept {}
    static void annotate_destroyed(void* /*fiber*/) noexcept {}
#endif

private:
    static constexpr std::ptrdiff_t kPrefetched = 640;

#if defined(TA_ASAN) || defined(TA_TSAN)
    TA_API void annotate_created() noexcept;
    TA_API static void annotate_leaving(void** fake_stack, const ExecutionContext& to) noexcept;
#else
    void annotate_created() noexcept {}
#endif

    // Not initialised: a context means nothing before `prepare` or `adopt_thread`.
    detail::Registers registers_;
    std::byte* stack_top_;
#ifdef TA_ASAN
    std::byte* stack_base_;
#endif
#ifdef TA_TSAN
    void* fiber_ = nullptr;
#endif
};

}  // namespace trueasync
