#pragma once

/// @file trueasync/event/event_types.hpp
/// Every kind of event there is, from one table.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <trueasync/base/export.hpp>

namespace trueasync {

enum class EventType : std::uint8_t {
#define TA_EVENT(name, text, type, room) name,
#include <trueasync/event/event_types.def>
#undef TA_EVENT
};

/// How many types the table has.
inline constexpr std::size_t kEventTypes = 0
#define TA_EVENT(name, text, type, room) +1
#include <trueasync/event/event_types.def>
#undef TA_EVENT
    ;

/// The name used in `info()` and dumps.
TA_API std::string_view to_string(EventType type) noexcept;

/// The room that implements the type.
TA_API std::string_view room_of(EventType type) noexcept;

/// Bytes of one object of the type; 0 while its room does not exist yet.
TA_API std::size_t size_of(EventType type) noexcept;

namespace detail {

/// Each room enters its sizes when the library is loaded.
TA_API bool register_event_size(EventType type, std::size_t size) noexcept;

}  // namespace detail

}  // namespace trueasync
