#include <array>
#include <trueasync/event/event.hpp>
#include <trueasync/event/event_types.hpp>
#include <trueasync/event/manual_event.hpp>

namespace trueasync {

namespace {

struct TypeRow {
    std::string_view name;
    std::string_view room;
};

constexpr std::array<TypeRow, kEventTypes> kRows = {{
#define TA_EVENT(name, text, type, room) {text, #room},
#include <trueasync/event/event_types.def>
#undef TA_EVENT
}};

constinit std::array<std::size_t, kEventTypes> sizes = {};

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Event, sizeof(Event)) &&
                                         detail::register_event_size(EventType::Manual, sizeof(ManualEvent));

}  // namespace

std::string_view to_string(EventType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    return index < kEventTypes ? kRows[index].name : "unknown";
}

std::string_view room_of(EventType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    return index < kEventTypes ? kRows[index].room : "unknown";
}

std::size_t size_of(EventType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    return index < kEventTypes ? sizes[index] : 0;
}

bool detail::register_event_size(EventType type, std::size_t size) noexcept {
    sizes[static_cast<std::size_t>(type)] = size;
    return true;
}

std::string_view to_string(EventState state) noexcept {
    switch (state) {
        case EventState::Created:
            return "created";
        case EventState::Active:
            return "active";
        case EventState::Fired:
            return "fired";
        case EventState::Stopped:
            return "stopped";
        case EventState::Closed:
            return "closed";
    }
    return "unknown";
}

}  // namespace trueasync
