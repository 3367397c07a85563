#include <sys/stat.h>
#include <optional>

#include "attempt.hpp"
#include "hooks.hpp"
#include "limited_backoff.hpp"
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

/// Pauses for a unix socket whose peer has a full queue: the kernel has no event for it.
class QueueWait {
public:
    QueueWait(IoReactor& reactor, int fd) noexcept : backoff_(reactor, call_limit(fd, SO_SNDTIMEO)), fd_(fd) {
        ::fstat(fd, &socket_);
    }
    Waited wait() noexcept {
        const Waited waited = backoff_.wait();
        if (waited == Waited::TimedOut) {
            errno = EAGAIN;
            return Waited::Failed;
        }
        if (waited == Waited::Ready && !is_still_there()) {
            errno = EBADF;
            return Waited::Failed;
        }
        return waited;
    }

private:
    /// Nobody who closes it can know of us; the number may belong to another socket now.
    bool is_still_there() const noexcept {
        struct stat now {};
        return !is_closing(fd_) && ::fstat(fd_, &now) == 0 && now.st_dev == socket_.st_dev &&
               now.st_ino == socket_.st_ino;
    }

    LimitedBackoff backoff_;
    int fd_;
    struct stat socket_ {};
};

}  // namespace

int connect(int fd, const sockaddr* address, socklen_t size) {
    return on_descriptor(
        fd, [&] { return ::connect(fd, address, size); },
        [&](DescriptorCall& call) {
            std::optional<QueueWait> queue;
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
                if (!queue) {
                    queue.emplace(call.reactor(), fd);
                }
                switch (queue->wait()) {
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
