#pragma once

/// @file trueasync/sync/signal_feed.hpp
/// A future that a signal completes.

#include <trueasync/reactor/signal.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync {

/// Waits for one signal, or for the end of a token, on behalf of somebody who is a part of it; see `SignalFutureOf`.
///
/// Catches from `arm` on. Keeps the program alive only while it is wanted, also as far as a timer as a token goes.
/// Thread rule: that of the reactor.
/// Lifetime: may be dropped at any time, and may outlive the runtime.
class TA_API SignalFeed {
public:
    SignalFeed(const SignalFeed&) = delete;
    SignalFeed& operator=(const SignalFeed&) = delete;

    /// Begins to wait for `number`; refused for what cannot be caught. With a token that has ended already `on_token` comes at once.
    [[nodiscard]] Status arm(Reactor& reactor, int number, Event* token = nullptr);
    void disarm() noexcept;
    bool is_armed() const noexcept { return signal_ != nullptr; }

protected:
    SignalFeed() noexcept;
    virtual ~SignalFeed();

    /// Somebody waits for it, or nobody does any more.
    void set_wanted(bool is_wanted) noexcept;

    /// The one thing it waited for has happened; it is disarmed by now. On the reactor's stack, or in the middle of somebody's turn.
    virtual void on_signal(int number) noexcept = 0;
    /// `error` is what the token failed with; null when it completed.
    virtual void on_token(Error* error) noexcept = 0;

private:
    class Listener;

    void end(Event& event, Error* error) noexcept;
    Status listen(Event& event);

    Ref<SignalEvent> signal_;
    Ref<Event> token_;
    Ref<TimerEvent> limit_;  // as long as the token, when that is a timer: the token itself is left to others to start
    Ref<Listener> listener_;
};

/// A future, of a class derived from `FutureOf`, that is completed by a signal: `complete_with(number)` of the class that derives from
/// this says how. Its end, also by dropping it or cancelling it, disarms the signal.
///
/// A token that fails makes it fail with the same error; one that completes cancels it with `Signal wait cancelled`.
///
/// @snippet unit/sync/signal_feed_test.cpp  signal_future
template <typename Future>
class SignalFutureOf : public Future, public SignalFeed {
public:
    template <typename... Arguments>
    explicit SignalFutureOf(Arguments&&... arguments) : Future(std::forward<Arguments>(arguments)...) {
        this->use_own_subscription();
    }

    [[nodiscard]] Status add_callback(Callback& callback) override {
        Status status = Future::add_callback(callback);
        set_wanted(this->callback_count() != 0);
        return status;
    }
    bool del_callback(Callback& callback) noexcept override {
        const bool was_there = Future::del_callback(callback);
        set_wanted(this->callback_count() != 0);
        return was_there;
    }
    bool cancel(Ref<Error> cancellation = {}, PlaceNote where = {}) override {
        disarm();
        return Future::cancel(std::move(cancellation), std::move(where));
    }

protected:
    virtual void complete_with(int number) noexcept = 0;

    /// The cancellation for a token that has completed.
    virtual Ref<Error> make_token_cancellation() noexcept {
        return Error::cancellation(CancelReason::UserRequest, "Signal wait cancelled");
    }

private:
    void on_signal(int number) noexcept override { complete_with(number); }
    void on_token(Error* error) noexcept override {
        this->fail(error != nullptr ? Ref<Error>(error) : make_token_cancellation()).ignore();
    }
};

}  // namespace trueasync
