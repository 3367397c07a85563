#pragma once

/// @file trueasync/thread/remote_future.hpp
/// A future whose value comes from another thread.

#include <atomic>
#include <optional>
#include <trueasync/reactor/loop_return.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync {

/// An error that another thread may have: itself when nobody else holds any of it, else a copy. What only a front door understands is
/// lost in a copy, a C++ exception is not.
TA_API Ref<Error> portable_error(Ref<Error> error);

/// What the two ends of a remote future share: whether the outcome was given, and the way home for it. The typed layer keeps the outcome.
///
/// Thread rule: counts, `claim`, `settle` and `is_wanted` from any thread; the rest on the thread of the future's runtime.
/// Lifetime: counted by both ends, and by the loop as long as it expects the outcome.
class TA_API RemoteState : public ReturnItem {
public:
    void add_ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    /// Nobody has given the outcome yet, and somebody may still want it.
    bool is_pending() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::Pending; }
    /// False once the future was cancelled, dropped, or its loop has closed.
    bool is_wanted() const noexcept { return phase_.load(std::memory_order_acquire) != Phase::Unwanted; }

    /// The right to give the outcome: true once, and only while it is wanted. `settle` must follow.
    [[nodiscard]] bool claim() noexcept;
    /// The outcome is there, or `error` is it: sends it home. The error must be `portable_error`.
    void settle(Ref<Error> error) noexcept;
    /// Nobody is left who could give it: the future stays pending, and keeps nothing alive.
    void break_off() noexcept;

    // The future's end. All on its thread.

    /// Announces the outcome to the loop of `reactor`; `future` is where it goes. Refused once the reactor has closed.
    [[nodiscard]] Status connect(Reactor& reactor, FutureEvent& future);
    /// The future was completed by other means, or goes. `is_cancelled`: the work for it is to end too.
    void disconnect(bool is_cancelled) noexcept;
    /// Somebody subscribes to the future or nobody does any more: whether the loop waits for the outcome.
    void set_watched(bool is_watched) noexcept;
    /// A chain waits for the future, which stays for it until the outcome is there, or nobody is left who could give it.
    void keep_future() noexcept { kept_ = Ref<FutureEvent>(future_); }

protected:
    RemoteState() = default;
    ~RemoteState() override = default;

    /// Puts the outcome into the future, when it is no error. Its thread.
    virtual void deliver(FutureEvent& future) noexcept = 0;
    /// The future was cancelled, or those who waited for it have left: `disconnect` and `set_watched` come here. Its thread.
    virtual void abandon() noexcept {}
    /// Whether the future is cancelled when the last of those who wait for it leaves.
    virtual bool needs_watchers() const noexcept { return false; }

    FutureEvent* future() const noexcept { return future_; }
    /// Takes back what nobody will send: true when the outcome was still open.
    bool withdraw() noexcept;

private:
    enum class Phase : std::uint8_t { Pending, Claimed, Unwanted };

    void done() noexcept override;
    void detach() noexcept override;
    void drop() noexcept override { release(); }
    bool recall() noexcept override { return withdraw(); }
    bool is_torn() const noexcept override { return is_lost() && phase_.load() == Phase::Claimed; }
    void count(bool is_counted) noexcept;

    std::atomic<std::uint32_t> references_ = 1;
    std::atomic<Phase> phase_ = Phase::Pending;
    bool is_broken_ = false;         // by whoever has claimed, as the error
    bool is_counted_ = false;        // keeps the loop alive
    FutureEvent* future_ = nullptr;  // not held: it holds this
    Ref<FutureEvent> kept_;          // the same, for a chain
    Reactor* reactor_ = nullptr;
    Ref<Error> error_;
};

/// The future on the creator's side: like any other, but cancelling it reaches the other thread.
///
/// Keeps its runtime from calling a deadlock as long as somebody waits for it and the outcome may still come.
/// Thread rule: its thread only; the other end is the `RemoteState`.
template <typename T>
class RemoteFutureOf final : public FutureOf<T> {
public:
    /// `state` is to be connected by whoever makes this.
    explicit RemoteFutureOf(Ref<RemoteState> state, PlaceNote created_at = {}) noexcept
        : FutureOf<T>(std::move(created_at)), state_(std::move(state)) {
        this->use_own_subscription();
        this->set_notify_handler([](Event& event, void*& /*result*/, Error*& /*error*/) {
            auto& self = static_cast<RemoteFutureOf&>(event);
            self.state_->disconnect(true);
            return Event::Notify::Continue;
        });
    }
    ~RemoteFutureOf() override { state_->disconnect(false); }

    RemoteState& state() const noexcept { return *state_; }

    [[nodiscard]] Status add_callback(Callback& callback) override {
        Status status = FutureOf<T>::add_callback(callback);
        state_->set_watched(this->callback_count() != 0);
        return status;
    }
    bool del_callback(Callback& callback) noexcept override {
        const bool was_there = FutureOf<T>::del_callback(callback);
        if (was_there && this->callback_count() == 0) {
            state_->set_watched(false);
        }
        return was_there;
    }

protected:
    void on_chained() noexcept override { state_->keep_future(); }

private:
    const Ref<RemoteState> state_;
};

/// The outcome of a promise that is kept by hand.
template <typename T>
class RemoteValue final : public RemoteState {
public:
    /// Any thread. False when it is too late: completed already, or nobody wants it.
    [[nodiscard]] bool complete(T value) {
        if (!claim()) {
            return false;
        }
        value_.emplace(std::move(value));
        settle({});
        return true;
    }
    [[nodiscard]] bool fail(Ref<Error> error) {
        if (!claim()) {
            return false;
        }
        settle(portable_error(std::move(error)));
        return true;
    }

private:
    void deliver(FutureEvent& future) noexcept override {
        static_cast<FutureOf<T>&>(future).complete(std::move(*value_)).ignore();
    }

    std::optional<T> value_;
};

}  // namespace trueasync
