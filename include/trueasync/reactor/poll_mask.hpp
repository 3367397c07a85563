#pragma once

/// @file trueasync/reactor/poll_mask.hpp
/// What can happen to a descriptor.

#include <cstdint>
#include <string>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// A set of conditions.
enum class PollMask : std::uint8_t {
    None = 0,
    Readable = 1,    ///< a read would not block: there are bytes, the end, or an error to fetch
    Writable = 2,    ///< a write would not block: there is room, or an error to fetch
    Disconnect = 4,  ///< the other side will send no more, or is gone
    Priority = 8,    ///< urgent data
    All = 15,
};

constexpr PollMask operator|(PollMask a, PollMask b) noexcept {
    return static_cast<PollMask>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr PollMask operator&(PollMask a, PollMask b) noexcept {
    return static_cast<PollMask>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}
constexpr PollMask operator~(PollMask a) noexcept {
    return static_cast<PollMask>(~static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(PollMask::All));
}
constexpr PollMask& operator|=(PollMask& a, PollMask b) noexcept { return a = a | b; }
constexpr PollMask& operator&=(PollMask& a, PollMask b) noexcept { return a = a & b; }

/// Whether anything is in the set.
constexpr bool any(PollMask mask) noexcept { return mask != PollMask::None; }

/// `READABLE|WRITABLE`; `NONE` for the empty set.
TA_API std::string to_string(PollMask mask);

}  // namespace trueasync
