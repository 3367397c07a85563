#pragma once

/// @file trueasync/reactor/reactor_event.hpp
/// The base of every event that lives in a reactor.

#include <string>
#include <trueasync/event/event.hpp>
#include <trueasync/runtime/reactor.hpp>
#include <vector>

namespace trueasync {

/// An event of a loop. Enrols in its reactor when it is made.
///
/// When the reactor closes (at the end of `run`) the event is closed and cut off: `reactor()` is null from then on, and starting,
/// stopping and subscribing are refused with "the runtime has ended". So a handle may outlive its reactor.
/// Thread rule: that of its reactor, also after the reactor has gone.
///
/// @snippet unit/reactor/reactor_event_test.cpp  outlives
class TA_API ReactorEvent : public Event, public ListNode<ReactorTag> {
public:
    /// Null once the reactor has closed.
    Reactor* reactor() const noexcept { return reactor_; }

    /// For implementations of `Reactor::close`: closes and cuts off every event of `reactor`. Returns the `info` of those that were in the
    /// loop. What is made from then on is born closed.
    static std::vector<std::string> close_all(Reactor& reactor);

    /// For reactors, in the child of a fork: calls `on_fork` of every event.
    static void fork_all(Reactor& reactor) noexcept;

protected:
    ReactorEvent(Reactor& reactor, EventType type, Firing firing = Firing::OneShot) noexcept
        : ReactorEvent(&reactor, type, firing) {}
    /// Born closed without a reactor.
    ReactorEvent(Reactor* reactor, EventType type, Firing firing) noexcept;
    ~ReactorEvent() override { ListNode<ReactorTag>::unlink(); }

    /// The reactor is closing; the event is closed by now. The last moment to give back what is held in the reactor: handles closed here
    /// still get their turns of the loop.
    virtual void on_reactor_close() noexcept {}

    /// This is the child of a fork and the reactor is whole again; libuv's handles and descriptor watches are registered anew.
    virtual void on_fork() noexcept {}

    /// What descriptors and libuv's handles need. Fails with a clear error when the reactor has gone or has none.
    [[nodiscard]] Status find_io(IoReactor*& io) const;

    /// The refusal of everything that needs the reactor, once it has gone.
    Status refuse_ended() const;

    ActiveEvents* active_events() noexcept override { return reactor_ != nullptr ? &reactor_->active() : nullptr; }
    const char* why_closed() const noexcept override;

private:
    Reactor* reactor_;
};

}  // namespace trueasync
