#include "load.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "support/suite.hpp"

namespace bench {

namespace {

/// All connections have one message under way; whoever is answered sends the next.
bool run_load(const sockaddr* address, socklen_t size, std::size_t requests) {
    std::array<int, kConnections> connections{};
    const int set = epoll_create1(EPOLL_CLOEXEC);
    const std::array<char, kMessage> message{};
    for (int& fd : connections) {
        fd = ::socket(AF_INET, SOCK_STREAM, 0);
        const int on = 1;
        if (fd < 0 || ::connect(fd, address, size) != 0 ||
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
            return false;
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0) {
            return false;
        }
    }
    std::size_t sent = 0;
    std::size_t answered = 0;
    for (const int fd : connections) {
        if (sent < requests && ::write(fd, message.data(), kMessage) == static_cast<ssize_t>(kMessage)) {
            ++sent;
        }
    }
    std::array<epoll_event, kConnections> events{};
    while (answered < sent) {
        const int count = epoll_wait(set, events.data(), kConnections, 10'000);
        if (count <= 0) {
            return false;
        }
        for (int i = 0; i < count; ++i) {
            std::array<char, kMessage> answer{};
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (::read(fd, answer.data(), kMessage) != static_cast<ssize_t>(kMessage)) {
                return false;
            }
            ++answered;
            if (sent < requests) {
                if (::write(fd, message.data(), kMessage) != static_cast<ssize_t>(kMessage)) {
                    return false;
                }
                ++sent;
            }
        }
    }
    for (const int fd : connections) {
        ::close(fd);
    }
    return answered == requests;
}

}  // namespace

std::int64_t cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void pin(int processor) {
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        return;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

pid_t start_load(const sockaddr* address, socklen_t size, std::size_t requests) {
    const pid_t load = fork();
    if (load < 0) {
        fail("no process for the client");
    }
    if (load == 0) {
        pin(1);
        ::alarm(60);
        _exit(run_load(address, size, requests) ? 0 : 1);
    }
    return load;
}

void finish_load(pid_t load) {
    int status = 0;
    while (waitpid(load, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("the client of an echo server failed");
    }
}

int listen_on_loopback(sockaddr* address, socklen_t* size) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof(local)) != 0 || ::listen(fd, 128) != 0 ||
        ::getsockname(fd, address, size) != 0) {
        fail("no server socket on loopback");
    }
    return fd;
}

}  // namespace bench
