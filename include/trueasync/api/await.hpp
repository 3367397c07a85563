#pragma once

/// @file trueasync/api/await.hpp
/// Suspending: for a result, an event, a time, or just for the others.

#include <source_location>
#include <trueasync/api/handle.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/runtime/wait.hpp>

namespace trueasync {

/// A time limit as an event: fires once, with the error `Timeout`. Begins to count when somebody waits with it.
class TA_API Timeout {
public:
    explicit Timeout(Ref<TimerEvent> timer) noexcept : timer_(std::move(timer)) {}
    Event& event() const noexcept { return *timer_; }

private:
    Ref<TimerEvent> timer_;
};

/// Makes a time limit, to be given to `await`. Never suspends. Throws `AsyncError` outside `run`.
template <typename Rep, typename Period>
Timeout timeout(std::chrono::duration<Rep, Period> limit);

/// The limits a wait may have: none, a deadline, a `Timeout`, or any event as a token, whose firing cancels the wait.
class Limit : public WaitLimit {
public:
    using WaitLimit::WaitLimit;
    Limit(const WaitLimit& limit) noexcept : WaitLimit(limit) {}
    template <typename Rep, typename Period>
    Limit(std::chrono::duration<Rep, Period> delay) noexcept : WaitLimit(Deadline::after(delay)) {}
    Limit(const Timeout& timeout) noexcept : WaitLimit(timeout.event(), WakeRole::Timeout) {}
    Limit(Event& token) noexcept : WaitLimit(token, WakeRole::Cancel) {}
    template <typename T>
    Limit(const Handle<T>& token) noexcept : Limit(static_cast<Event&>(token.coroutine())) {}
};

/// Waits until `event` fires. May suspend. Throws the event's error, `Cancellation`, `TimeoutError` when the limit came first, and
/// `AsyncError` for wrong use (outside a coroutine, for oneself, for a closed event).
/// Cancel safety: nothing is lost; the event goes on for the others.
TA_INLINE void await(
    Event& event, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    detail::check(wait_for(event, limit, where));
}

template <typename E>
TA_INLINE void await(
    const Ref<E>& event, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    await(static_cast<Event&>(*event), limit, where);
}

TA_INLINE void await(
    const Timeout& timeout, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    await(timeout.event(), limit, where);
}

namespace detail {

/// What a coroutine that ended well has returned: a copy, or itself where there are no copies.
template <typename T>
TA_INLINE T take_value(TypedCoroutine<T>& coroutine) {
    coroutine.mark_result_used();
    if constexpr (std::is_reference_v<T>) {
        return static_cast<T>(*coroutine.value());
    } else if constexpr (!std::is_void_v<T>) {
        if constexpr (std::is_copy_constructible_v<T>) {
            return coroutine.value();
        } else {
            return std::move(coroutine.value());
        }
    }
}

}  // namespace detail

/// Waits until a coroutine has ended and returns its result, or throws what it threw. May suspend; does not when it has ended
/// already. Everyone who asks gets the result; one that can only be moved goes to whoever asks first.
/// Cancel safety: cancelling the waiter does not cancel the coroutine.
template <typename T>
TA_INLINE T
await(const Handle<T>& handle, const Limit& limit = {}, std::source_location where = std::source_location::current()) {
    detail::TypedCoroutine<T>& coroutine = handle.coroutine();
    if (!coroutine.is_finished()) {
        detail::check(TA_LIKELY(limit.is_none()) ? join(coroutine, where) : detail::join_long(coroutine, limit, where));
        const auto held = Ref<detail::TypedCoroutine<T>>::adopt(&coroutine);  // the handle may be gone after a wait
        return detail::take_value(coroutine);
    }
    if (TA_UNLIKELY(coroutine.error() != nullptr)) {
        coroutine.mark_exception_caught();
        detail::throw_error(Ref<Error>(coroutine.error()));
    }
    return detail::take_value(coroutine);
}

/// Lets everybody else who is ready run first. May suspend. Throws `Cancellation`.
TA_INLINE void suspend(std::source_location where = std::source_location::current()) {
    detail::check(Scheduler::suspend(where));
}

/// Suspends for at least `duration`; never wakes early. Throws `Cancellation`.
template <typename Rep, typename Period>
void sleep_for(
    std::chrono::duration<Rep, Period> duration, std::source_location where = std::source_location::current()
) {
    detail::check(trueasync::sleep_until(Deadline::after(duration), where));
}

/// Runs `function` while cancellation of this coroutine waits, then delivers what came meanwhile. May suspend inside. A shutdown and
/// a deadlock do not wait: nothing else could then end a coroutine that waits for ever in here.
template <typename F>
std::invoke_result_t<F&> protect(F&& function) {
    ProtectGuard guard;
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
        function();
        detail::check(guard.leave());
    } else {
        std::invoke_result_t<F&> result = function();
        detail::check(guard.leave());
        return std::forward<std::invoke_result_t<F&>>(result);
    }
}

/// The running coroutine. Throws `AsyncError` (`NotInCoroutine`) outside.
TA_API Coroutine& current();

namespace detail {

TA_API Timeout make_timeout(Duration limit);

}  // namespace detail

template <typename Rep, typename Period>
Timeout timeout(std::chrono::duration<Rep, Period> limit) {
    return detail::make_timeout(Deadline::saturate(limit));
}

}  // namespace trueasync
