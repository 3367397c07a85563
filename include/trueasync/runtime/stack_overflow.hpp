#pragma once

/// @file trueasync/runtime/stack_overflow.hpp
/// Says which coroutine ran out of stack before the process dies of it.

#include <trueasync/base/export.hpp>
#include <trueasync/runtime/stack_pool.hpp>

#include <cstddef>

namespace trueasync {

/// Writes what is running (a coroutine's name, where it was spawned) and returns the number of bytes written, at most
/// `size`. Called in a signal handler: no locks, no allocation, nothing but plain reads.
using DescribeFn = std::size_t (*)(char* buffer, std::size_t size, void* context) noexcept;

namespace detail {
struct OverflowReporter;
}

/// Installs the process-wide SIGSEGV and SIGBUS handler and returns whether it could. Counted: each success needs one
/// uninstall_overflow_reporter(). `OverflowGuard` does both; call it directly only to fix the order of handlers.
///
/// A fault in a guard page of a pool registered on the faulting thread, with the stack pointer at that stack, is
/// reported on stderr in one line. Then, and for every other fault right away, the handler that was installed before
/// runs (the host's, or that of AddressSanitizer, which adds its own report); where there was none, the default action
/// ends the process at the faulting instruction, core dump included.
///
/// Thread rule: any thread.
[[nodiscard]] TA_API bool install_overflow_reporter() noexcept;

/// The last call puts the previous handlers back. A handler that the host installed later is left alone; ours then
/// stays behind it, passes everything on, and is used again by the next install, as far as the host's handler chains.
TA_API void uninstall_overflow_reporter() noexcept;

/// Reports overflows of one pool's stacks on the current thread.
///
/// Gives the thread an alternate signal stack unless it has one, since a handler cannot run on a stack that is used up.
///
/// Thread rule: created and destroyed on the thread that owns the pool. Several guards per thread may exist, in any
/// order of destruction.
/// Lifetime: the pool and `context` outlive the guard.
///
/// @snippet unit/runtime/stack_overflow_test.cpp  overflow_guard
class TA_API OverflowGuard {
public:
    explicit OverflowGuard(const StackPool& pool, DescribeFn describe = nullptr, void* context = nullptr) noexcept;
    ~OverflowGuard();

    OverflowGuard(const OverflowGuard&) = delete;
    OverflowGuard(OverflowGuard&&) = delete;
    OverflowGuard& operator=(const OverflowGuard&) = delete;
    OverflowGuard& operator=(OverflowGuard&&) = delete;

    /// False when the handler or the alternate stack could not be set up: overflows then end without a report.
    bool is_active() const noexcept { return active_; }

private:
    friend struct detail::OverflowReporter;

    const StackPool& pool_;
    DescribeFn describe_;
    void* context_;
    OverflowGuard* next_ = nullptr;
    bool installed_ = false;
    bool active_ = false;
};

}  // namespace trueasync
