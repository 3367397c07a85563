#pragma once

/// @file trueasync/api/spawn.hpp
/// Starting coroutines.

#include <source_location>
#include <trueasync/api/handle.hpp>

namespace trueasync {

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
    Scheduler* scheduler = Scheduler::current();
    if (TA_UNLIKELY(scheduler == nullptr)) {
        detail::throw_error(
            Error::make(ErrorCode::NotRunning, "spawn needs a running runtime: call it inside trueasync::run")
        );
    }
    auto coroutine = make_ref<detail::ClosureCoroutine<Function, T>>(std::forward<F>(function), where);
    if (TA_UNLIKELY(!scheduler->spawn_simple(*coroutine))) {
        detail::check(scheduler->spawn(*coroutine));
    }
    return Handle<T>(std::move(coroutine));
}

}  // namespace trueasync
