#pragma once

/// @file trueasync/reactor/timer.hpp
/// One-shot and repeating timers on the reactor's clock.

#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

/// Fires once after a delay, or again after each period.
///
/// The delay begins to count with `start`, which the scheduler calls when a waiter suspends. Never early.
/// Thread rule: the thread of its reactor.
/// Lifetime: may be dropped while armed, and may outlive its reactor (see `ReactorEvent`).
/// Cancel rule: a waiter that is cancelled leaves the timer armed for the others.
///
/// @snippet unit/reactor/timer_test.cpp  await_timer
class TA_API TimerEvent final : public ReactorEvent, private TimerNode {
public:
    /// A period of zero means once.
    static Ref<TimerEvent> create(Reactor& reactor, Duration delay, Duration period = Duration::zero());

    /// One that fails when it fires, with `Timeout occurred after 10 milliseconds`: a limit for waits.
    static Ref<TimerEvent> create_limit(Reactor& reactor, Duration delay);

    /// Starts counting anew from now, also while armed. Refused when closed: a one-shot timer that has fired is not used again.
    [[nodiscard]] Status rearm(Duration delay);

    Duration delay() const noexcept { return delay_; }
    bool is_periodic() const noexcept { return period_ > Duration::zero(); }
    Instant deadline() const noexcept { return TimerNode::deadline(); }

    /// A limit that has passed fires again for who comes late, since its notify handler can say what happened (see `timeout`). A
    /// plain timer that has fired cannot.
    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Timer(timeout=10ms, once)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    bool fires_again() const noexcept override { return is_armed(); }  // a notify handler may have prolonged it

private:
    TimerEvent(Reactor& reactor, Duration delay, Duration period) noexcept;
    void on_deadline() noexcept override;

    Duration delay_;
    Duration period_;
    bool has_fired_ = false;
};

}  // namespace trueasync
