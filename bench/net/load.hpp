#pragma once

/// @file bench/net/load.hpp
/// The client side of the echo figures: a process of its own, so that only the server's CPU time is counted.

#include <sys/socket.h>
#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace bench {

inline constexpr std::size_t kConnections = 64;
inline constexpr std::size_t kMessage = 64;

/// CPU time of this process in nanoseconds, user and system.
std::int64_t cpu_ns();

/// Starts a process that opens `kConnections` to `address`, makes `requests` round trips of `kMessage` bytes in all, and closes them.
pid_t start_load(const sockaddr* address, socklen_t size, std::size_t requests);

/// Waits for it; ends the benchmark when it failed.
void finish_load(pid_t load);

/// Keeps this process on one processor, where there are two: the client takes the other.
void pin(int processor);

/// A listening socket on loopback, non-blocking; the address is written to `address`.
int listen_on_loopback(sockaddr* address, socklen_t* size);

}  // namespace bench
