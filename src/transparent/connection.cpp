#include "attempt.hpp"
#include "hooks.hpp"
#include "non_blocking_here.hpp"

namespace trueasync::hooked {

namespace {

/// The outcome of an attempt to connect that has come to its end; `is_pending` when it has not.
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

int await_connection(DescriptorCall& call, int fd) noexcept {
    for (;;) {
        switch (call.wait(PollMask::Writable)) {
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
            return result;
        }
    }
}

}  // namespace

int connect(int fd, const sockaddr* address, socklen_t size) {
    return on_descriptor(
        fd, [&] { return ::connect(fd, address, size); },
        [&](DescriptorCall& call) {
            Backoff backoff;
            for (;;) {
                bool was_non_blocking = false;
                int result = 0;
                {
                    const NonBlockingHere here(fd);
                    was_non_blocking = here.was_non_blocking();
                    result = ::connect(fd, address, size);
                }
                if (result == 0 || was_non_blocking || (errno != EINPROGRESS && errno != EAGAIN)) {
                    return result;
                }
                if (errno == EINPROGRESS) {
                    return await_connection(call, fd);
                }
                // A unix socket whose queue is full. The kernel has no event for it.
                switch (backoff.wait()) {
                    case Waited::Failed:
                        return -1;
                    case Waited::Blocks:
                        return ::connect(fd, address, size);
                    default:
                        break;
                }
            }
        }
    );
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
    const socklen_t room = size != nullptr ? *size : 0;
    return on_descriptor(
        fd, [&] { return ::accept4(fd, address, size, flags); },
        [&](DescriptorCall& call) {
            const int accepted = call.until_done(
                PollMask::Readable,
                [&] {
                    if (size != nullptr) {
                        *size = room;
                    }
                    const NonBlockingHere here(fd);
                    return ::accept4(fd, address, size, flags);
                },
                [&] { return ::accept4(fd, address, size, flags); }
            );
            if (accepted >= 0) {
                set_kind(accepted, Kind::Unknown);
                call.reactor().descriptor_opened(accepted);
            }
            return accepted;
        }
    );
}

int accept(int fd, sockaddr* address, socklen_t* size) {
    return suspending_reactor() == nullptr ? ::accept(fd, address, size) : hooked::accept4(fd, address, size, 0);
}

}  // namespace trueasync::hooked
