/// @file bench/net/socketpair_floor_bench.cpp
/// A byte to and fro over a pair of sockets, in a bare edge-triggered epoll loop.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>

#include "support/suite.hpp"

namespace {

/// What an event loop does for each message: wait, read, and no second read to see EAGAIN.
double socketpair_floor_ns_per_op(std::size_t iterations) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
        bench::fail("no pair of sockets");
    }
    const int set = epoll_create1(EPOLL_CLOEXEC);
    for (const int fd : ends) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
        event.data.fd = fd;
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    }
    std::array<epoll_event, 16> events;
    std::array<char, 16> buffer{};
    const bench::Stopwatch watch;
    ::send(ends[0], buffer.data(), 1, MSG_NOSIGNAL);
    std::size_t messages = 0;
    while (messages < 2 * iterations) {
        const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (::read(fd, buffer.data(), buffer.size()) != 1) {
                continue;
            }
            if (++messages < 2 * iterations) {
                ::send(fd, buffer.data(), 1, MSG_NOSIGNAL);
            }
        }
    }
    const std::int64_t elapsed = watch.elapsed_ns();
    ::close(set);
    ::close(ends[0]);
    ::close(ends[1]);
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kFloor{"socketpair_floor", socketpair_floor_ns_per_op};

}  // namespace
