#include <trueasync/reactor/timer.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Timer, sizeof(TimerEvent));

std::string milliseconds(Duration duration) {
    const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
    if (whole == duration) {
        return std::to_string(whole.count()) + "ms";
    }
    return std::to_string(std::chrono::ceil<std::chrono::microseconds>(duration).count()) + "us";
}

}  // namespace

TimerEvent::TimerEvent(Reactor& reactor, Duration delay, Duration period) noexcept
    : ReactorEvent(reactor, EventType::Timer, period > Duration::zero() ? Firing::Repeating : Firing::OneShot),
      delay_(delay),
      period_(period) {}

Ref<TimerEvent> TimerEvent::create(Reactor& reactor, Duration delay, Duration period) {
    return Ref<TimerEvent>::adopt(new TimerEvent(reactor, delay, period));
}

Status TimerEvent::enter_loop() { return reactor()->arm(*this, Deadline::after(delay_).resolve(reactor()->now())); }

void TimerEvent::leave_loop() noexcept { reactor()->disarm(*this); }

Ref<TimerEvent> TimerEvent::create_limit(Reactor& reactor, Duration delay) {
    Ref<TimerEvent> timer = create(reactor, delay);
    timer->set_notify_handler([](Event& event, void*& /*result*/, Error*& error) {
        static thread_local Ref<Error> fired;  // lives until the callbacks have taken their references
        const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(static_cast<TimerEvent&>(event).delay());
        fired = Error::make(
            ErrorCode::Timeout, "Timeout occurred after " + std::to_string(limit_ms.count()) + " milliseconds"
        );
        error = fired.get();
        return Event::Notify::Continue;
    });
    return timer;
}

Status TimerEvent::rearm(Duration delay) {
    if (is_closed()) {
        return reactor() == nullptr
                   ? refuse_ended()
                   : Status::failure(ErrorCode::EventClosed, "cannot arm a closed timer again: " + info());
    }
    if (!is_periodic() && state() == EventState::Fired) {
        return Status::failure(ErrorCode::IllegalState, "cannot arm a timer again that is firing: " + info());
    }
    delay_ = delay;
    return is_in_loop() ? enter_loop() : Status();
}

void TimerEvent::on_deadline() noexcept {
    if (is_periodic()) {
        // From the deadline, not from now: periods do not drift. A loop that was busy for long fires once for all missed.
        Instant next = Deadline::after(period_).resolve(deadline());
        if (const Instant now = reactor()->now(); next <= now) {
            next += (now - next) / period_ * period_ + period_;
        }
        reactor()->arm(*this, next).ignore();  // its place in the heap is still allocated
    }
    has_fired_ = true;
    notify(nullptr, nullptr).ignore();
}

bool TimerEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    if (!has_fired_ || !is_closed() || notify_handler() == nullptr) {
        return false;
    }
    void* value = nullptr;
    Error* failure = nullptr;
    notify_handler()(*this, value, failure);
    return hand_out(value, failure, callback, result, error);
}

std::string TimerEvent::info() const {
    return "Timer(timeout=" + milliseconds(delay_) + (is_periodic() ? ", every " + milliseconds(period_) : ", once") +
           ")";
}

}  // namespace trueasync
