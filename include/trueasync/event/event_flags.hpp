#pragma once

/// @file trueasync/event/event_flags.hpp
/// The flags, states and types packed into the first word of every event.

#include <cstdint>
#include <string_view>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// What an event is and what may still happen to it.
enum class EventFlag : std::uint32_t {
    Closed = 1U << 0,            ///< complete: no start, no stop, no new subscription
    ResultUsed = 1U << 1,        ///< someone takes the result: no warning about an unused one
    ExceptionCaught = 1U << 2,   ///< someone will take the error: no warning about an unhandled one
    HostValueResult = 1U << 3,   ///< the result given to callbacks points to a value of the host, not to raw data
    HostObject = 1U << 4,        ///< the host counts references; the count field holds the offset of its object
    NoFreeMemory = 1U << 5,      ///< the storage belongs to somebody else: the end destroys, but frees nothing
    ExceptionHandled = 1U << 6,  ///< the error was dealt with: it is not thrown again
    Reference = 1U << 7,         ///< this is an `EventRef`, which points to the event
    ObjectRef = 1U << 8,         ///< at `extra_offset` lies a pointer to a host object, released at the end
    CloseDescriptor = 1U << 9,   ///< the descriptor is closed at the end
    Hidden = 1U << 10,           ///< does not keep the loop alive and does not count against a deadlock
};

/// The flag's bit in the word.
constexpr std::uint32_t bit(EventFlag flag) noexcept { return static_cast<std::uint32_t>(flag); }

/// The life of an event.
///
/// created -> active (start) -> fired -> active (periodic) or closed (one-shot); active -> stopped -> active;
/// everything -> closed. Events that need no loop fire from `created`. All other moves are refused with an error.
enum class EventState : std::uint8_t { Created, Active, Fired, Stopped, Closed };

TA_API std::string_view to_string(EventState state) noexcept;

}  // namespace trueasync
