#include <trueasync/reactor/descriptor_io.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <trueasync/reactor/system_error.hpp>

#include "quiet_write.hpp"

namespace trueasync {

namespace {

#if defined(MSG_NOSIGNAL)
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

static_assert(EAGAIN == EWOULDBLOCK);
bool is_later(int error) noexcept { return error == EAGAIN; }

IoReactor* current_io() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? scheduler->reactor().io() : nullptr;
}

#if !defined(__linux__)
bool make_asynchronous(int fd) noexcept {
    return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}
#endif

}  // namespace

bool DescriptorIo::is_known_drained(PollMask mask) const noexcept {
    const Descriptor* descriptor = reactor_.find(fd_);
    return descriptor != nullptr && descriptor->covers(mask) && !any(descriptor->ready & mask) &&
           descriptor->state == Descriptor::State::Registered;
}

WaitResult DescriptorIo::wait(PollMask mask) noexcept {
    if (TA_UNLIKELY(!limit_.deadline().is_never())) {
        limit_ = limit_.fixed(reactor_.now());
    }
    return wait_ready(reactor_, fd_, mask, limit_, where_);
}

/// A wait that failed has an errno, which says more than the wait.
IoOutcome DescriptorIo::finish_wait(WaitResult result) noexcept {
    IoOutcome outcome;
    outcome.wait = result;
    if (result == WaitResult::Failed) {
        const Ref<Error> error = Scheduler::take_wait_error();
        outcome.error = SystemError::number_of(error.get());
        if (outcome.error != 0) {
            outcome.wait = WaitResult::Ready;
        } else {
            Scheduler::refuse(error, result);
        }
    }
    return outcome;
}

/// Calls until the answer is not "later". What it returns is that of the call: a count, or -1 and errno.
template <typename Call>
IoOutcome DescriptorIo::attempt(PollMask mask, Call&& call) noexcept {
    IoOutcome outcome;
    bool must_wait = is_known_drained(mask);
    for (;;) {
        if (must_wait) {
            if (const WaitResult result = wait(mask); TA_UNLIKELY(result != WaitResult::Ready)) {
                return finish_wait(result);
            }
        }
        const ssize_t result = call();
        if (TA_LIKELY(result >= 0)) {
            outcome.count = static_cast<std::size_t>(result);
            return outcome;
        }
        if (errno == EINTR) {
            must_wait = false;
            continue;
        }
        if (!is_later(errno)) {
            outcome.error = errno;
            return outcome;
        }
        reactor_.mark_drained(fd_, mask);
        must_wait = true;
    }
}

IoOutcome DescriptorIo::read(std::span<std::byte> buffer) noexcept {
    const IoOutcome outcome = attempt(PollMask::Readable, [&] {
        return ::read(fd_, buffer.data(), std::min<std::size_t>(buffer.size(), SSIZE_MAX));
    });
    if (outcome.count < buffer.size() && outcome.count != 0) {
        reactor_.mark_short(fd_, PollMask::Readable);
    }
    return outcome;
}

template <typename Call>
IoOutcome DescriptorIo::move_all(std::span<const std::byte> data, Call&& call) noexcept {
    IoOutcome all;
    while (!data.empty()) {
        const IoOutcome outcome = attempt(PollMask::Writable, [&] { return call(data); });
        all.count += outcome.count;
        if (TA_UNLIKELY(!outcome.ok())) {
            all.wait = outcome.wait;
            all.error = outcome.error;
            return all;
        }
        if (outcome.count < data.size()) {
            reactor_.mark_short(fd_, PollMask::Writable);
        }
        data = data.subspan(outcome.count);
    }
    return all;
}

IoOutcome DescriptorIo::send_all(std::span<const std::byte> data) noexcept {
    return move_all(data, [this](auto rest) { return ::send(fd_, rest.data(), rest.size(), kNoSignal); });
}

IoOutcome DescriptorIo::write(std::span<const std::byte> data) noexcept {
    return move_all(data, [this](auto rest) {
        return detail::quiet_write(fd_, rest.data(), std::min<std::size_t>(rest.size(), SSIZE_MAX));
    });
}

