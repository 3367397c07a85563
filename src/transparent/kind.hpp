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
    Fifo,     ///< a pipe with a name: other processes open it by themselves, and the kernel cannot be told not to block
    Device,   ///< terminals, event descriptors and the like
    Closing,  ///< somebody is about to close it: nobody begins to wait for it
    Closed,   ///< somebody is inside `close`, and lets those who wait for it leave first
};

constexpr bool is_socket(Kind kind) noexcept { return kind == Kind::Stream || kind == Kind::Packets; }

constexpr bool is_pipe(Kind kind) noexcept { return kind == Kind::Pipe || kind == Kind::Fifo; }

inline constexpr std::size_t kRemembered = 65536;  // beyond that the kernel is asked each time

/// Of each number: the kind in the lowest byte, above it how many files have lost the number.
extern std::array<std::atomic<std::uint32_t>, kRemembered> numbers;

/// Costs no system call.
TA_INLINE Kind known_kind(int fd) noexcept {
    const auto index = static_cast<unsigned>(fd);
    return TA_LIKELY(index < kRemembered) ? static_cast<Kind>(numbers[index].load(std::memory_order_relaxed) & 0xff)
                                          : Kind::Unknown;
}
inline bool is_closing(Kind kind) noexcept { return kind >= Kind::Closing; }
TA_INLINE bool is_closing(int fd) noexcept { return is_closing(known_kind(fd)); }

/// Another than before: the number has been closed meanwhile, and may stand for another file. Zero for those that are not remembered.
TA_INLINE std::uint32_t files_of(int fd) noexcept {
    const auto index = static_cast<unsigned>(fd);
    return TA_LIKELY(index < kRemembered) ? numbers[index].load(std::memory_order_relaxed) >> 8 : 0;
}

Kind ask_kind(int fd) noexcept;

/// `Unknown` with errno set when there is no such descriptor.
TA_INLINE Kind kind_of(int fd) noexcept {
    const Kind kind = known_kind(fd);
    return TA_LIKELY(kind != Kind::Unknown) ? kind : ask_kind(fd);
}

void set_kind(int fd, Kind kind) noexcept;

/// The file is about to lose its number.
void forget_file(int fd) noexcept;
/// From `first` to `last`, inclusively.
void forget_files(unsigned first, unsigned last) noexcept;

/// O_NONBLOCK is set.
bool is_non_blocking(int fd) noexcept;

}  // namespace trueasync::hooked
