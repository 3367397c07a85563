#pragma once

#include <atomic>
#include <cstdint>

namespace trueasync::detail {

/// How many forks lie between the first process and this one. Asking costs no system call.
extern std::atomic<std::uint32_t> fork_count;

/// Begins to count; at the latest when the first thing is made that a fork would break.
void watch_forks() noexcept;

inline std::uint32_t fork_generation() noexcept { return fork_count.load(std::memory_order_relaxed); }

}  // namespace trueasync::detail
