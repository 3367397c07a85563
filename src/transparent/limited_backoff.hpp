#pragma once

#include <sys/socket.h>
#include <algorithm>
#include <chrono>

#include "times.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

/// The socket's own limit for one call: SO_RCVTIMEO or SO_SNDTIMEO.
inline Deadline call_limit(int fd, int option) noexcept {
    timeval limit{};
    socklen_t size = sizeof(limit);
    if (::getsockopt(fd, SOL_SOCKET, option, &limit, &size) != 0 || (limit.tv_sec == 0 && limit.tv_usec == 0)) {
        return Deadline::never();
    }
    return Deadline::after(to_duration(to_timespec(limit)));
}

/// Pauses that grow, as those of `Backoff`, up to a limit.
class LimitedBackoff {
public:
    LimitedBackoff(IoReactor& reactor, Deadline limit) noexcept
        : reactor_(reactor), limit_(limit.is_never() ? Instant::max() : limit.resolve(reactor.now())) {}

    /// `TimedOut`: there is no time left for another pause.
    Waited wait() noexcept {
        const Instant now = reactor_.now();
        if (now >= limit_) {
            return Waited::TimedOut;
        }
        const Waited waited = wait_time(Deadline::at(std::min(now + pause_, limit_)));
        pause_ = std::min<Duration>(pause_ * 2, std::chrono::milliseconds(32));
        return waited;
    }

private:
    IoReactor& reactor_;
    Instant limit_;
    Duration pause_ = std::chrono::milliseconds(1);
};

}  // namespace trueasync::hooked
