#pragma once

/// What a descriptor is, remembered until it is closed.

#include <cstdint>

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

/// `Unknown` with errno set when there is no such descriptor.
Kind kind_of(int fd) noexcept;

/// Costs no system call.
bool is_closing(int fd) noexcept;

void set_kind(int fd, Kind kind) noexcept;

/// From `first` to `last`, inclusively.
void forget_kinds(unsigned first, unsigned last) noexcept;

/// O_NONBLOCK is set.
bool is_non_blocking(int fd) noexcept;

}  // namespace trueasync::hooked
