#pragma once

/// What a descriptor is, remembered until it is closed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <trueasync/base/export.hpp>

namespace trueasync::hooked {

enum class Kind : std::uint8_t {
    Unknown,
    File,     ///< regular files, directories, disks: never say "later"
    Stream,   ///< a socket of bytes
    Packets,  ///< any other socket
    Pipe,
    Device,   ///< terminals, event descriptors and the like
    Closing,  ///< somebody is closing it: nobody begins to wait for it
};

constexpr bool is_socket(Kind kind) noexcept { return kind == Kind::Stream || kind == Kind::Packets; }

inline constexpr std::size_t kRemembered = 65536;  // beyond that the kernel is asked each time
extern std::array<std::atomic<Kind>, kRemembered> kinds;

/// Costs no system call.
TA_INLINE Kind known_kind(int fd) noexcept {
    const auto index = static_cast<unsigned>(fd);
    return TA_LIKELY(index < kRemembered) ? kinds[index].load(std::memory_order_relaxed) : Kind::Unknown;
}
TA_INLINE bool is_closing(int fd) noexcept { return known_kind(fd) == Kind::Closing; }

Kind ask_kind(int fd) noexcept;

/// `Unknown` with errno set when there is no such descriptor.
TA_INLINE Kind kind_of(int fd) noexcept {
    const Kind kind = known_kind(fd);
    return TA_LIKELY(kind != Kind::Unknown) ? kind : ask_kind(fd);
}

void set_kind(int fd, Kind kind) noexcept;

/// From `first` to `last`, inclusively.
void forget_kinds(unsigned first, unsigned last) noexcept;

/// O_NONBLOCK is set.
bool is_non_blocking(int fd) noexcept;

}  // namespace trueasync::hooked
