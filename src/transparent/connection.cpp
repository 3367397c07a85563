#include <fcntl.h>
#include <algorithm>

#include "attempt.hpp"
#include "hooks.hpp"

namespace trueasync::hooked {

namespace {

/// For the one system call that cannot be told by an argument not to block.
class NonBlockingHere {
public:
    explicit NonBlockingHere(int fd) noexcept : fd_(fd), flags_(::fcntl(fd, F_GETFL)) {
        if (flags_ >= 0 && !was_non_blocking()) {
            ::fcntl(fd, F_SETFL, flags_ | O_NONBLOCK);
        }
    }
    NonBlockingHere(const NonBlockingHere&) = delete;
    NonBlockingHere& operator=(const NonBlockingHere&) = delete;
    ~NonBlockingHere() {
        if (flags_ >= 0 && !was_non_blocking()) {
            const int error = errno;
            ::fcntl(fd_, F_SETFL, flags_);
            errno = error;
        }
    }
    bool was_non_blocking() const noexcept { return (flags_ & O_NONBLOCK) != 0; }

private:
    int fd_;
    int flags_;
};

int accept_now(int fd, sockaddr* address, socklen_t* size, int flags) noexcept {
    const NonBlockingHere here(fd);
    return ::accept4(fd, address, size, flags);
}

/// The outcome of an attempt to connect that has come to its end; `pending` when it has not.
int outcome_of(int fd, bool& is_pending) noexcept {
    int error = 0;
    socklen_t size = sizeof(error);
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        return -1;
    }
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof(peer);
    is_pending = error == 0 && ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0;
    errno = error;
    return error == 0 ? 0 : -1;
}

constexpr auto kFirstPause = std::chrono::milliseconds(1);
constexpr auto kLongestPause = std::chrono::milliseconds(32);

}  // namespace

int connect(int fd, const sockaddr* address, socklen_t size) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::connect(fd, address, size);
    }
    const KeepErrno keep;
    const Kind kind = kind_of(fd);
    const Deadline deadline = socket_limit(fd, SO_SNDTIMEO, kind, *reactor);
    Duration pause = kFirstPause;
    for (;;) {
        bool was_non_blocking = false;
        int result = 0;
        {
            const NonBlockingHere here(fd);
            was_non_blocking = here.was_non_blocking();
            result = ::connect(fd, address, size);
        }
        if (result == 0 || was_non_blocking || (errno != EINPROGRESS && errno != EAGAIN)) {
            return keep(result);
        }
        if (errno == EINPROGRESS) {
            break;
        }
        // A unix socket whose queue is full. The kernel has no event for it.
        const Instant now = reactor->now();
        if (deadline.resolve(now) <= now) {
            errno = EAGAIN;
            return -1;
        }
        switch (wait_time(Deadline::after(pause))) {
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return keep(::connect(fd, address, size));
            default:
                pause = std::min<Duration>(pause * 2, kLongestPause);
        }
    }
    for (;;) {
        switch (wait_descriptor(*reactor, fd, PollMask::Writable, deadline)) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                errno = EINPROGRESS;
                return -1;
            case Waited::Failed:
                return -1;
            case Waited::Blocks: {
                pollfd one{fd, POLLOUT, 0};
                ::poll(&one, 1, -1);
            }
        }
        bool is_pending = false;
        const int result = outcome_of(fd, is_pending);
        if (!is_pending) {
            return keep(result);
        }
    }
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::accept4(fd, address, size, flags);
    }
    const KeepErrno keep;
    const socklen_t room = size != nullptr ? *size : 0;
    const int accepted = attempt_until_done(
        *reactor, fd, kind_of(fd), PollMask::Readable, SO_RCVTIMEO,
        [&] {
            if (size != nullptr) {
                *size = room;
            }
            return accept_now(fd, address, size, flags);
        },
        [&] { return ::accept4(fd, address, size, flags); }
    );
    if (accepted >= 0) {
        set_kind(accepted, Kind::Unknown);
        reactor->descriptor_opened(accepted);
    }
    return keep(accepted);
}

int accept(int fd, sockaddr* address, socklen_t* size) {
    return suspending_reactor() == nullptr ? ::accept(fd, address, size) : hooked::accept4(fd, address, size, 0);
}

}  // namespace trueasync::hooked
