/// @file bench/io/http_floor.cpp
/// A keep-alive server on bare epoll: the floor of the HTTP figures. Level-triggered, so that it needs no read that says EAGAIN.

#include "http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cerrno>

#include "support/suite.hpp"

namespace bench {

namespace {

int listen_on_loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || ::bind(listener, generic, size) != 0 || ::listen(listener, 4096) != 0 ||
        ::getsockname(listener, generic, &size) != 0) {
        fail("no server socket on loopback");
    }
    std::printf("%d:%d\n", ntohs(address.sin_port), ::getpid());
    std::fflush(stdout);
    return listener;
}

/// False when the other side has closed.
bool answer(int fd) {
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) {
        return got < 0 && errno == EAGAIN;
    }
    // Requests of the client come whole.
    if (!std::string_view(buffer.data(), static_cast<std::size_t>(got)).ends_with(kHeadEnd)) {
        fail("a request that is not whole");
    }
    return ::send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kAnswer.size());
}

}  // namespace

int serve_http_floor() {
    const int listener = listen_on_loopback();
    const int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = listener;
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd == listener) {
                event.data.fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (event.data.fd >= 0) {
                    epoll_ctl(set, EPOLL_CTL_ADD, event.data.fd, &event);
                }
            } else if (!answer(fd)) {
                ::close(fd);
            }
        }
    }
}

}  // namespace bench
