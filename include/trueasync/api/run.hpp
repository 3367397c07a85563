#pragma once

/// @file trueasync/api/run.hpp
/// The way in.

#include <functional>
#include <memory>
#include <optional>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

struct RunOptions {
    RuntimeSettings settings;
    /// The event loop; the real one when null.
    std::unique_ptr<Reactor> reactor;
    /// Where reports go; standard error when null.
    ReportSink* sink = nullptr;
};

namespace detail {

/// Runs `body` as the main coroutine of a new runtime and throws what came of it. `body` may be cancelled before it ends.
TA_API void run_main(RunOptions options, const std::function<void()>& body);

}  // namespace detail

/// Runs `function` as the main coroutine on this thread's own stack, then everything that is still alive, and returns the result.
///
/// Throws what `function` threw; the first error that nobody took (after a graceful shutdown); `DeadlockError`. A cancellation that
/// ends `function` ends it quietly, if there is no result to return. Throws `AsyncError` (`AlreadyRunning`) inside another `run`.
///
/// @snippet unit/api/run_test.cpp  run_returns
template <typename F>
std::invoke_result_t<F&> run(F&& function, RunOptions options = {}) {
    using T = std::invoke_result_t<F&>;
    if constexpr (std::is_void_v<T>) {
        detail::run_main(std::move(options), [&] { function(); });
    } else {
        using Stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_cv_t<T>>;
        std::optional<Stored> result;
        detail::run_main(std::move(options), [&] {
            if constexpr (std::is_reference_v<T>) {
                T&& returned = function();
                result.emplace(&returned);
            } else {
                result.emplace(function());
            }
        });
        if (!result.has_value()) {
            throw Cancellation(
                Error::cancellation(CancelReason::Shutdown, "the program was cancelled before it had a result")
            );
        }
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(**result);
        } else {
            return std::move(*result);
        }
    }
}

/// Begins a graceful shutdown: every coroutine, this one too, is cancelled at its next suspension point. Never suspends.
TA_API void shutdown();

}  // namespace trueasync
