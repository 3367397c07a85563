#pragma once

/// @file trueasync/runtime/waker.hpp
/// What a suspended coroutine waits for.

#include <cstddef>
#include <cstdint>
#include <new>
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

/// How a simple wait gets the reference to its event.
enum class Hold : std::uint8_t {
    Shared,  ///< it takes one of its own
    Lent,   ///< none: the event is an unfinished coroutine that was spawned; its end hands the runtime's reference over
    Given,  ///< it gets the caller's
};

/// The subscription of one coroutine to one event, and afterwards what the event said.
class TA_API WakeCallback final : public Callback {
public:
    /// `is_inline`: lies inside a coroutine or on a stack, which frees it.
    WakeCallback(Coroutine& coroutine, bool is_inline) noexcept : is_inline_(is_inline), coroutine_(&coroutine) {}

    void call(Event& event, void* result, Error* error) override;
    void dispose(Event* event) noexcept override;
    /// Not when something else has woken the coroutine before.
    bool takes_error() const noexcept override;

    Event* event() const noexcept { return event_.get(); }
    WakeRole role() const noexcept { return role_; }
    bool has_fired() const noexcept { return fired_ != Fired::No; }
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

    void prepare(WakeRole role, std::uint16_t index) noexcept {
        ref_count_ = 1;
        is_single_wake_ = false;
        role_ = role;
        index_ = index;
        fired_ = Fired::No;
    }

    /// As the first subscription of a coroutine is between waits: ready for `Waker::begin_simple`. The list then holds it unasked,
    /// since it cannot go before the wait is left.
    void rest() noexcept {
        ref_count_ = 1;
        slot_ = 0;
        is_single_wake_ = true;
        role_ = WakeRole::Wake;
        index_ = 0;
    }

    /// Ends a loan: the event is held from now on, or forgotten when it is about to go.
    void end_loan() noexcept;

    enum class Fired : std::uint8_t { No, Well, Badly };  // `Badly`: with an error

    // The small ones first: they fit behind the base class.
    WakeRole role_ = WakeRole::Wake;
    Fired fired_ = Fired::No;
    bool is_subscribed_ = false;
    bool is_lent_ = false;  // `event_` is a spawned coroutine, which cannot go before it fires: not counted
    bool is_started_ : 1 = false;
    bool is_inline_ : 1;
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
    Waker() noexcept {}
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;
    ~Waker() {}  // a wait is left before its coroutine goes: there is nothing to let go

    /// Adds an event to the wait. A completed event with a stored result fires at once; a closed one without gives a
    /// warning and the error `EventClosed`.
    [[nodiscard]] Status subscribe(Coroutine& owner, Event& event, WakeRole role = WakeRole::Wake);

    /// The common wait, inlined: one event that needs no start and that nobody else waits for.
    static TA_INLINE bool can_begin_simple(Event& event, Hold hold) noexcept {
        return (hold == Hold::Lent || event.is_simple()) && event.callbacks_.is_vacant();
    }
    TA_INLINE void begin_simple(Event& event, Hold hold) noexcept {
        event.callbacks_.put_only(first_);
        if (hold == Hold::Shared) {
            event.add_ref();
        }
        first_.role_ = WakeRole::Wake;
        first_.fired_ = WakeCallback::Fired::No;
        first_.is_subscribed_ = true;
        first_.is_lent_ = hold == Hold::Lent;
        first_.event_.set_adopted(&event);
    }

    /// After a simple wait: true when the event has fired without an error; then everything is left. Else use `leave`.
    /// Without `releases` the reference to the event goes to the caller.
    TA_INLINE bool end_simple(bool releases) noexcept {
        if (TA_UNLIKELY(first_.fired_ != WakeCallback::Fired::Well)) {
            return false;
        }
        Event* event = first_.event_.detach();
        if (releases) {
            event->release();
        }
        return true;
    }

    /// What ended a simple wait; null when nothing has.
    const WakeCallback* fired_simple() const noexcept { return first_.has_fired() ? &first_ : nullptr; }

    /// `leave` for a simple wait, and for none.
    void leave_simple() noexcept {
        leave_one(first_);
        first_.rest();
    }

    /// Starts the events that need it. Stops early, successfully, when one fires while being started.
    [[nodiscard]] Status start_events();

    /// Stops and unsubscribes everything and forgets the results.
    void leave() noexcept;

    /// The event that fired first; null when none has.
    const WakeCallback* fired() const noexcept { return has_fired() ? &at(first_fired_) : nullptr; }
    bool has_fired() const noexcept { return count_ != 0 && at(first_fired_).has_fired(); }

    std::size_t size() const noexcept { return count_ != 0 ? count_ : first_.event() != nullptr ? 1 : 0; }
    const WakeCallback& at(std::size_t index) const noexcept {
        return index == 0 ? first_ : const_cast<Waker*>(this)->further(index);
    }

private:
    friend class Coroutine;
    friend class Scheduler;
    friend class WakeCallback;

    /// Most coroutines wait for one event at a time, and many never: this is called before the first wait.
    void build(Coroutine& owner) noexcept {
        new (&first_) WakeCallback(owner, true);
        first_.rest();
        count_ = 0;
        first_fired_ = 0;
    }
    WakeCallback& at(std::size_t index) noexcept { return index == 0 ? first_ : further(index); }
    WakeCallback& further(std::size_t index) noexcept;
    [[nodiscard]] Status subscribe_closed(WakeCallback& callback, Event& event);
    void leave_one(WakeCallback& callback) noexcept;

    union {                   // at the start: see `Coroutine::of`
        WakeCallback first_;  // the others lie with what few coroutines have
    };
    std::uint16_t count_;        // 0 during a simple wait too
    std::uint16_t first_fired_;  // 0 as long as nothing has
};

}  // namespace trueasync
