#pragma once

/// @file trueasync/reactor/trigger.hpp
/// Wakes a loop from any thread.

#include <atomic>
#include <trueasync/event/event.hpp>
#include <trueasync/runtime/reactor.hpp>

namespace trueasync {

/// Fires on the loop's thread some time after `fire` was called on any thread.
///
/// Several calls before the loop gets to it count as one; none is lost: a call is followed by at least one firing that
/// begins after it. What happens before `fire` is visible to those who are woken.
/// Thread rule: `fire` from any thread (and from a signal handler); everything else on the loop's thread.
/// Lifetime: must outlive the last call of `fire`.
///
/// @snippet unit/reactor/trigger_test.cpp  from_a_thread
class TA_API TriggerEvent final : public Event {
public:
    static Ref<TriggerEvent> create(Reactor& reactor);

    void fire() noexcept;

    /// `Trigger(active)`.
    std::string info() const override { return Event::info(); }

protected:
    ActiveEvents* active_events() noexcept override { return &reactor_.active(); }
    void on_destroy() noexcept override;

private:
    friend class TriggerQueue;

    explicit TriggerEvent(Reactor& reactor) noexcept;

    Reactor& reactor_;
    std::atomic<bool> is_fired_ = false;  // set by any thread, cleared by the loop before it notifies
    TriggerEvent* next_fired_ = nullptr;  // owned by whoever set `is_fired_`, then by the loop
};

/// The triggers fired and not yet delivered: a stack that any thread pushes to and the loop takes whole.
class TA_API TriggerQueue {
public:
    /// True when the loop has to be woken for it.
    bool push(TriggerEvent& trigger) noexcept;
    bool empty() const noexcept { return fired_.load(std::memory_order_acquire) == nullptr && first_ == nullptr; }

    /// On the loop's thread: notifies all, first fired first. A fired trigger that nobody has started is dropped.
    void deliver() noexcept;

    /// On the loop's thread: the trigger is about to end.
    void forget(TriggerEvent& trigger) noexcept;

private:
    void collect() noexcept;

    std::atomic<TriggerEvent*> fired_ = nullptr;
    TriggerEvent* first_ = nullptr;  // taken over by the loop, in order
};

}  // namespace trueasync
