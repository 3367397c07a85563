#pragma once

/// @file trueasync/thread/thread_waiters.hpp
/// A line of those who wait for another thread.

#include <memory>
#include <mutex>
#include <source_location>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/runtime/wait.hpp>

namespace trueasync {

/// One who waits: a coroutine, which alone stops, or a thread without a runtime, which blocks.
class TA_API ThreadWaiter : public ListNode<ThreadWaiter> {
public:
    ThreadWaiter() = default;
    ThreadWaiter(const ThreadWaiter&) = delete;
    ThreadWaiter& operator=(const ThreadWaiter&) = delete;

protected:
    virtual ~ThreadWaiter() = default;

private:
    friend class ThreadWaiters;

    /// Taken out of the line, under its mutex.
    virtual void wake() noexcept = 0;
};

/// Part of something that threads share, and guarded by its mutex. Being woken means "look again": others may have been faster.
///
/// Thread rule: any thread that holds the mutex.
/// Cancel rule: who was woken and leaves for another reason wakes the next.
class TA_API ThreadWaiters {
public:
    ThreadWaiters() = default;
    ThreadWaiters(const ThreadWaiters&) = delete;
    ThreadWaiters& operator=(const ThreadWaiters&) = delete;

    bool empty() const noexcept { return list_.empty(); }

    /// The first one; false when there is none.
    bool wake_one() noexcept;
    void wake_all() noexcept;

    struct Wait {
        const char* what;         ///< what dumps say is waited for; a literal
        bool is_at_head = false;  ///< had waited before, and lost
        WaitLimit limit = {};     ///< a thread without a runtime knows deadlines only
        std::source_location where = std::source_location::current();
    };

    /// Waits to be woken, without the lock meanwhile. May suspend. `owner` keeps the mutex and this line alive. A waiting coroutine keeps its
    /// runtime from calling a deadlock: another thread may do something about it. After a fork it is `Refused` in the child, and the lock is not
    /// held.
    WaitResult wait(std::unique_lock<std::mutex>& lock, std::shared_ptr<const void> owner, const Wait& wait) noexcept;

private:
    class CoroutineWaiter;
    class PlainWaiter;

    WaitResult wait_plain(std::unique_lock<std::mutex>& lock, const Wait& wait) noexcept;
    void add(ThreadWaiter& waiter, bool is_at_head) noexcept;

    IntrusiveList<ThreadWaiter, ThreadWaiter> list_;
};

}  // namespace trueasync
