#pragma once

#include <sys/types.h>
#include <cstddef>

namespace trueasync::detail {

/// `write`, but a pipe that nobody reads gives EPIPE and no SIGPIPE, whatever the program does with that signal.
ssize_t quiet_write(int fd, const void* data, std::size_t size) noexcept;

}  // namespace trueasync::detail
