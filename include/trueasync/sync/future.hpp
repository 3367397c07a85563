#pragma once

/// @file trueasync/sync/future.hpp
/// A value that comes later, from anybody.

#include <functional>
#include <memory>
#include <trueasync/base/place.hpp>
#include <trueasync/runtime/helper.hpp>
#include <trueasync/runtime/wait.hpp>

namespace trueasync {

class FutureEvent;

/// What happens after a future, in a coroutine of its own: `map`, `catch`, `finally`. Made by a front door; keeps the future that it
/// completes.
class TA_API Continuation : public HelperBody {
public:
    /// Whether it has something to do with this outcome (`error` is null after success). If not, `pass` is called instead of `run`.
    virtual bool applies(const Error* error) const noexcept = 0;

    /// Whether an error counts as taken because this is there. Not so for `finally`, which only looks on.
    virtual bool takes_error() const noexcept { return true; }

    /// Hands the outcome of `source` on as it is. Must not suspend.
    virtual void pass(FutureEvent& source) noexcept = 0;

    /// Somebody waits for the future that it completes.
    bool must_begin() const noexcept override { return true; }

    /// The future it belongs to, from when it is due until it has run.
    FutureEvent* source() const noexcept { return source_.get(); }

private:
    friend class FutureEvent;

    Ref<FutureEvent> source_;
};

/// One completion and many readers, without the value: `FutureOf` keeps that.
///
/// Thread rule: its thread only (see `RemoteFuture` for others).
/// Lifetime: counted or of the host. What waits for it in a chain is kept by it, not the other way round.
/// Cancel rule: cancelling a waiter does nothing to the future; `cancel` rejects it for everybody.
class TA_API FutureEvent : public Event {
public:
    bool is_completed() const noexcept { return is_closed(); }
    bool is_cancelled() const noexcept { return error_ != nullptr && error_->is_cancellation(); }
    Error* error() const noexcept { return error_.get(); }
    /// Where the value lies once there is one; else null.
    virtual void* value() noexcept = 0;

    virtual Place created_at() const { return created_at_.get(); }
    /// Not known while it is pending.
    virtual Place completed_at() const { return completed_at_.get(); }

    /// Completes it with an error. Refused with `AlreadyCompleted` the second time.
    [[nodiscard]] Status fail(Ref<Error> error, PlaceNote where = {});

    /// Rejects a pending future with `cancellation` or a default one. False when it was completed already.
    virtual bool cancel(Ref<Error> cancellation = {}, PlaceNote where = {});

    /// Somebody reads it: `await`, a token, a chain. Without any of these its end is worth a warning.
    void mark_used() noexcept { mark_result_used(); }
    /// Its outcome is nobody's business: no warning.
    void ignore() noexcept {
        mark_result_used();
        mark_exception_handled();
    }

    /// Adds to the chain: `body` runs, or is passed, when this is complete; at once if it is. Continuations come in the order they
    /// were added.
    void then(std::unique_ptr<Continuation> body);

    /// Calls `visit` for each that waits for the outcome; for a host's collector.
    void each_continuation(const std::function<void(Continuation&)>& visit) const;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    std::string info() const override { return is_completed() ? "FutureState(completed)" : "FutureState(pending)"; }

protected:
    explicit FutureEvent(PlaceNote created_at) noexcept : Event(EventType::Future), created_at_(std::move(created_at)) {
        flags_ |= kSpecialTrait;
    }
    explicit FutureEvent(const std::source_location& created_at) noexcept
        : Event(EventType::Future), created_at_(created_at) {}
    ~FutureEvent() override = default;

    /// Ok while it is pending; else the error of a second completion.
    [[nodiscard]] Status open() const { return TA_LIKELY(!is_closed()) ? Status{} : refuse_second(); }
    /// A chain waits for it now, which does not hold it.
    virtual void on_chained() noexcept {}
    /// The value lies there: tells everybody.
    template <typename W>
    TA_INLINE void succeed(void* value, W&& where) noexcept {
        completed_at_.fill(std::forward<W>(where));
        if constexpr (!std::is_same_v<std::remove_cvref_t<W>, std::source_location>) {
            flags_ |= kSpecialTrait;
        }
        Scheduler::notify_once(*this, value);
    }

