#pragma once

#include <poll.h>
#include <signal.h>
#include <span>

#include "waiting.hpp"

namespace trueasync::hooked {

/// As `poll`, in a coroutine that can suspend; with a limit of any precision.
int poll_suspending(IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline) noexcept;

/// The same as `ppoll`: a signal that `mask` lets in, when there is a mask, ends it.
int poll_suspending(
    IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline, const sigset_t* mask
) noexcept;

}  // namespace trueasync::hooked
