#pragma once

/// @file trueasync/thread/thread_pool.hpp
/// Threads that work through a bounded queue of tasks.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <trueasync/base/cpu.hpp>
#include <trueasync/thread/remote_future.hpp>
#include <trueasync/thread/thread_waiters.hpp>
#include <vector>

namespace trueasync {

class ThreadPoolCore;

namespace detail {
struct PoolCrew;
struct PoolWorker;
class PoolTaskCoroutine;
}  // namespace detail

/// A piece of work in a pool. Made on the submitter's thread, run on a worker's; the outcome goes back as that of a remote future.
///
/// Cancel rule: cancelling its future, or leaving it as the last of those who waited, takes it out of the queue, and what it has captured is
/// freed at once. One that runs is asked to stop: its coroutine is cancelled, `is_stop_requested` becomes true.
class TA_API ThreadTask : public RemoteState, private ListNode<ThreadTask> {
public:
    /// Any thread.
    bool is_stop_requested() const noexcept { return is_stopping_.load(std::memory_order_relaxed); }

protected:
    ThreadTask() = default;
    ~ThreadTask() override;

    /// The work, on a worker's thread, which has a runtime or not. Keeps the value; returns what it failed with, or null.
    virtual Ref<Error> run() noexcept = 0;
    /// Frees what the work would have used, on whichever thread.
    virtual void drop_body() noexcept = 0;

    void abandon() noexcept override;
    bool needs_watchers() const noexcept override { return true; }

private:
    friend class IntrusiveList<ThreadTask, ThreadTask>;
    friend class ThreadPoolCore;
    friend class detail::PoolTaskCoroutine;

    enum class State : std::uint8_t { New, Queued, Running, Ended };

    std::atomic<bool> is_stopping_ = false;
    State state_ = State::New;  // as the rest: guarded by the pool's mutex
    std::shared_ptr<ThreadPoolCore> pool_;
    detail::PoolCrew* crew_ = nullptr;
    detail::PoolWorker* worker_ = nullptr;
    Coroutine* coroutine_ = nullptr;  // the worker's thread only
};

struct ThreadPoolSettings {
    std::size_t workers = 0;     ///< 0: as many as `available_parallelism`
    std::size_t queue_size = 0;  ///< 0: four for each worker
    /// A runtime on each worker: tasks are coroutines.
    bool has_runtime = false;
    std::size_t concurrency = 0;  ///< with a runtime: how many tasks at once on one worker; 0: any number
    /// With a runtime: whether `cancel` reaches running tasks.
    bool is_cancelling_running = true;
    std::string name = "pool";
    /// Called first on each worker, in its runtime if there is one. Returns what it failed with; the pool closes then.
    std::function<Ref<Error>()> bootloader;
};

/// Workers, a queue, and those who wait for room in it. Shared by all who submit and by the workers.
///
/// Thread rule: any thread; `submit` and `reload` from a thread with a runtime.
/// Lifetime: by `std::shared_ptr`; the threads hold it until they end. Its threads do not exist in the child of a fork, where everything is refused.
class TA_API ThreadPoolCore final : public std::enable_shared_from_this<ThreadPoolCore> {
public:
    /// Starts the workers. Null, and `status` says why, when not even one can be started.
    static std::shared_ptr<ThreadPoolCore> create(ThreadPoolSettings settings, Status& status);
    ThreadPoolCore(const ThreadPoolCore&) = delete;
    ThreadPoolCore& operator=(const ThreadPoolCore&) = delete;
    ~ThreadPoolCore();

    /// Queues `task`, whose outcome goes to `future`. Waits while the queue is full; may suspend. Refused with `ThreadPoolClosed`, and with
    /// `ThreadFailed` when no worker is left.
    WaitResult submit(
        Ref<ThreadTask> task,
        FutureEvent& future,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;

    /// Nothing new; what is queued and what runs is done. Does not wait.
    void close() noexcept;
    /// Nothing new; what is queued fails with a cancellation; running coroutines are cancelled if the settings say so.
    void cancel() noexcept;
    /// `cancel`, everything that runs is asked to stop, then waits for the workers to end, but not longer than `patience`. May suspend. False
    /// when some have not ended; they do so when their work is over.
    bool stop(Duration patience) noexcept;

    /// New workers with a queue of their own; waits until the old ones have done what they had. May suspend. Calls that overlap become one
    /// more turn together.
    WaitResult reload(
        const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept;

    bool is_closed() const noexcept;
    std::size_t pending_count() const noexcept;
    std::size_t running_count() const noexcept { return running_.load(std::memory_order_relaxed); }
    std::uint64_t completed_count() const noexcept { return completed_.load(std::memory_order_relaxed); }
    std::size_t worker_count() const noexcept;
    const ThreadPoolSettings& settings() const noexcept { return settings_; }

    /// `ThreadPool(workers=4, pending=0, running=0, completed=7)`.
    std::string info() const;

private:
    friend class ThreadTask;
    friend class detail::PoolTaskCoroutine;

    using Lock = std::unique_lock<std::mutex>;
    using Crew = detail::PoolCrew;
    using Worker = detail::PoolWorker;

    explicit ThreadPoolCore(ThreadPoolSettings settings) noexcept;
    Status start_crew();
    Status refuse_forked() const;
    bool is_forked() const noexcept;
    Status refusal() const;
    void work(const std::shared_ptr<Crew>& crew) noexcept;
    void work_in_runtime(const std::shared_ptr<Crew>& crew, Worker& worker) noexcept;
    Ref<Error> boot() noexcept;
    void boot_failed(const Ref<Error>& error) noexcept;
    void serve_plain(Crew& crew, Worker& worker) noexcept;
    void serve_coroutines(Crew& crew, Worker& worker) noexcept;
    void start_task(Ref<ThreadTask> task) noexcept;
    Ref<ThreadTask> take(Crew& crew, Worker& worker) noexcept;
    void ended(ThreadTask& task, Ref<Error> error) noexcept;
    void cancel_task(ThreadTask& task) noexcept;
    void stop_task(ThreadTask& task) noexcept;
    void close_now(Lock& lock, Error* cause) noexcept;
    void reject_queued(Lock& lock, Crew& crew, Error* cause) noexcept;
    void retire(Crew& crew) noexcept;
    void leave(Crew& crew) noexcept;

    const ThreadPoolSettings settings_;
    const std::uint32_t fork_generation_;
    mutable std::mutex mutex_;
    std::atomic<std::size_t> running_ = 0;
    std::atomic<std::uint64_t> completed_ = 0;
    // Guarded by the mutex.
    std::vector<std::shared_ptr<Crew>> crews_;  // the last one takes new tasks
    ThreadWaiters submitters_;
    ThreadWaiters observers_;  // of ends: `reload`, `stop`
    std::size_t rotations_ = 0;
    bool is_rotating_ = false;
    bool is_closed_ = false;
};

}  // namespace trueasync
