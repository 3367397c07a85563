#pragma once

/// @file trueasync/api/spawn.hpp
/// Starting coroutines.

#include <source_location>
#include <trueasync/api/handle.hpp>

namespace trueasync {

namespace detail {

/// `spawn` when the simple way is barred: first whether it is possible at all, which needs no memory; then, with the coroutine made, for
/// good. Takes over the reference; drops it when it throws.
TA_API TA_COLD void check_spawn();
TA_API TA_COLD void spawn_or_throw(Coroutine& coroutine);

/// By value: of a reference the compiler would make a store on the simple way too.
template <typename Closure, typename F>
TA_COLD Closure* spawn_slow(F function, std::source_location where) {
    check_spawn();
    auto* coroutine = new Closure(std::move(function), where);
    spawn_or_throw(*coroutine);
    return coroutine;
}

template <typename Closure, typename F>
TA_INLINE Closure* spawn_closure(F&& function, std::source_location where) {
    std::uint64_t id = 0;
    if (TA_UNLIKELY(!Scheduler::claim_spawn(id))) {
        return spawn_slow<Closure, std::decay_t<F>>(std::forward<F>(function), where);
    }
    Closure* coroutine = nullptr;
    try {
        coroutine = new Closure(std::forward<F>(function), where, id);
    } catch (...) {
        Scheduler::unclaim_spawn(id);
        throw;
    }
    Scheduler::enter(*coroutine);
    return coroutine;
}

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
    return Handle<T>::adopt(
        detail::spawn_closure<detail::ClosureCoroutine<Function, T>>(std::forward<F>(function), where)
    );
}

}  // namespace trueasync
