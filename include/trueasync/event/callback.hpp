#pragma once

/// @file trueasync/event/callback.hpp
/// A subscriber of an event.

#include <cstdint>
#include <trueasync/base/error.hpp>
#include <trueasync/base/export.hpp>

namespace trueasync {

class Event;
class CallbackList;

/// Called when an event fires. Counted, because an event and a waker may both hold it.
///
/// `call` runs in the middle of somebody else's turn: it must be short, must not suspend and should not throw (what
/// it throws is contained and reported). It may do anything to the event: subscribe, unsubscribe, notify, drop it.
class TA_API Callback {
public:
    Callback() = default;
    Callback(const Callback&) = delete;
    Callback& operator=(const Callback&) = delete;

    /// `result` belongs to the event and `error` may be null; both are valid during the call only.
    virtual void call(Event& event, void* result, Error* error) = 0;

    /// The event has let this callback go (removed, or the event ended). Gives up the event's reference.
    virtual void dispose(Event* /*event*/) noexcept { release(); }

    /// Asked before the event fires with an error: whether this subscriber will take it. If nobody will, it is reported.
    virtual bool takes_error() const noexcept { return true; }

    void add_ref() noexcept { ++ref_count_; }
    void release() noexcept {
        if (--ref_count_ == 0) {
            destroy();
        }
    }
    std::uint32_t ref_count() const noexcept { return ref_count_; }

    /// True for the one subscription of a coroutine that waits for nothing else: whoever fires it takes it out of the list first,
    /// since the first firing is all it needs.
    bool is_single_wake() const noexcept { return is_single_wake_; }

protected:
    virtual ~Callback() = default;

    /// The last reference is gone. Callbacks that lie inside another object override this to do nothing.
    virtual void destroy() noexcept { delete this; }

private:
    friend class CallbackList;
    friend class WakeCallback;

    std::uint32_t ref_count_ = 1;
    std::uint32_t slot_ = 0;  // place in the list it was added to last: a hint that makes removal O(1)
    bool is_single_wake_ = false;
};

}  // namespace trueasync
