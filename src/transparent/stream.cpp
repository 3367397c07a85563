#include <sys/uio.h>
#include <algorithm>
#include <climits>

#include "attempt.hpp"
#include "hooks.hpp"
#include "poll.hpp"

namespace trueasync::hooked {

namespace {

/// Where the kernel cannot be told not to block: whether it would.
bool is_ready(int fd, short events) noexcept {
    pollfd one{fd, events, 0};
    return ::poll(&one, 1, 0) != 0;
}

ssize_t later() noexcept {
    errno = EAGAIN;
    return -1;
}

ssize_t read_now(int fd, Kind kind, void* buffer, std::size_t size) noexcept {
    if (is_socket(kind)) {
        return ::recv(fd, buffer, size, MSG_DONTWAIT);
    }
    const iovec part{buffer, size};
    const ssize_t result = ::preadv2(fd, &part, 1, -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    return is_ready(fd, POLLIN) ? ::read(fd, buffer, size) : later();
}

ssize_t write_now(int fd, Kind kind, const void* data, std::size_t size) noexcept {
    if (is_socket(kind)) {
        return ::send(fd, data, size, MSG_DONTWAIT);
    }
    const iovec part{const_cast<void*>(data), size};
    const ssize_t result = ::pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    // A pipe with room has room for this much at least.
    return is_ready(fd, POLLOUT) ? ::write(fd, data, std::min<std::size_t>(size, PIPE_BUF)) : later();
}

/// All of it, as a descriptor that blocks does; `now(data, size)` moves a part without blocking.
template <typename Now, typename Block>
ssize_t write_all(
    IoReactor& reactor, int fd, Kind kind, const void* data, std::size_t size, Now&& now, Block&& block
) noexcept {
    const auto* rest = static_cast<const std::byte*>(data);
    std::size_t moved = 0;
    do {
        const ssize_t result = attempt_until_done(
            reactor, fd, kind, PollMask::Writable, SO_SNDTIMEO, [&] { return now(rest + moved, size - moved); },
            [&] { return block(rest + moved, size - moved); }
        );
        if (result < 0) {
            return moved != 0 ? static_cast<ssize_t>(moved) : result;
        }
        moved += static_cast<std::size_t>(result);
    } while (moved < size && !is_non_blocking(fd));
    return static_cast<ssize_t>(moved);
}

/// The kind, if it can be waited for.
IoReactor* reactor_for(int fd, Kind& kind) noexcept {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return nullptr;
    }
    kind = kind_of(fd);
    return kind == Kind::File || kind == Kind::Unknown ? nullptr : reactor;
}

ssize_t closed_meanwhile() noexcept {
    errno = EBADF;
    return -1;
}

}  // namespace

ssize_t read(int fd, void* buffer, size_t size) {
    Kind kind{};
    IoReactor* reactor = reactor_for(fd, kind);
    if (reactor == nullptr) {
        return ::read(fd, buffer, size);
    }
    if (kind == Kind::Closing) {
        return closed_meanwhile();
    }
    const KeepErrno keep;
    return keep(attempt_until_done(
        *reactor, fd, kind, PollMask::Readable, SO_RCVTIMEO, [&] { return read_now(fd, kind, buffer, size); },
        [&] { return ::read(fd, buffer, size); }
    ));
}

ssize_t write(int fd, const void* data, size_t size) {
    Kind kind{};
    IoReactor* reactor = reactor_for(fd, kind);
    if (reactor == nullptr) {
        return ::write(fd, data, size);
    }
    if (kind == Kind::Closing) {
        return closed_meanwhile();
    }
    const KeepErrno keep;
    return keep(write_all(
        *reactor, fd, kind, data, size, [&](auto* rest, auto count) { return write_now(fd, kind, rest, count); },
        [&](auto* rest, auto count) { return ::write(fd, rest, count); }
    ));
}

ssize_t recv(int fd, void* buffer, size_t size, int flags) {
    Kind kind{};
    IoReactor* reactor = (flags & MSG_DONTWAIT) == 0 ? reactor_for(fd, kind) : nullptr;
    if (reactor == nullptr) {
        return ::recv(fd, buffer, size, flags);
    }
    if (kind == Kind::Closing) {
        return closed_meanwhile();
    }
    const KeepErrno keep;
    return keep(attempt_until_done(
        *reactor, fd, kind, PollMask::Readable, SO_RCVTIMEO,
        [&] { return ::recv(fd, buffer, size, flags | MSG_DONTWAIT); }, [&] { return ::recv(fd, buffer, size, flags); }
    ));
}

ssize_t send(int fd, const void* data, size_t size, int flags) {
    Kind kind{};
    IoReactor* reactor = (flags & MSG_DONTWAIT) == 0 ? reactor_for(fd, kind) : nullptr;
    if (reactor == nullptr) {
        return ::send(fd, data, size, flags);
    }
    if (kind == Kind::Closing) {
        return closed_meanwhile();
    }
    const KeepErrno keep;
    return keep(write_all(
        *reactor, fd, kind, data, size,
        [&](auto* rest, auto count) { return ::send(fd, rest, count, flags | MSG_DONTWAIT); },
        [&](auto* rest, auto count) { return ::send(fd, rest, count, flags); }
    ));
}

}  // namespace trueasync::hooked
