#pragma once

/// @file trueasync/reactor/descriptor_io.hpp
/// Reading, writing, accepting and connecting as a coroutine sees it: the call returns when it is done.

#include <sys/uio.h>
#include <cstddef>
#include <span>
#include <trueasync/base/socket_address.hpp>
#include <trueasync/reactor/poll.hpp>

namespace trueasync {

/// What came of an operation on a descriptor.
struct IoOutcome {
    WaitResult wait =
        WaitResult::Ready;  ///< other than `Ready`: the wait ended early, the operation was not done or not wholly
    int error = 0;          ///< the errno; zero when there is none
    std::size_t count = 0;  ///< bytes moved, also when it ended early; for `accept` the descriptor

    bool ok() const noexcept { return wait == WaitResult::Ready && error == 0; }
};

/// Operations on a non-blocking descriptor that was announced to its reactor (see `wait_ready`). Each tries first and suspends only
/// when the system says "later"; what the reactor knows to be over is not tried.
///
/// A limit that is a delay begins with the first wait and is for all of the operation.
/// Thread rule: that of the reactor.
/// Cancel safety: a read that is cancelled has taken nothing. A write that is cancelled may have moved a part; `count` says how much.
class TA_API DescriptorIo {
public:
    DescriptorIo(
        IoReactor& reactor,
        int fd,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept
        : reactor_(reactor), fd_(fd), limit_(limit), where_(where) {}

    /// Up to `buffer.size()` bytes; zero means the end.
    IoOutcome read(std::span<std::byte> buffer) noexcept;

    /// All of `data`, to anything. A reader that has gone gives EPIPE and never the signal.
    IoOutcome write(std::span<const std::byte> data) noexcept;

    /// All of `data`, or of `parts`, which are changed on the way; to a socket.
    IoOutcome send_all(std::span<const std::byte> data) noexcept;
    IoOutcome send_all(std::span<iovec> parts) noexcept;

    /// One datagram; longer ones are cut.
    IoOutcome receive(std::span<std::byte> buffer, SocketAddress* from, int flags = 0) noexcept;
    IoOutcome send(std::span<const std::byte> data, const SocketAddress* to, int flags = 0) noexcept;

    /// One connection, non-blocking, close-on-exec and announced.
    IoOutcome accept(SocketAddress* from) noexcept;

    IoOutcome connect(const SocketAddress& to) noexcept;

private:
    template <typename Call>
    IoOutcome attempt(PollMask mask, Call&& call) noexcept;
    template <typename Call>
    IoOutcome move_all(std::span<const std::byte> data, Call&& call) noexcept;
    IoOutcome finish_wait(WaitResult result) noexcept;
    WaitResult wait(PollMask mask) noexcept;
    bool is_known_drained(PollMask mask) const noexcept;

    IoReactor& reactor_;
    int fd_;
    WaitLimit limit_;
    std::source_location where_;
};

/// A descriptor that is closed at the end. Closing wakes those who wait for it.
class TA_API OwnedDescriptor {
public:
    OwnedDescriptor() noexcept = default;
    explicit OwnedDescriptor(int fd) noexcept : fd_(fd) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : fd_(other.release()) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = other.release();
        }
        return *this;
    }
    ~OwnedDescriptor() { close(); }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    int release() noexcept {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    /// Does nothing when it is closed already.
    void close() noexcept;

private:
    int fd_ = -1;
};

/// Tells the reactor of this thread, if there is one, that a descriptor was made, or is about to be closed.
TA_API void announce_opened(int fd) noexcept;
TA_API void announce_closing(int fd) noexcept;

/// A new non-blocking, close-on-exec socket, announced; negative with errno set when there is none to be had.
TA_API int open_socket(int family, int type, int protocol = 0) noexcept;

/// A connection that waits at `listener`, non-blocking, close-on-exec and announced; negative with errno set when there is none to be
/// had. Those that have gone before they were taken are passed over.
TA_API int accept_socket(int listener, SocketAddress* from) noexcept;

}  // namespace trueasync
