#pragma once

/// @file trueasync/runtime/reactor.hpp
/// What the scheduler needs from an event loop. Implemented in room `reactor/`.

#include <cstdint>
#include <string>
#include <trueasync/base/deadline.hpp>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/event/event.hpp>
#include <vector>

namespace trueasync {

class IoReactor;
class ReactorEvent;
class TriggerQueue;

/// The membership of an event in its reactor.
struct ReactorTag;

/// A deadline in a reactor's heap. Part of whoever waits for it (a timer event, or a wait on a coroutine's stack), so
/// arming allocates nothing of its own.
class TA_API TimerNode {
public:
    static constexpr std::uint32_t kNotArmed = UINT32_MAX;

    TimerNode() = default;
    TimerNode(const TimerNode&) = delete;
    TimerNode& operator=(const TimerNode&) = delete;

    bool is_armed() const noexcept { return heap_index != kNotArmed; }
    Instant deadline() const noexcept { return when; }

    /// The deadline has passed; the node is no longer armed. Runs on the reactor's stack: it must not suspend.
    virtual void on_deadline() noexcept = 0;

    // The heap's own fields.
    Instant when{};
    std::uint32_t heap_index = kNotArmed;

protected:
    ~TimerNode() = default;
};

/// An event loop: collects what has happened and notifies the events concerned.
///
/// Thread rule: one reactor belongs to one runtime and its thread; `wake_up` may be called from any thread.
/// Callbacks run on the reactor's stack and must not suspend.
class TA_API Reactor {
public:
    Reactor() = default;
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;
    virtual ~Reactor() = default;

    /// One turn: delivers what has happened. Without `no_wait` it sleeps until something does.
    [[nodiscard]] virtual Status execute(bool no_wait) = 0;

    /// The clock that deadlines mean.
    virtual Instant now() noexcept = 0;

    /// Whether anything, visible or hidden, is still in the loop.
    virtual bool is_alive() const noexcept = 0;

    /// Arms `node` for `when`, or moves it there if it is armed. Fails only when memory is out.
    [[nodiscard]] virtual Status arm(TimerNode& node, Instant when) = 0;
    virtual void disarm(TimerNode& node) noexcept = 0;

    /// Ends a blocking `execute` soon, or the next one at once. The only thread-safe method.
    virtual void wake_up() noexcept = 0;

    /// Where threads leave the triggers they fired.
    virtual TriggerQueue& triggers() noexcept = 0;

    /// Closes everything: events are closed and cut off (see `ReactorEvent`). Returns a line for each that was still in the loop.
    /// Once is enough; a destructor does the same.
    virtual std::vector<std::string> close() = 0;

    /// What events with descriptors need beyond this; null where there are none (a virtual clock).
    virtual IoReactor* io() noexcept { return nullptr; }

    /// False for a virtual clock, which must not be compared with the time that passes outside.
    virtual bool has_real_clock() const noexcept { return true; }

    ActiveEvents& active() noexcept { return active_; }
    const ActiveEvents& active() const noexcept { return active_; }

    /// The events that live here.
    IntrusiveList<ReactorEvent, ReactorTag>& events() noexcept { return events_; }

private:
    friend class ReactorEvent;

    ActiveEvents active_;
    IntrusiveList<ReactorEvent, ReactorTag> events_;
    bool is_closed_ = false;
};

}  // namespace trueasync
