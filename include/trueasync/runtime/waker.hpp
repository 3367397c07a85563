#pragma once

/// @file trueasync/runtime/waker.hpp
/// What a suspended coroutine waits for.

#include <cstddef>
#include <cstdint>
#include <trueasync/event/event.hpp>

namespace trueasync {

class Coroutine;

/// Where a coroutine stands with its wait.
enum class WakerState : std::uint8_t {
    NoStatus,  ///< not waiting: running, or not yet queued
    Waiting,   ///< suspended until an event fires
    Queued,    ///< ready, in the run queue
    Ignored,   ///< in the run queue, but its turn is skipped: it ended before it started
    Result,    ///< woken; what fired can be read until the wait is left
};

/// What it means for the wait when an event fires.
enum class WakeRole : std::uint8_t {
    Wake,     ///< it is what was waited for
    Timeout,  ///< the wait has lasted too long
    Cancel,   ///< a token: the wait, not the coroutine, is cancelled
};

/// The subscription of one coroutine to one event, and afterwards what the event said.
class TA_API WakeCallback final : public Callback {
public:
    /// `is_inline`: lies inside a coroutine or on a stack, which frees it.
    WakeCallback(Coroutine& coroutine, bool is_inline) noexcept : coroutine_(&coroutine), is_inline_(is_inline) {}

    void call(Event& event, void* result, Error* error) override;
    void dispose(Event* event) noexcept override;

    Event* event() const noexcept { return event_.get(); }
    WakeRole role() const noexcept { return role_; }
    bool has_fired() const noexcept { return has_fired_; }
    void* result() const noexcept { return result_; }
    Error* error() const noexcept { return error_.get(); }

    /// Gives up the waker's reference; for subscriptions that were allocated.
    struct Free {
        void operator()(WakeCallback* callback) const noexcept { callback->release(); }
    };

private:
    friend class Waker;
    void destroy() noexcept override;

    Coroutine* coroutine_;
    Ref<Event> event_;
    void* result_ = nullptr;
    Ref<Error> error_;
    WakeRole role_ = WakeRole::Wake;
    bool has_fired_ = false;
    bool is_subscribed_ = false;
    bool is_started_ = false;
    bool is_inline_;
    std::uint16_t index_ = 0;
};

/// All subscriptions of one wait. Lies inside its coroutine; the first subscription allocates nothing.
///
/// Prepare with `subscribe`, then let the scheduler suspend: only then events are started, so nothing counts or listens
/// before everything is in place. `leave` undoes whatever was done, from any state; it is called by the guard of the
/// wait (see wait.hpp) on every way out.
class TA_API Waker {
public:
    explicit Waker(Coroutine& coroutine) noexcept : first_(coroutine, true) {}

    /// Adds an event to the wait. A completed event with a stored result fires at once; a closed one without gives a
    /// warning and the error `EventClosed`.
    [[nodiscard]] Status subscribe(Event& event, WakeRole role = WakeRole::Wake);

    /// Starts the events that need it. Stops early, successfully, when one fires while being started.
    [[nodiscard]] Status start_events();

    /// Stops and unsubscribes everything and forgets the results.
    void leave() noexcept;

    /// The event that fired first; null when none has.
    const WakeCallback* fired() const noexcept { return fired_count_ == 0 ? nullptr : &at(first_fired_); }
    bool has_fired() const noexcept { return fired_count_ != 0; }

    std::size_t size() const noexcept { return count_; }
    const WakeCallback& at(std::size_t index) const noexcept {
        return index == 0 ? first_ : const_cast<Waker*>(this)->further(index);
    }

private:
    friend class WakeCallback;

    WakeCallback& at(std::size_t index) noexcept { return index == 0 ? first_ : further(index); }
    WakeCallback& further(std::size_t index) noexcept;
    [[nodiscard]] Status subscribe_closed(WakeCallback& callback, Event& event);
    void leave_one(WakeCallback& callback) noexcept;

    WakeCallback first_;  // the others lie with what few coroutines have
    std::uint16_t count_ = 0;
    std::uint16_t fired_count_ = 0;
    std::uint16_t first_fired_ = 0;
};

}  // namespace trueasync
