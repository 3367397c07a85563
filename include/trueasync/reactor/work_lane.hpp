#pragma once

/// @file trueasync/reactor/work_lane.hpp
/// Threads for what can only be done by blocking one.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <trueasync/base/deadline.hpp>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/reactor/loop_return.hpp>

namespace trueasync {

class WorkLane;

/// A piece of work in a lane's queue; part of whatever it works for, so that a lane allocates nothing.
class TA_API LaneItem : private ListNode<LaneItem> {
public:
    enum class State : std::uint8_t { Idle, Queued, Running };

    LaneItem() = default;
    LaneItem(const LaneItem&) = delete;
    LaneItem& operator=(const LaneItem&) = delete;

    /// On a thread of the lane, which does not touch the item afterwards.
    virtual void execute() noexcept = 0;

    /// As of a moment ago. `Running` stays when it has run.
    State state() const noexcept { return state_.load(std::memory_order_relaxed); }

protected:
    virtual ~LaneItem() = default;

private:
    friend class WorkItem;
    friend class WorkLane;
    friend class IntrusiveList<LaneItem, LaneItem>;

    WorkLane* lane_ = nullptr;                // the last one it was submitted to
    std::atomic<State> state_ = State::Idle;  // written under the lane's mutex
};

/// Work for a lane whose end is told to a loop: `run` on a thread of the lane, then `done` on the loop's thread.
///
/// Lifetime: from `submit` to `done` or `drop`, or to a successful `cancel`. Who wanted the result and leaves earlier tries
/// `cancel`; if that fails the work is being done, and the item has to own all that `run` needs.
/// After a fork, in the child, `done` comes with `is_lost`: it was not run, or with `is_torn` a thread of the parent was in the middle of
/// `run`. Then what `run` writes to must neither be read nor freed.
///
/// @snippet unit/reactor/work_lane_test.cpp  work_item
class TA_API WorkItem : public LaneItem, public ReturnItem {
public:
    /// The work, on a thread of the lane. Signals are blocked there.
    virtual void run() noexcept = 0;

    bool is_torn() const noexcept final { return is_lost() && state() == State::Running; }

protected:
    ~WorkItem() override = default;

private:
    friend class WorkLane;

    void execute() noexcept final {
        run();
        post();
    }
    bool recall() noexcept final;
};

struct WorkLaneSettings {
    std::string name;                          ///< part of the threads' names and of messages
    std::size_t max_threads = 1;               ///< at least one
    std::size_t max_queued = 16384;            ///< what waits for a thread beyond this is refused
    Duration idle = std::chrono::seconds(10);  ///< how long a thread without work stays
};

struct WorkLaneStats {
    std::size_t threads = 0;
    std::size_t idle = 0;
    std::size_t queued = 0;
    std::size_t running = 0;
    std::uint64_t completed = 0;
};

/// A named set of threads with a queue. Threads start when there is work for them, up to a maximum, and end when they have
/// been idle for a while.
///
/// The three lanes of the process are separate so that slow work of one kind does not hold up another. They are never destroyed: a
/// process may exit while their threads are busy. After a fork the child's lanes are empty and start their own threads.
/// Thread rule: any thread, except where a `WorkItem` is concerned: its loop's thread.
class TA_API WorkLane {
public:
    static WorkLane& dns();   ///< name lookups, 32 threads
    static WorkLane& work();  ///< tasks, a thread per processor and at least 4
    static WorkLane& file();  ///< file operations, 16 threads

    explicit WorkLane(WorkLaneSettings settings);
    WorkLane(const WorkLane&) = delete;
    WorkLane& operator=(const WorkLane&) = delete;
    /// Waits for the threads. The queue must be empty.
    ~WorkLane();

    /// Queues work whose end is told to the loop of `reactor`. Fails with `QueueFull`; with `System` when not even one thread can be
    /// started; with `ShuttingDown` when the reactor has closed. The item is untouched then. Never blocks.
    [[nodiscard]] Status submit(Reactor& reactor, WorkItem& item);

    /// Takes work back that has not begun: neither `run` nor `done` will be called. False: too late, `done` will come.
    [[nodiscard]] bool cancel(WorkItem& item) noexcept;

    /// The same for work that has no loop.
    [[nodiscard]] Status submit(LaneItem& item);
    [[nodiscard]] bool cancel(LaneItem& item) noexcept;

    /// New limits, for what comes from now on. Threads above the maximum end when they have nothing to do.
    void set_limits(std::size_t max_threads, std::size_t max_queued);

    /// Asks threads to end that have nothing to do, and waits until all have ended. False when some were busy longer than
    /// `patience`. Work that comes later starts new ones. For programs that unload the library.
    bool stop_threads(Duration patience);

    WorkLaneStats stats() const;
    const std::string& name() const noexcept { return settings_.name; }
    std::size_t max_threads() const;

    // For fork: between the two calls nothing changes.
    void before_fork() noexcept { mutex_.lock(); }
    void after_fork(bool is_child) noexcept;

private:
    static void* thread_main(void* lane);
    void serve();
    [[nodiscard]] int start_thread() noexcept;

    WorkLaneSettings settings_;  // the name never changes; the rest is guarded by mutex_
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable ended_;
    IntrusiveList<LaneItem, LaneItem> queue_;
    WorkLaneStats stats_;
    std::size_t stopping_ = 0;  // how many wait in `stop_threads`
};

}  // namespace trueasync
