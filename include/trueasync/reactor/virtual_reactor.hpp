#pragma once

/// @file trueasync/reactor/virtual_reactor.hpp
/// A reactor whose clock moves only when told to: tests that never sleep.

#include <trueasync/reactor/timer_heap.hpp>
#include <trueasync/reactor/trigger.hpp>
#include <vector>

namespace trueasync {

/// Has timers and triggers. When it would have to sleep it jumps to the nearest deadline instead; with only triggers left it
/// really waits, for another thread to fire one. Has no descriptors.
class TA_API VirtualReactor : public Reactor {
public:
    VirtualReactor() : triggers_(TriggerQueue::create()) {}
    ~VirtualReactor() override { ReactorEvent::close_all(*this); }

    [[nodiscard]] Status execute(bool no_wait) override;
    Instant now() noexcept override { return now_; }
    bool is_alive() const noexcept override;
    [[nodiscard]] Status arm(TimerNode& node, Instant when) override;
    void disarm(TimerNode& node) noexcept override;
    void wake_up() noexcept override { triggers_->wake(); }
    TriggerQueue& triggers() noexcept override { return *triggers_; }
    std::vector<std::string> close() override;
    bool has_real_clock() const noexcept override { return false; }

    /// Moves the clock. What is due fires at the next turn of the loop.
    void advance(Duration duration) noexcept { now_ += duration; }

    /// With false the clock stands still when nobody moves it, and a blocking turn does nothing.
    void set_auto_advance(bool is_on) noexcept { is_auto_advancing_ = is_on; }

    std::size_t timer_count() const noexcept { return timers_.size(); }

private:
    TimerHeap timers_;
    const Ref<TriggerQueue> triggers_;
    Instant now_{std::chrono::seconds(1)};
    bool is_auto_advancing_ = true;
};

}  // namespace trueasync
