#pragma once

/// @file trueasync/api/thread_pool.hpp
/// Work for other threads.

#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <trueasync/api/remote_future.hpp>
#include <trueasync/thread/thread_pool.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace trueasync {

struct ThreadPoolOptions {
    std::size_t workers = 0;     ///< 0: as many as `available_parallelism`
    std::size_t queue_size = 0;  ///< 0: four for each worker
    /// Called first on each worker. If it throws the pool closes.
    std::function<void()> bootloader = {};
    /// A runtime on each worker: a task may suspend, and others of the same worker go on.
    bool coroutines = false;
    std::size_t concurrency = 0;  ///< of coroutines: how many tasks at once on one worker; 0: any number
    std::string name = "pool";
    /// How long the destructor waits for tasks that run.
    Duration patience = std::chrono::seconds(5);
};

/// Given to a task that asks for one: whether its future was cancelled, or its pool stops. Valid while the task runs.
class StopToken {
public:
    explicit StopToken(const ThreadTask& task) noexcept : task_(task) {}
    bool is_stop_requested() const noexcept { return task_.is_stop_requested(); }

private:
    const ThreadTask& task_;
};

namespace detail {

template <typename F>
decltype(auto) call_task(F& function, const ThreadTask& task) {
    if constexpr (std::is_invocable_v<F&, StopToken>) {
        return function(StopToken(task));
    } else {
        return function();
    }
}

template <typename F, typename T>
class TypedThreadTask final : public ThreadTask {
public:
    using Stored = RemoteStored<T>;

    template <typename G>
    explicit TypedThreadTask(G&& function) : function_(std::in_place, std::forward<G>(function)) {}

protected:
    Ref<Error> run() noexcept override {
        try {
            if constexpr (std::is_void_v<T>) {
                call_task(*function_, *this);
                value_.emplace();
            } else {
                value_.emplace(call_task(*function_, *this));
            }
        } catch (...) {
            return to_error();
        }
        return {};
    }
    void drop_body() noexcept override { function_.reset(); }
    void deliver(FutureEvent& future) noexcept override {
        static_cast<FutureOf<Stored>&>(future).complete(std::move(*value_)).ignore();
    }

private:
    std::optional<F> function_;
    std::optional<Stored> value_;
};

TA_API std::shared_ptr<ThreadPoolCore> make_thread_pool(ThreadPoolOptions options);

}  // namespace detail

/// Threads that work through a bounded queue.
///
/// Thread rule: any thread with a runtime submits and awaits; the rest from any thread.
/// Lifetime: its end cancels what is queued, asks what runs to stop, and waits for that, but not for ever (`patience`); a task that goes on
/// longer must own what it works with.
///
/// @snippet unit/thread/thread_pool_test.cpp  thread_pool
class ThreadPool {
public:
    /// Starts the workers. Throws `ThreadPoolError` when the system refuses threads.
    explicit ThreadPool(ThreadPoolOptions options = {})
        : patience_(options.patience), core_(detail::make_thread_pool(std::move(options))) {}
    ThreadPool(ThreadPool&&) noexcept = default;
    ThreadPool& operator=(ThreadPool&& other) noexcept {
        ThreadPool taken(std::move(other));
        std::swap(patience_, taken.patience_);
        core_.swap(taken.core_);
        return *this;
    }
    ~ThreadPool() {
        if (core_ != nullptr) {
            core_->stop(patience_);
        }
    }

    /// Queues `function`, which may take a `StopToken`; suspends while the queue is full. Throws `ThreadPoolError` when the pool is closed,
    /// `TimeoutError` and `Cancellation`; it is not queued then.
    ///
    /// The function runs on another thread and must own, or share safely, what it works with. Cancelling the future, or leaving it as the last
    /// of those who waited, takes the task out of the queue or asks it to stop (`StopToken`; with coroutines `Cancellation` is thrown inside).
    /// A future that nobody ever awaited leaves its task alone.
    template <typename F>
    auto submit(F&& function, const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        using Function = std::decay_t<F>;
        using T = std::decay_t<decltype(detail::call_task(std::declval<Function&>(), std::declval<ThreadTask&>()))>;
        using Task = detail::TypedThreadTask<Function, T>;
        auto task = make_ref<Task>(std::forward<F>(function));
        auto event = make_ref<typename RemoteFuture<T>::Event>(task, Place(where));
        event->mark_used();  // whoever only wants it done need not look at the outcome; a failure is reported
        detail::check(core_->submit(std::move(task), *event, limit, where));
        return RemoteFuture<T>(std::move(event));
    }

    /// Calls `function` for each item on the workers and returns the results in the order of the items. May suspend. Throws what the first
    /// failing one of them threw; the others are cancelled then, as when the caller is cancelled.
    template <typename Range, typename F>
    auto map(const Range& items, F function, std::source_location where = std::source_location::current()) {
        using Item = std::decay_t<decltype(*std::begin(items))>;
        using R = std::decay_t<std::invoke_result_t<F&, const Item&>>;
        std::vector<RemoteFuture<R>> futures;
        try {
            for (const Item& item : items) {
                futures.push_back(submit([function, item]() mutable { return function(item); }, {}, where));
            }
            if constexpr (std::is_void_v<R>) {
                for (const RemoteFuture<R>& future : futures) {
                    await(future, {}, where);
                }
            } else {
                std::vector<R> results;
                for (const RemoteFuture<R>& future : futures) {
                    results.push_back(await(future, {}, where));
                }
                return results;
            }
        } catch (...) {
            for (const RemoteFuture<R>& future : futures) {
                future.cancel();
            }
            throw;
        }
    }

    /// Nothing new; what is queued and what runs is done. Does not wait.
    void close() noexcept { core_->close(); }
    /// Nothing new; what is queued fails with `Cancellation`, running coroutines are cancelled, other running tasks finish.
    void cancel() noexcept { core_->cancel(); }
    /// Replaces the workers, and returns when the old ones have done what they had. May suspend.
    void reload(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        detail::check(core_->reload(limit, where));
    }

    bool is_closed() const noexcept { return core_->is_closed(); }
    std::size_t pending_count() const noexcept { return core_->pending_count(); }
    std::size_t running_count() const noexcept { return core_->running_count(); }
    std::uint64_t completed_count() const noexcept { return core_->completed_count(); }
    std::size_t worker_count() const noexcept { return core_->worker_count(); }
    ThreadPoolCore& core() const noexcept { return *core_; }

private:
    Duration patience_;
    std::shared_ptr<ThreadPoolCore> core_;
};

}  // namespace trueasync
