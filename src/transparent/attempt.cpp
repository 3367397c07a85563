#include "attempt.hpp"

#include <sys/time.h>

namespace trueasync::hooked {

namespace {

Deadline socket_limit(int fd, int option, IoReactor& reactor) noexcept {
    timeval limit{};
    socklen_t size = sizeof(limit);
    if (::getsockopt(fd, SOL_SOCKET, option, &limit, &size) != 0 || (limit.tv_sec == 0 && limit.tv_usec == 0)) {
        return Deadline::never();
    }
    const auto delay = std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec);
    return Deadline::at(Deadline::after(delay).resolve(reactor.now()));
}

}  // namespace

Waited DescriptorCall::wait(PollMask mask) noexcept {
    if (!has_deadline_ && is_socket(kind_)) {
        deadline_ = socket_limit(fd_, mask == PollMask::Readable ? SO_RCVTIMEO : SO_SNDTIMEO, reactor_);
    }
    has_deadline_ = true;
    return wait_descriptor(reactor_, fd_, mask, deadline_);
}

}  // namespace trueasync::hooked
