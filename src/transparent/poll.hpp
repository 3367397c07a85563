#pragma once

#include <poll.h>
#include <span>

#include "waiting.hpp"

namespace trueasync::hooked {

/// As `poll`, in a coroutine that can suspend; with a limit of any precision.
int poll_suspending(IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline) noexcept;

}  // namespace trueasync::hooked
