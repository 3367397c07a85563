#pragma once

/// @file trueasync/api/spawn.hpp
/// Starting coroutines.

#include <source_location>
#include <trueasync/api/handle.hpp>

namespace trueasync {

namespace detail {

/// `spawn` when the simple way is barred.
TA_API TA_COLD void spawn_or_throw(Coroutine& coroutine);

}  // namespace detail

/// Queues `function` to run as a coroutine and returns at once; it begins when the caller suspends or ends. Never suspends.
///
/// Throws `AsyncError` outside `run` (`NotRunning`), during a shutdown (`ShuttingDown`) and when there is no memory for one more
/// stack (`OutOfMemory`).
///
/// @snippet unit/api/spawn_test.cpp  spawn_await
template <typename F>
auto spawn(F&& function, std::source_location where = std::source_location::current()) {
    using Function = std::decay_t<F>;
    using T = std::invoke_result_t<Function&>;
    using Closure = detail::ClosureCoroutine<Function, T>;
    if (const std::uint64_t id = Scheduler::claim_spawn(); TA_LIKELY(id != 0)) {
        try {
            auto coroutine = make_ref<Closure>(std::forward<F>(function), where, id);
            Scheduler::enter(*coroutine);
            return Handle<T>(std::move(coroutine));
        } catch (...) {
            Scheduler::unclaim_spawn();
            throw;
        }
    }
    auto coroutine = make_ref<Closure>(std::forward<F>(function), where);
    detail::spawn_or_throw(*coroutine);
    return Handle<T>(std::move(coroutine));
}

}  // namespace trueasync
