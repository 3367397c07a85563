/// @file bench/net/echo_floor_bench.cpp
/// An echo server on bare epoll: the floor of the echo figure. Level-triggered, so that it needs no read that says EAGAIN.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <array>

#include "load.hpp"
#include "support/suite.hpp"

namespace {

double echo_floor_ns_per_op(std::size_t iterations) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const int listener = bench::listen_on_loopback(generic, &size);
    const int set = epoll_create1(EPOLL_CLOEXEC);
    const pid_t load = bench::start_load(generic, size, iterations);
    const std::int64_t before = bench::cpu_ns();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = listener;
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    std::array<epoll_event, 256> events;
    std::array<char, 4096> buffer;
    std::size_t closed = 0;
    while (closed < bench::kConnections) {
        const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd == listener) {
                const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (accepted >= 0) {
                    const int on = 1;
                    ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
                    event.data.fd = accepted;
                    epoll_ctl(set, EPOLL_CTL_ADD, accepted, &event);
                }
                continue;
            }
            const ssize_t got = ::read(fd, buffer.data(), buffer.size());
            if (got > 0) {
                if (::send(fd, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) {
                    bench::fail("echo_floor: a short write");
                }
            } else if (got == 0 || errno != EAGAIN) {
                ::close(fd);
                ++closed;
            }
        }
    }
    const std::int64_t spent = bench::cpu_ns() - before;
    bench::finish_load(load);
    ::close(set);
    ::close(listener);
    return bench::per_op(spent, iterations);
}

const bench::Registration kEchoFloor{"echo_floor", echo_floor_ns_per_op};

}  // namespace
