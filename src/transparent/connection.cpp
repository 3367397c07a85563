#include <sys/stat.h>
#include <optional>

#include "attempt.hpp"
#include "hooks.hpp"
#include "limited_backoff.hpp"
#include "non_blocking_here.hpp"

namespace trueasync::hooked {

namespace {

/// The outcome of an attempt to connect that has come to its end; `is_pending` when it has not. Its error is no sign: another may have taken it,
/// and there are some that do no harm.
int outcome_of(int fd, const sockaddr* address, socklen_t size, bool& is_pending) noexcept {
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof(peer);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) {
        const int result = ::connect(fd, address, size);  // begins nothing: tells the socket that it is connected
        return result != 0 && errno == EISCONN ? 0 : result;
    }
    pollfd one{fd, POLLOUT, 0};
    is_pending = errno == ENOTCONN && ::poll(&one, 1, 0) == 0;
    if (is_pending) {
        return -1;
    }
    int error = 0;
    socklen_t error_size = sizeof(error);
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0) {
        return -1;
    }
    // To ask `connect` could begin anew. This is what it does itself after a failure; without, the next attempt would fail.
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    static_cast<void>(::connect(fd, &nowhere, sizeof(nowhere)));
    errno = error != 0 ? error : ECONNABORTED;
    return -1;
}

int await_connection(DescriptorCall& call, int fd, const sockaddr* address, socklen_t size) noexcept {
    const int begun = errno;  // now, or before
    for (;;) {
        switch (call.wait(PollMask::Writable)) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                errno = begun;
                return -1;
            case Waited::Failed:
                return -1;
            case Waited::Blocks: {
                pollfd one{fd, POLLOUT, 0};
                ::poll(&one, 1, -1);
            }
        }
        bool is_pending = false;
        const int result = outcome_of(fd, address, size, is_pending);
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

/// Listens, and nobody is there. What does not listen gets its error from `accept`.
bool is_quiet(int fd) noexcept {
    pollfd one{fd, POLLIN, 0};
    int is_listener = 0;
    socklen_t size = sizeof(is_listener);
    return ::poll(&one, 1, 0) == 0 && ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listener, &size) == 0 &&
           is_listener != 0;
}

enum class Peer : std::uint8_t { Told, Later, OthersTurn };

/// Calls `accept` so that it does not block. `Told`: it has an answer for the program.
template <typename Accept>
Peer try_accept(int fd, int& accepted, Accept&& accept) noexcept {
    int flags = ::fcntl(fd, F_GETFL);
    const bool may_be_others = (flags & O_NONBLOCK) != 0;
    if (!may_be_others && is_quiet(fd)) {
        return Peer::Later;
    }
    const FlagTurn turn(fd);
    if (!turn.is_taken()) {
        return Peer::OthersTurn;
    }
    flags = may_be_others ? ::fcntl(fd, F_GETFL) : flags;
    const NonBlockingHere here(fd, flags);
    accepted = accept();
    return accepted >= 0 || errno != EAGAIN || here.was_non_blocking() ? Peer::Told : Peer::Later;
}

/// Listeners are shared by processes, so there may be nobody any more, however ready it was.
template <typename Accept>
int await_peer(DescriptorCall& call, int fd, Accept&& accept) noexcept {
    for (Backoff others;;) {
        int accepted = -1;
        Waited waited = Waited::Ready;
        switch (try_accept(fd, accepted, accept)) {
            case Peer::Told:
                if (accepted < 0 && errno == EAGAIN && !is_cut_off()) {
                    errno = EAGAIN;
                }
                return accepted;
            case Peer::Later:
                waited = call.wait(PollMask::Readable);
                break;
            case Peer::OthersTurn:
                waited = others.wait();
        }
        switch (waited) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                errno = EAGAIN;
                return -1;
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return accept();
        }
    }
}

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
                const bool has_begun = result != 0 && (errno == EINPROGRESS || errno == EALREADY);
                if (result == 0 || was_non_blocking || (!has_begun && errno != EAGAIN)) {
                    return result;
                }
                if (has_begun) {
                    return await_connection(call, fd, address, size);
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
    return on_descriptor(
        fd, [&] { return ::accept4(fd, address, size, flags); },
        [&](DescriptorCall& call) {
            const int accepted = await_peer(call, fd, [&] { return ::accept4(fd, address, size, flags); });
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
