#include "attempt.hpp"

#include <netinet/in.h>
#include <sys/time.h>
#include <algorithm>
#include <cstring>
#include <iterator>

#include "hooks.hpp"
#include "limited_backoff.hpp"

namespace trueasync::hooked {

std::atomic<bool> are_descriptors_sent = false;

namespace {

#if !defined(SO_PASSPIDFD)
constexpr int SO_PASSPIDFD = 76;
#endif

/// With these a read of a unix socket ends where another process has written.
constexpr int kSenderOptions[] = {SO_PASSCRED, SO_PASSPIDFD};

/// -1 when there is no such option.
int option_of(int fd, int option) noexcept {
    int value = 0;
    socklen_t size = sizeof(value);
    return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

Deadline socket_limit(int fd, int option, IoReactor& reactor) noexcept {
    const Deadline limit = call_limit(fd, option);
    return limit.is_never() ? limit : Deadline::at(limit.resolve(reactor.now()));
}

}  // namespace

Deadline DescriptorCall::limit(PollMask mask) noexcept {
    if (!has_deadline_ && is_socket(kind_)) {
        deadline_ = socket_limit(fd_, mask == PollMask::Readable ? SO_RCVTIMEO : SO_SNDTIMEO, reactor_);
    }
    has_deadline_ = true;
    return deadline_;
}

Waited DescriptorCall::wait(PollMask mask) noexcept { return wait_descriptor(reactor_, fd_, mask, limit(mask)); }

Descriptor::ShortRead ask_short_read(int fd) noexcept {
    using ShortRead = Descriptor::ShortRead;
    const int protocol = option_of(fd, SO_PROTOCOL);
    if (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP) {
        return ShortRead::Drained;
    }
    const auto is_on = [fd](int option) { return option_of(fd, option) > 0; };
    return option_of(fd, SO_DOMAIN) == AF_UNIX && std::ranges::none_of(kSenderOptions, is_on) ? ShortRead::Local
                                                                                              : ShortRead::Nothing;
}

int setsockopt(int fd, int level, int option, const void* value, socklen_t size) {
    timeval limit{};
    IoReactor* reactor = level == SOL_SOCKET ? suspending_reactor() : nullptr;
    if (reactor != nullptr && (option == SO_RCVTIMEO || option == SO_SNDTIMEO) && size == sizeof(limit) &&
        value != nullptr) {
        // To the kernel less than nothing means not to wait, but asked about it says that there is no limit.
        std::memcpy(&limit, value, sizeof(limit));
        if (limit.tv_sec < 0) {
            limit = {0, 1};
            value = &limit;
        }
    }
    const int result = ::setsockopt(fd, level, option, value, size);
    if (reactor != nullptr && std::ranges::find(kSenderOptions, option) != std::end(kSenderOptions)) {
        reactor->set_short_read(fd, Descriptor::ShortRead::Unknown);
    }
    return result;
}

}  // namespace trueasync::hooked
