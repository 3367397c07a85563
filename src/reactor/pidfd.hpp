#pragma once

#include <sys/types.h>
#include <atomic>

namespace trueasync::detail {

/// Tests set it, to have SIGCHLD where there is a better way.
extern std::atomic<bool> is_pidfd_off;

/// A descriptor that is readable when the process has ended; closed in every program that is started. -1 when there is none to be had.
int open_pidfd(pid_t pid) noexcept;

/// Zero, or the errno.
int signal_pidfd(int pidfd, int number) noexcept;

}  // namespace trueasync::detail
