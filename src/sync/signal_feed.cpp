#include <trueasync/sync/signal_feed.hpp>

#include <algorithm>
#include <utility>

namespace trueasync {

/// Subscribes to all that is waited for. Not a part of the feed: an event may hold it a little longer.
class SignalFeed::Listener final : public Callback {
public:
    explicit Listener(SignalFeed& feed) noexcept : feed_(&feed) {}
    void call(Event& event, void* /*result*/, Error* error) override {
        if (feed_ != nullptr) {
            feed_->end(event, error);
        }
    }
    void leave() noexcept { feed_ = nullptr; }

private:
    SignalFeed* feed_;
};

SignalFeed::SignalFeed() noexcept = default;
SignalFeed::~SignalFeed() { disarm(); }

Status SignalFeed::listen(Event& event) {
    Status status = event.add_callback(*listener_);
    if (status) {
        status = event.start();
    }
    return status;
}

Status SignalFeed::arm(Reactor& reactor, int number, Event* token) {
    disarm();
    if (token != nullptr) {
        Ref<Error> error;
        if (token->replay(nullptr, nullptr, &error)) {
            on_token(error.get());
            return {};
        }
        if (token->is_closed()) {  // cut off: it ends no more
            token = nullptr;
        }
    }
    listener_ = Ref<Listener>::adopt(new Listener(*this));
    signal_ = SignalEvent::create(reactor, number);
    signal_->set_hidden(true);
    Status status = listen(*signal_);
    if (status && token != nullptr) {
        token_ = Ref<Event>(token);
        status = token->add_callback(*listener_);
        if (token->type() == EventType::Timer) {
            const auto& timer = static_cast<TimerEvent&>(*token);
            const Duration left = timer.is_in_loop() ? timer.deadline() - reactor.now() : timer.delay();
            limit_ = TimerEvent::create(reactor, std::max(left, Duration::zero()));
            limit_->set_hidden(true);
            status = status ? listen(*limit_) : std::move(status);
        } else if (status && !token->is_passive()) {
            status = token->start();
        }
    }
    if (!status) {
        disarm();
    }
    return status;
}

void SignalFeed::disarm() noexcept {
    const Ref<Listener> listener = std::exchange(listener_, {});
    if (listener == nullptr) {
        return;
    }
    listener->leave();
    const Ref<SignalEvent> signal = std::exchange(signal_, {});
    const Ref<Event> token = std::exchange(token_, {});
    const Ref<TimerEvent> limit = std::exchange(limit_, {});
    signal->del_callback(*listener);
    signal->close();
    if (limit != nullptr) {
        limit->del_callback(*listener);
        limit->close();
    }
    if (token != nullptr) {
        token->del_callback(*listener);
        if (limit == nullptr && !token->is_passive() && token->is_in_loop()) {
            token->stop().ignore();
        }
    }
}

void SignalFeed::set_wanted(bool is_wanted) noexcept {
    if (signal_ != nullptr) {
        signal_->set_hidden(!is_wanted);
    }
}

void SignalFeed::end(Event& event, Error* error) noexcept {
    if (&event == signal_.get()) {
        const int number = signal_->number();
        disarm();
        on_signal(number);
        return;
    }
    if (&event == limit_.get()) {
        if (token_->is_closed()) {
            return;  // called off
        }
        void* value = nullptr;
        if (token_->notify_handler() != nullptr) {  // says what the token would have said
            token_->notify_handler()(*token_, value, error);
        }
    } else {
        event.mark_exception_handled();
    }
    const Ref<Error> failure(error);
    disarm();
    on_token(failure.get());
}

}  // namespace trueasync
