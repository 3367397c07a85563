#pragma once

/// Trying without blocking, then waiting, then trying again.

#include <sys/socket.h>
#include <sys/time.h>

#include "kind.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

/// The limit that a socket has of itself: SO_RCVTIMEO or SO_SNDTIMEO. Anything else has none.
Deadline socket_limit(int fd, int option, Kind kind, IoReactor& reactor) noexcept;

/// Calls `attempt`, which must not block, until its answer is not "later"; `block` is the original call for where it is impossible to
/// suspend.
template <typename Attempt, typename Block>
auto attempt_until_done(
    IoReactor& reactor, int fd, Kind kind, PollMask mask, int limit_option, Attempt&& attempt, Block&& block
) noexcept -> decltype(attempt()) {
    Deadline deadline;
    bool has_deadline = false;
    for (;;) {
        const auto result = attempt();
        if (TA_LIKELY(result >= 0 || errno != EAGAIN)) {
            return result;
        }
        if (is_non_blocking(fd)) {
            errno = EAGAIN;
            return -1;
        }
        if (!has_deadline) {
            deadline = socket_limit(fd, limit_option, kind, reactor);
            has_deadline = true;
        }
        switch (wait_descriptor(reactor, fd, mask, deadline)) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                errno = EAGAIN;
                return -1;
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return block();
        }
    }
}

}  // namespace trueasync::hooked
