#pragma once

/// @file trueasync/sync/line.hpp
/// What a mutex, a semaphore and a barrier have in common.

#include <trueasync/sync/waiter.hpp>

namespace trueasync {

/// Something that coroutines wait for in one line, first come, first served.
///
/// As an event it never fires.
/// Thread rule: its thread only.
/// Lifetime: counted or of the host. Who waits holds it.
class TA_API LineEvent : public Event {
public:
    /// Whoever waits, and whoever comes to wait, is `Refused` with `EventClosed`. Does nothing the second time.
    void close() noexcept;
    /// Not counting those who were woken.
    std::size_t waiting_count() const noexcept { return line_.size(); }

protected:
    explicit LineEvent(EventType type) noexcept : Event(type) {}
    ~LineEvent() override = default;

    WaitResult refuse_closed() const noexcept;
    /// `, closed` for an `info`.
    const char* closed_mark() const noexcept { return is_closed() ? ", closed" : ""; }

    detail::WaiterList line_;
};

}  // namespace trueasync
