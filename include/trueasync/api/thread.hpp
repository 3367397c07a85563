#pragma once

/// @file trueasync/api/thread.hpp
/// A thread whose end can be awaited.

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <trueasync/api/await_many.hpp>
#include <trueasync/api/handle.hpp>
#include <trueasync/api/run.hpp>
#include <trueasync/thread/thread.hpp>
#include <type_traits>
#include <utility>

namespace trueasync {

struct ThreadOptions {
    std::string name = "ta-thread";
    /// The function is the main coroutine of a runtime of the thread's own.
    bool has_runtime = false;
};

/// For a thread's function that takes one: whether `Thread::request_stop` was called. Valid while the function runs.
class ThreadStop {
public:
    explicit ThreadStop(const ThreadBody& body) noexcept : body_(body) {}
    bool is_requested() const noexcept { return body_.is_stop_requested(); }

private:
    const ThreadBody& body_;
};

namespace detail {

template <typename F>
decltype(auto) call_thread(F& function, const ThreadBody& body) {
    if constexpr (std::is_invocable_v<F&, ThreadStop>) {
        return function(ThreadStop(body));
    } else {
        return function();
    }
}

TA_API void use_standard_sink();

template <typename F, typename T>
class TypedThread final : public ThreadBody {
public:
    using Stored = std::conditional_t<std::is_void_v<T>, Nothing, T>;

    template <typename G>
    TypedThread(G&& function, bool has_runtime)
        : function_(std::in_place, std::forward<G>(function)), has_runtime_(has_runtime) {}

    Ref<Error> run() override {
        use_standard_sink();
        Ref<Error> error;
        try {
            if (has_runtime_) {
                trueasync::run([this] { call(); });
            } else {
                call();
            }
        } catch (...) {
            error = to_error();
        }
        function_.reset();
        return error;
    }
    void* result() noexcept override { return value_.has_value() ? &*value_ : nullptr; }
    Stored& value() noexcept { return *value_; }

private:
    void call() {
        if constexpr (std::is_void_v<T>) {
            call_thread(*function_, *this);
            value_.emplace();
        } else {
            value_.emplace(call_thread(*function_, *this));
        }
    }

    std::optional<F> function_;
    std::optional<Stored> value_;
    const bool has_runtime_;
};

TA_API Ref<ThreadEvent> make_thread(std::unique_ptr<ThreadBody> body, std::string name);
TA_API void add_finally(ThreadEvent& thread, std::function<void()> function, std::source_location where);

}  // namespace detail

/// A running or ended thread. Copies are the same one. Dropping the last one does not stop it.
///
/// Thread rule: the thread of the runtime that made it.
template <typename T>
class Thread {
public:
    explicit Thread(Ref<ThreadEvent> event) noexcept : event_(std::move(event)) {}

    bool is_running() const noexcept { return event_->is_running(); }
    bool is_completed() const noexcept { return event_->is_completed(); }
    bool is_cancelled() const noexcept { return event_->is_cancelled(); }
    /// Asks the function to stop, if it takes a `ThreadStop` and looks. Never suspends.
    void request_stop() const noexcept { event_->request_stop(); }
    /// Calls `function`, in a coroutine of this thread, when the thread has ended; at once when it has.
    void finally(std::function<void()> function, std::source_location where = std::source_location::current()) const {
        detail::add_finally(*event_, std::move(function), where);
    }
    ThreadEvent& event() const noexcept { return *event_; }

private:
    Ref<ThreadEvent> event_;
};

namespace detail {

template <typename T>
struct Awaited<Thread<T>> {
    using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;
    static Event& event(const Thread<T>& thread) noexcept { return thread.event(); }
    static Value take(const Thread<T>& thread) {
        if constexpr (std::is_void_v<T>) {
            return {};
        } else {
            void* result = thread.event().body() != nullptr ? thread.event().body()->result() : nullptr;
            if (result == nullptr) {  // its own runtime was shut down before there was one
                throw Cancellation(Error::cancellation(CancelReason::Shutdown, "the thread ended without a result"));
            }
            auto& value = *static_cast<T*>(result);
            if constexpr (std::is_copy_constructible_v<T>) {
                return value;
            } else {
                return std::move(value);
            }
        }
    }
};

}  // namespace detail

/// Runs `function` on a thread of its own, where it may block. Never suspends. Throws `AsyncError` outside `run` and `ThreadPoolError` when the
/// system refuses a thread.
///
/// The function must own, or share safely, what it works with.
///
/// @snippet unit/thread/thread_test.cpp  spawn_thread
template <typename F>
auto spawn_thread(F&& function, ThreadOptions options = {}) {
    using Function = std::decay_t<F>;
    using T = std::decay_t<decltype(detail::call_thread(std::declval<Function&>(), std::declval<ThreadBody&>()))>;
    auto body = std::make_unique<detail::TypedThread<Function, T>>(std::forward<F>(function), options.has_runtime);
    return Thread<T>(detail::make_thread(std::move(body), std::move(options.name)));
}

/// Waits for the end of a thread and returns its result, or throws what it threw. May suspend. A result that can only be moved goes to who
/// asks first.
/// Cancel safety: the thread goes on.
template <typename T>
T await(
    const Thread<T>& thread, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    const Thread<T> kept = thread;
    detail::check(wait_for(kept.event(), limit, where));
    if constexpr (!std::is_void_v<T>) {
        return detail::Awaited<Thread<T>>::take(kept);
    }
}

}  // namespace trueasync
