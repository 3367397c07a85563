#pragma once

#include <atomic>
#include <condition_variable>
#include <trueasync/reactor/trigger.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/thread/thread_pool.hpp>
#include <vector>

#include "base/look_around.hpp"

namespace trueasync::detail {

/// A thread of a pool; lies on its stack. Guarded by the pool's mutex.
struct PoolWorker {
    IntrusiveList<ThreadTask, ThreadTask> running;
    // With a runtime only.
    Ref<TriggerEvent> trigger;  // fired for `to_cancel`; null when it is too late
    std::vector<Ref<ThreadTask>> to_cancel;
    std::size_t count = 0;  // of its tasks
    ThreadWaiters own;      // its main coroutine, while it may not take more
};

/// One generation of workers with their queue. Guarded by the pool's mutex.
struct PoolCrew {
    IntrusiveList<ThreadTask, ThreadTask> queue;
    std::atomic<std::size_t> queued = 0;  // changed under the mutex only
    std::size_t live = 0;
    std::size_t idle = 0;            // without a runtime: asleep
    bool is_looking = false;         // the same: one of them is awake and looks for a task
    detail::LookAround look_around;  // of that one
    std::condition_variable wake;    // the same
    ThreadWaiters idle_workers;      // with a runtime
    std::vector<PoolWorker*> workers;
    std::atomic<bool> is_retiring = false;  // as `queued`

    /// Whether a new task is for one that sleeps: who looks around takes the first one by himself.
    bool needs_wake() const noexcept { return idle != 0 && queued > (is_looking ? 1U : 0U); }
    void wake_one(bool has_runtime) noexcept {
        has_runtime ? static_cast<void>(idle_workers.wake_one()) : wake.notify_one();
    }
    void wake_all() noexcept {
        wake.notify_all();
        idle_workers.wake_all();
    }
};

/// What a task spawns ends with it: the outcome is told when the last of them has gone.
class PoolTaskScope final : public Owner {
public:
    using EndFn = std::function<void(ThreadTask& task, Ref<Error> error)>;

    PoolTaskScope(Ref<ThreadTask> task, EndFn end) noexcept : task_(std::move(task)), end_(std::move(end)) {}

    Status admit() noexcept override;
    void adopt(Coroutine& coroutine) noexcept override;
    bool finished(Coroutine& coroutine, Error* error) noexcept override;
    void on_dispose(Coroutine& /*coroutine*/) noexcept override {}

    void set_error(Ref<Error> error) noexcept { error_ = std::move(error); }

private:
    const Ref<ThreadTask> task_;
    const EndFn end_;
    Coroutine* root_ = nullptr;
    bool has_root_ended_ = false;
    Ref<Error> error_;
    std::vector<Coroutine*> coroutines_;
};

class PoolTaskCoroutine final : public Coroutine {
public:
    PoolTaskCoroutine(Ref<ThreadTask> task, PoolTaskScope& scope) noexcept : task_(std::move(task)), scope_(scope) {}

    static void set(ThreadTask& task, Coroutine* coroutine) noexcept { task.coroutine_ = coroutine; }

protected:
    void run() override {
        scope_.set_error(task_->run());
        task_->drop_body();
    }
    void drop_body() noexcept override { task_->drop_body(); }

private:
    const Ref<ThreadTask> task_;
    PoolTaskScope& scope_;  // outlives the run
};

}  // namespace trueasync::detail
