#pragma once

/// @file trueasync/event/event_ref.hpp
/// A handle to an event that cannot itself be an object of the host.

#include <trueasync/event/event.hpp>

namespace trueasync {

/// Points to an event. Handle and event die independently.
///
/// For events whose end takes time (a libuv handle closes asynchronously): the host's object holds the handle, may be
/// collected at any moment, and only gives up its reference; the event ends when its loop lets it go. `resolve()` sees
/// through it, so code that was given either needs not know which.
/// Lifetime: part of a host object or of any other; frees nothing itself.
class TA_API EventRef final : public EventHeader {
public:
    EventRef() noexcept : EventHeader(bit(EventFlag::Reference)) {}
    explicit EventRef(Ref<Event> event) noexcept : EventRef() { event_ = std::move(event); }
    ~EventRef() override { reset(); }

    Event* event() const noexcept { return event_.get(); }

    /// Lets the event go. If this was the last reference the event closes, asynchronously where its loop needs that.
    void reset() noexcept { event_.reset(); }

    /// Says that this handle is part of a host object `offset` bytes further on.
    void become_host_object(std::uint32_t offset) noexcept {
        set(EventFlag::HostObject);
        count_or_offset_ = -static_cast<std::int32_t>(offset);
    }

private:
    Ref<Event> event_;
};

/// The event behind a host object, given where its header lies; sees through references.
inline Event* event_of(EventHeader& header) noexcept { return header.resolve(); }

}  // namespace trueasync
