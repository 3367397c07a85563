#pragma once

/// @file trueasync/reactor/trigger.hpp
/// Wakes a loop from any thread.

#include <atomic>
#include <memory>
#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

class LoopReturns;
class TriggerQueue;

/// Fires on the loop's thread some time after `fire` was called on any thread.
///
/// Several calls before the loop gets to it count as one; none is lost: a call is followed by at least one firing that
/// begins after it. What happens before `fire` is visible to those who are woken.
/// Thread rule: `fire` from any thread and from a signal handler, without a lock; everything else on the loop's thread.
/// Lifetime: must outlive the last call of `fire`, which does nothing once the reactor has gone.
///
/// @snippet unit/reactor/trigger_test.cpp  from_a_thread
class TA_API TriggerEvent final : public ReactorEvent {
public:
    static Ref<TriggerEvent> create(Reactor& reactor);

    void fire() noexcept;

    TriggerQueue& queue() const noexcept { return *queue_; }

    /// `Trigger(active)`.
    std::string info() const override { return Event::info(); }

protected:
    void on_destroy() noexcept override;

private:
    friend class TriggerQueue;

    explicit TriggerEvent(Reactor& reactor) noexcept;
    ~TriggerEvent() override;

    const Ref<TriggerQueue> queue_;
    std::atomic<bool> is_fired_ = false;  // set by any thread, cleared by the loop before it notifies
    TriggerEvent* next_fired_ = nullptr;  // owned by whoever set `is_fired_`, then by the loop
};

/// The triggers fired and not yet delivered: a stack that any thread pushes to and the loop takes whole. Has the descriptor on
/// which the loop sleeps, and writes to it only when it does.
///
/// Thread rule: what is marked so may be called by any thread and by signal handlers. Shared by the reactor and its triggers, since a
/// trigger may be fired when the reactor has gone.
class TA_API TriggerQueue {
public:
    /// Without a descriptor when the system refuses one (`descriptor` is negative; errno says why): a loop can then not sleep on it.
    static Ref<TriggerQueue> create();
    TriggerQueue(const TriggerQueue&) = delete;
    TriggerQueue& operator=(const TriggerQueue&) = delete;

    /// Any thread.
    void add_ref() noexcept { ref_count_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (ref_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    /// Any thread. Wakes the loop if it sleeps; true when it did.
    bool push(TriggerEvent& trigger) noexcept;

    /// Any thread. Ends the sleep that the loop is in, or else the next one.
    void wake() noexcept;

    bool empty() const noexcept { return fired_.load(std::memory_order_acquire) == nullptr && first_ == nullptr; }

    /// Notifies all, first fired first; true when there was one. A fired trigger that nobody has started is dropped.
    bool deliver() noexcept;

    /// The trigger is about to end.
    void forget(TriggerEvent& trigger) noexcept;

    /// Readable after a wake-up until `drain`. Each wake-up is an edge of its own.
    int descriptor() const noexcept { return ends_[0]; }
    void drain() noexcept;

    /// Before the loop sleeps: from here on threads wake it. False: something has been fired already, do not sleep.
    [[nodiscard]] bool begin_sleep() noexcept;
    void end_sleep() noexcept { is_asleep_.store(false, std::memory_order_relaxed); }

    /// In the child of a fork: a descriptor of its own, under the same number. False when the system refuses; errno says why.
    bool renew() noexcept;
    bool is_forked() const noexcept;

    /// The way back to the loop for what is out with other threads (see `ReturnItem`). Null before the first and after the reactor
    /// has closed. Loop's thread.
    std::shared_ptr<LoopReturns>& returns() noexcept { return returns_; }

private:
    TriggerQueue() = default;
    ~TriggerQueue();

    static bool open_ends(int (&ends)[2]) noexcept;
    bool open() noexcept;
    void close() noexcept;
    void collect() noexcept;

    std::atomic<TriggerEvent*> fired_ = nullptr;
    std::atomic<bool> is_asleep_ = false;
    std::atomic<std::uint32_t> ref_count_ = 1;
    std::uint32_t fork_generation_ = 0;
    int ends_[2] = {-1, -1};         // to read from and to write to; the same one where the system has an `eventfd`
    TriggerEvent* first_ = nullptr;  // taken over by the loop, in order
    std::shared_ptr<LoopReturns> returns_;
};

}  // namespace trueasync