    /// The destructor has nothing to do but for the value. Asked after its end.
    bool is_bare() const noexcept { return (flags_ & kSpecialTrait) == 0; }

    bool has_unused_result() const noexcept override;
    Error* unhandled_error() const noexcept override { return error_.get(); }
    void report_unhandled(Error& error) noexcept override;

private:
    class ContinuationCallback;

    TA_COLD Status refuse_second() const;
    void begin(std::unique_ptr<Continuation> body) noexcept;

    Ref<Error> error_;
    PlaceNote created_at_;
    PlaceNote completed_at_;
};

/// A future with its value, of any movable type; a host's counted value is one of them.
template <typename T>
class FutureOf : public FutureEvent {
public:
    explicit FutureOf(PlaceNote created_at = {}) noexcept : FutureEvent(std::move(created_at)) {}
    explicit FutureOf(const std::source_location& created_at) noexcept : FutureEvent(created_at) {}
    ~FutureOf() override {
        if (has_value_) {
            std::destroy_at(&value_);
        }
    }

    /// Refused with `AlreadyCompleted` the second time; `value` is dropped then.
    [[nodiscard]] Status complete(T value, PlaceNote where = {}) {
        return complete_at(std::move(value), std::move(where));
    }
    /// The same without a detour over a note, whose end the compiler would have to see to.
    [[nodiscard]] TA_INLINE Status complete(T value, const std::source_location& where) {
        return complete_at(std::move(value), where);
    }

    void* value() noexcept override { return has_value_ ? &value_ : nullptr; }
    /// Once it is there.
    T& get() noexcept { return value_; }

    /// Calls `visit(T&)` if there is a value; for a host's collector.
    template <typename Visit>
    void each_value(Visit&& visit) {
        if (has_value_) {
            visit(value_);
        }
    }

private:
    template <typename W>
    TA_INLINE Status complete_at(T&& value, W&& where) {
        if (Status status = open(); TA_UNLIKELY(!status)) {
            return status;
        }
        new (&value_) T(std::move(value));
        has_value_ = true;
        succeed(&value_, std::forward<W>(where));
        return {};
    }

    bool has_value_ = false;
    union {
        T value_;
    };
};

/// One that nobody derives from, and that is quick to end.
template <typename T>
class PlainFuture final : public FutureOf<T> {
public:
    using FutureOf<T>::FutureOf;

protected:
    void end_easily() noexcept override {
        if constexpr (std::is_trivially_destructible_v<T>) {
            if (TA_LIKELY(this->is_bare())) {
                Event::operator delete(this, sizeof(*this));
                return;
            }
        }
        Event::end_easily();
    }
};

/// Waits for a future: `wait_for`, and notes that it is used and that an error was taken. May suspend.
TA_INLINE WaitResult wait_future(
    FutureEvent& future, const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
) noexcept {
    future.mark_used();
    const WaitResult result = wait_for(future, limit, where);
    if (TA_UNLIKELY(result == WaitResult::Failed)) {
        future.mark_exception_handled();
    }
    return result;
}

namespace detail {

/// `join_future` when the simple way is barred (`self` is null) or did not end simply.
TA_API TA_COLD WaitResult
join_future_slow(FutureEvent& future, const WaitLimit& limit, Coroutine* self, std::source_location where) noexcept;

/// The same for one whose reference the caller has given away, and gets back with `Ready`.
TA_API TA_COLD WaitResult join_given_future(FutureEvent& future, Coroutine* self, std::source_location where) noexcept;

}  // namespace detail

/// The same, and with `Ready` the caller gets a reference to the future, which he must release: whoever held it may have gone meanwhile.
TA_INLINE WaitResult join_future(FutureEvent& future, const WaitLimit& limit, std::source_location where) noexcept {
    Coroutine* self = limit.is_none() ? Scheduler::wait_simple<false>(future, Hold::Shared, where) : nullptr;
    return TA_LIKELY(self != nullptr && Scheduler::end_simple_join(*self))
               ? WaitResult::Ready
               : detail::join_future_slow(future, limit, self, where);
}

}  // namespace trueasync
