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
    WakeCallback(Coroutine& coroutine, bool is_inline) noexcept
        : Callback(WakeTag{}), is_inline_(is_inline), coroutine_(&coroutine) {}

    void call(Event& event, void* result, Error* error) override;
    void dispose(Event* event) noexcept override;

    Event* event() const noexcept { return event_.get(); }
    WakeRole role() const noexcept { return role_; }
    bool has_fired() const noexcept { return has_fired_; }
    /// What the event gave; for a coroutine, where its result lies.
    void* result() const noexcept;
    Error* error() const noexcept { return error_.get(); }

    /// Gives up the waker's reference; for subscriptions that were allocated.
    struct Free {
        void operator()(WakeCallback* callback) const noexcept { callback->release(); }
    };

private:
    friend class Scheduler;
    friend class Waker;
    void destroy() noexcept override;

    // The small ones first: they fit behind the base class.
    WakeRole role_ = WakeRole::Wake;
    bool has_fired_ = false;
    bool is_subscribed_ = false;
    bool is_started_ = false;
    bool is_inline_;
    std::uint16_t index_ = 0;
    Coroutine* coroutine_;
    Ref<Event> event_;
    void* result_ = nullptr;
    Ref<Error> error_;
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

    /// The common case of `subscribe`, inlined: a first event that is simple. False: use `subscribe`.
    TA_INLINE bool subscribe_simple(Event& event) noexcept {
        if (TA_UNLIKELY(count_ != 0 || !event.is_simple())) {
            return false;
        }
        event.flags_ |= kTaken;
        event.callbacks_.add(first_);
        event.add_ref();
        first_.event_ = Ref<Event>::adopt(&event);
        first_.role_ = WakeRole::Wake;
        first_.is_subscribed_ = true;
        first_.index_ = 0;
        count_ = 1;
        return true;
    }

    /// True when all that is waited for needs no start and has not fired: nothing is left to do but park.
    TA_INLINE bool is_settled() const noexcept {
        return count_ == 1 && fired_count_ == 0 && first_.is_subscribed_ && first_.event_->is_passive();
    }

    /// The common case of `leave`, inlined: one simple event, which has fired without an error. False: use the long way.
    TA_INLINE bool leave_simple() noexcept {
        if (TA_UNLIKELY(count_ != 1 || fired_count_ != 1 || first_.is_started_ || first_.role_ != WakeRole::Wake ||
                        first_.error_ != nullptr)) {
            return false;
        }
        if (first_.is_subscribed_) {
            first_.is_subscribed_ = false;
            first_.event_->callbacks_.remove(first_, first_.event_.get());
        }
        first_.has_fired_ = false;
        first_.event_.reset();
        count_ = 0;
        fired_count_ = 0;
        return true;
    }

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
    friend class Scheduler;
    friend class WakeCallback;

    WakeCallback& at(std::size_t index) noexcept { return index == 0 ? first_ : further(index); }
    WakeCallback& further(std::size_t index) noexcept;
    [[nodiscard]] Status subscribe_closed(WakeCallback& callback, Event& event);
    void leave_one(WakeCallback& callback) noexcept;

    static constexpr std::uint32_t kTaken =
        static_cast<std::uint32_t>(EventFlag::ResultUsed) | static_cast<std::uint32_t>(EventFlag::ExceptionCaught);

    WakeCallback first_;  // the others lie with what few coroutines have
    std::uint16_t count_ = 0;
    std::uint16_t fired_count_ = 0;
    std::uint16_t first_fired_ = 0;
};

}  // namespace trueasync
