#include <trueasync/thread/thread_waiters.hpp>

#include <condition_variable>
#include <thread>
#include <trueasync/reactor/loop_return.hpp>

#include "reactor/fork_generation.hpp"

namespace trueasync {

namespace {

/// What a dump shows.
class ParkedWait final : public DirectWait {
public:
    ParkedWait(const char* what, std::source_location where) noexcept : DirectWait(&describe, where), what_(what) {}

private:
    static std::string describe(const WaitGuard& guard) { return static_cast<const ParkedWait&>(guard).what_; }

    const char* what_;
};

}  // namespace

/// Woken through the loop of its thread. Lives until it has come back from there, which may be after the coroutine has left.
class ThreadWaiters::CoroutineWaiter final : public ThreadWaiter, public ReturnItem {
public:
    CoroutineWaiter(DirectWait& wait, std::mutex& mutex, std::shared_ptr<const void> owner) noexcept
        : wait_(&wait), mutex_(mutex), owner_(std::move(owner)) {}

    bool is_in_line() const noexcept { return ListNode<ThreadWaiter>::is_linked(); }

    /// The coroutine goes on. Under the mutex.
    void leave() noexcept {
        if (is_in_line()) {
            ListNode<ThreadWaiter>::unlink();
            forget();
        } else if (!is_back_) {
            wait_ = nullptr;  // on its way back: `done` or `drop` ends it
            return;
        }
        delete this;
    }

    void done() noexcept override {
        is_back_ = true;
        if (wait_ == nullptr) {
            delete this;
            return;
        }
        wait_->wake();
    }
    void detach() noexcept override { wait_ = nullptr; }
    void drop() noexcept override { delete this; }
    bool recall() noexcept override {
        const std::lock_guard lock(mutex_);
        const bool was_in_line = is_in_line();
        ListNode<ThreadWaiter>::unlink();
        return was_in_line;
    }

private:
    void wake() noexcept override {
        if (thread_ != std::this_thread::get_id()) {
            post();
            return;
        }
        forget();
        done();
    }

    const std::thread::id thread_ = std::this_thread::get_id();
    DirectWait* wait_;  // its own thread only, as the next
    bool is_back_ = false;
    std::mutex& mutex_;
    const std::shared_ptr<const void> owner_;
};

class ThreadWaiters::PlainWaiter final : public ThreadWaiter {
public:
    std::condition_variable woken;
    bool is_woken = false;

private:
    void wake() noexcept override {
        is_woken = true;
        woken.notify_one();
    }
};

bool ThreadWaiters::wake_one() noexcept {
    ThreadWaiter* first = list_.pop_front();
    if (first == nullptr) {
        return false;
    }
    first->wake();
    return true;
}

void ThreadWaiters::wake_all() noexcept {
    while (wake_one()) {}
}

void ThreadWaiters::add(ThreadWaiter& waiter, bool is_at_head) noexcept {
    is_at_head ? list_.push_front(waiter) : list_.push_back(waiter);
}

WaitResult ThreadWaiters::wait(
    std::unique_lock<std::mutex>& lock, std::shared_ptr<const void> owner, const Wait& wait
) noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        return wait_plain(lock, wait);
    }
    ParkedWait parked(wait.what, wait.where);
    if (parked.result() != WaitResult::Ready) {
        return parked.result();
    }
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): out of memory is the end
    auto* waiter = new CoroutineWaiter(parked, *lock.mutex(), std::move(owner));
    if (Status status = waiter->expect(scheduler->reactor()); !status) {
        waiter->drop();
        return Scheduler::refuse(status.take());
    }
    add(*waiter, wait.is_at_head);
    lock.unlock();
    ActiveEvents& active = scheduler->reactor().active();
    ++active.visible;
    const std::uint32_t generation = detail::fork_generation();
    const WaitResult result = parked.park(wait.limit);
    --active.visible;
    if (generation != detail::fork_generation()) {
        // The child of a fork: the threads that would have come do not exist, and one of them may have had the lock.
        return Scheduler::refuse(
            ErrorCode::ThreadFailed, std::string("the process forked during a wait for other threads: ") + wait.what
        );
    }
    lock.lock();
    const bool was_woken = !waiter->is_in_line();
    waiter->leave();
    if (result != WaitResult::Ready && was_woken) {
        wake_one();
    }
    return result;
}

WaitResult ThreadWaiters::wait_plain(std::unique_lock<std::mutex>& lock, const Wait& wait) noexcept {
    PlainWaiter waiter;
    add(waiter, wait.is_at_head);
    const auto is_woken = [&waiter] { return waiter.is_woken; };
    if (wait.limit.deadline().is_never()) {
        waiter.woken.wait(lock, is_woken);
        return WaitResult::Ready;
    }
    const auto end = wait.limit.deadline().resolve(std::chrono::steady_clock::now());
    if (waiter.woken.wait_until(lock, end, is_woken)) {
        return WaitResult::Ready;
    }
    waiter.unlink();
    Scheduler::take_wait_error();
    return WaitResult::TimedOut;
}

}  // namespace trueasync
