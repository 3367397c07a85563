#pragma once

/// @file trueasync/api/run_blocking.hpp
/// Blocking and long computing without holding up the other coroutines.

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <trueasync/api/await.hpp>
#include <trueasync/api/handle.hpp>
#include <trueasync/reactor/task.hpp>
#include <type_traits>
#include <utility>

namespace trueasync {

namespace detail {

template <typename F, typename T>
class TypedTask final : public TaskBody {
public:
    using Stored = typename TypedCoroutine<T>::Stored;

    template <typename G>
    explicit TypedTask(G&& function) : function_(std::forward<G>(function)) {}

    void run() override {
        if constexpr (std::is_void_v<T>) {
            function_();
            value_.emplace();
        } else if constexpr (std::is_reference_v<T>) {
            value_.emplace(&function_());
        } else {
            value_.emplace(function_());
        }
    }
    void* result() noexcept override { return value_.has_value() ? &*value_ : nullptr; }
    Stored& value() noexcept { return *value_; }

private:
    F function_;
    std::optional<Stored> value_;
};

/// A task of the running runtime; throws outside. Without a name it is called after the place in the program.
TA_API Ref<TaskEvent> make_task(std::unique_ptr<TaskBody> body, std::string name, std::source_location where);

}  // namespace detail

/// Runs `function` on a thread of the lane `work` and returns its result, or throws what it threw. May suspend.
///
/// There is no runtime on that thread: the function must not touch coroutines, events or anything else of this one, nor wait for
/// another `run_blocking`. Throws `AsyncError` with `QueueFull` when too much is waiting for a thread.
/// Cancel safety: a function that has not begun never runs. One that has begun cannot be stopped: the caller leaves, the function runs to
/// its end and its result is thrown away. Therefore it must own what it works with: capture by value, not by reference, or
/// wrap the call in `protect` and give no limit.
///
/// @snippet unit/api/run_blocking_test.cpp  run_blocking
template <typename F>
auto run_blocking(
    std::string name,
    F&& function,
    const Limit& limit = {},
    std::source_location where = std::source_location::current()
) -> std::invoke_result_t<std::decay_t<F>&> {
    using Function = std::decay_t<F>;
    using T = std::invoke_result_t<Function&>;
    auto body = std::make_unique<detail::TypedTask<Function, T>>(std::forward<F>(function));
    auto& typed = *body;
    const Ref<TaskEvent> task = detail::make_task(std::move(body), std::move(name), where);
    await(task, limit, where);
    if constexpr (std::is_reference_v<T>) {
        return static_cast<T>(*typed.value());
    } else if constexpr (!std::is_void_v<T>) {
        return std::move(typed.value());
    }
}

/// The same; dumps name the place of the call.
template <typename F>
    requires std::is_invocable_v<std::decay_t<F>&>
auto run_blocking(F&& function, const Limit& limit = {}, std::source_location where = std::source_location::current())
    -> std::invoke_result_t<std::decay_t<F>&> {
    return run_blocking(std::string(), std::forward<F>(function), limit, where);
}

}  // namespace trueasync