IoOutcome DescriptorIo::send_all(std::span<iovec> parts) noexcept {
    IoOutcome all;
    while (!parts.empty()) {
        if (parts.front().iov_len == 0) {
            parts = parts.subspan(1);
            continue;
        }
        const IoOutcome outcome = attempt(PollMask::Writable, [&] {
            msghdr message{};
            message.msg_iov = parts.data();
            message.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
            return ::sendmsg(fd_, &message, kNoSignal);
        });
        all.count += outcome.count;
        if (TA_UNLIKELY(!outcome.ok())) {
            all.wait = outcome.wait;
            all.error = outcome.error;
            return all;
        }
        std::size_t moved = outcome.count;
        while (!parts.empty() && moved >= parts.front().iov_len) {
            moved -= parts.front().iov_len;
            parts = parts.subspan(1);
        }
        if (!parts.empty()) {
            parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + moved;
            parts.front().iov_len -= moved;
        }
    }
    return all;
}

IoOutcome DescriptorIo::receive(std::span<std::byte> buffer, SocketAddress* from, int flags) noexcept {
    return attempt(PollMask::Readable, [&] {
        if (from == nullptr) {
            return ::recv(fd_, buffer.data(), buffer.size(), flags);
        }
        socklen_t size = SocketAddress::capacity();
        const ssize_t result = ::recvfrom(fd_, buffer.data(), buffer.size(), flags, from->buffer(), &size);
        from->resize(result >= 0 ? size : 0);
        return result;
    });
}

IoOutcome DescriptorIo::send(std::span<const std::byte> data, const SocketAddress* to, int flags) noexcept {
    return attempt(PollMask::Writable, [&] {
        return to == nullptr ? ::send(fd_, data.data(), data.size(), flags | kNoSignal)
                             : ::sendto(fd_, data.data(), data.size(), flags | kNoSignal, to->data(), to->size());
    });
}

IoOutcome DescriptorIo::accept(SocketAddress* from) noexcept {
    return attempt(PollMask::Readable, [&]() -> ssize_t { return accept_socket(fd_, from); });
}

IoOutcome DescriptorIo::connect(const SocketAddress& to) noexcept {
    IoOutcome outcome;
    int result = 0;
    do {
        result = ::connect(fd_, to.data(), to.size());
    } while (result < 0 && errno == EINTR && to.family() == SocketAddress::Family::Unix);
    if (result == 0) {
        return outcome;
    }
    // A unix socket whose queue is full says EAGAIN and cannot be waited for; to the caller that is a refusal.
    if (errno != EINPROGRESS && errno != EINTR) {
        outcome.error = errno;
        return outcome;
    }
    reactor_.mark_drained(fd_, PollMask::Writable);
    for (;;) {
        if (const WaitResult ended = wait(PollMask::Writable); ended != WaitResult::Ready) {
            return finish_wait(ended);
        }
        int error = 0;
        socklen_t size = sizeof(error);
        if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) < 0) {
            error = errno;
        }
        SocketAddress peer;
        socklen_t peer_size = SocketAddress::capacity();
        if (error != 0 || ::getpeername(fd_, peer.buffer(), &peer_size) == 0) {
            outcome.error = error;
            return outcome;
        }
        reactor_.mark_drained(fd_, PollMask::Writable);  // what was reported was from before the attempt
    }
}

void OwnedDescriptor::close() noexcept {
    if (fd_ >= 0) {
        announce_closing(fd_);
        ::close(release());
    }
}

void announce_opened(int fd) noexcept {
    if (IoReactor* io = current_io()) {
        io->descriptor_opened(fd);
    }
}

void announce_closing(int fd) noexcept {
    if (IoReactor* io = current_io()) {
        io->descriptor_closing(fd);
    }
}

int open_socket(int family, int type, int protocol) noexcept {
#if defined(__linux__)
    const int fd = ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
#else
    int fd = ::socket(family, type, protocol);
    if (fd >= 0 && !make_asynchronous(fd)) {
        ::close(fd);
        fd = -1;
    }
#if defined(SO_NOSIGPIPE)
    if (fd >= 0) {
        const int on = 1;
        ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
    }
#endif
#endif
    if (fd >= 0) {
        announce_opened(fd);
    }
    return fd;
}

int accept_socket(int listener, SocketAddress* from) noexcept {
    SocketAddress peer;
    for (;;) {
        socklen_t size = SocketAddress::capacity();
#if defined(__linux__)
        const int fd = ::accept4(listener, peer.buffer(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        const int fd = ::accept(listener, peer.buffer(), &size);
        if (fd >= 0 && !make_asynchronous(fd)) {
            ::close(fd);
            return -1;
        }
#endif
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO)) {
            continue;  // gone before it was taken: the next one
        }
        if (fd >= 0) {
            announce_opened(fd);
            if (from != nullptr) {
                peer.resize(size);
                *from = peer;
            }
        }
        return fd;
    }
}

}  // namespace trueasync
