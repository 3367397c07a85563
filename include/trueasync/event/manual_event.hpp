#pragma once

/// @file trueasync/event/manual_event.hpp
/// An event fired by hand.

#include <trueasync/event/event.hpp>

namespace trueasync {

/// Fires whenever somebody calls `notify`; those who wait at that moment wake. It remembers nothing: who comes later waits
/// for the next time. May live on a stack; it must outlive those who wait for it.
class TA_API ManualEvent final : public Event {
public:
    ManualEvent() noexcept : Event(EventType::Manual, Firing::Repeating) { mark_no_free_memory(); }
    ~ManualEvent() override;

    /// A counted one.
    static Ref<ManualEvent> create() { return Ref<ManualEvent>::adopt(new ManualEvent(Counted{})); }

    /// Wakes everyone who waits.
    void notify() { Event::notify(nullptr, nullptr).ignore(); }
    using Event::notify;

private:
    struct Counted {};
    explicit ManualEvent(Counted /*tag*/) noexcept : Event(EventType::Manual, Firing::Repeating) {}
};

}  // namespace trueasync
