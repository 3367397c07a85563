/// @file bench/net/socketpair_bench.cpp
/// A byte to and fro over a pair of sockets: between two coroutines, and in a bare edge-triggered epoll loop.

#include <trueasync/trueasync.hpp>

#include <sys/epoll.h>
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

double socketpair_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    trueasync::run([&] {
        auto [left, right] = trueasync::UnixStream::pair();
        const bench::Stopwatch watch;
        auto answering = trueasync::spawn([&right = right] {
            std::array<char, 16> buffer;
            while (const std::size_t count = right.read(buffer)) {
                right.write(std::string_view(buffer.data(), count));
            }
        });
        std::array<char, 16> buffer;
        for (std::size_t i = 0; i < iterations; ++i) {
            left.write("x");
            left.read(buffer);
        }
        elapsed = watch.elapsed_ns();
        left.close();
        trueasync::await(answering);
    });
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kFloor{"socketpair_floor", socketpair_floor_ns_per_op};
const bench::Registration kSocketpair{"socketpair", socketpair_ns_per_op};

}  // namespace
