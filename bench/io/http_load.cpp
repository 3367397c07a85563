/// @file bench/io/http_load.cpp
/// The client of the HTTP figures, in a process of its own. It reads the processor clock of the servers from outside.

#include "http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include "support/suite.hpp"

namespace bench {

namespace {

/// Connections to one server, each with one request under way at a time.
class Client {
public:
    Client(Server server, std::size_t connections) : server_(server), set_(epoll_create1(EPOLL_CLOEXEC)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(server.port));
        for (std::size_t i = 0; i < connections; ++i) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (event.data.fd < 0 ||
                ::connect(event.data.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
                epoll_ctl(set_, EPOLL_CTL_ADD, event.data.fd, &event) != 0) {
                fail("the client cannot connect");
            }
            connections_.push_back(event.data.fd);
        }
        request(connections);  // nothing of a first time is counted
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() {
        for (const int fd : connections_) {
            ::close(fd);
        }
        ::close(set_);
    }

    /// Processor time of the server in nanoseconds for one of so many requests.
    double cost_of(std::size_t requests) {
        const std::int64_t before = server_cpu_ns();
        request(requests);
        return per_op(server_cpu_ns() - before, requests);
    }

    void request(std::size_t requests) {
        std::size_t sent = 0;
        for (; sent < requests && sent < connections_.size(); ++sent) {
            send(connections_[sent]);
        }
        std::array<epoll_event, 256> events{};
        for (std::size_t answered = 0; answered < requests;) {
            const int count = wait_for(events);
            for (int i = 0; i < count; ++i, ++answered) {
                const int fd = events[static_cast<std::size_t>(i)].data.fd;
                std::array<char, 256> answer;
                if (::read(fd, answer.data(), answer.size()) != static_cast<ssize_t>(kAnswer.size())) {
                    fail("a wrong answer");
                }
                if (sent < requests) {
                    send(fd);
                    ++sent;
                }
            }
        }
    }

private:
    /// Does not sleep: else a server that is slower than its client would pay for waking it, and a fast one would not.
    int wait_for(std::array<epoll_event, 256>& events) const {
        const Stopwatch watch;
        for (;;) {
            if (const int count = epoll_wait(set_, events.data(), static_cast<int>(events.size()), 0); count != 0) {
                return count;
            }
            if (watch.elapsed_ns() > 10'000'000'000) {
                fail("the server does not answer");
            }
        }
    }

    static void send(int fd) {
        if (::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kRequest.size())) {
            fail("a request could not be sent");
        }
    }

    /// Once it sleeps: until then the clock of another process says what it said at the last tick, milliseconds ago.
    std::int64_t server_cpu_ns() const {
        wait_until_asleep();
        clockid_t clock{};
        timespec time{};
        if (clock_getcpuclockid(server_.pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
            fail("the server has gone");
        }
        return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    }

    /// It says that it sleeps just before it does.
    void wait_until_asleep() const {
        const Stopwatch watch;
        for (int seen = 0; seen < 2;) {
            ::usleep(200);
            seen = is_asleep() ? seen + 1 : 0;
            if (watch.elapsed_ns() > 10'000'000'000) {
                fail("the server does not come to rest");
            }
        }
    }

    bool is_asleep() const {
        std::ifstream file("/proc/" + std::to_string(server_.pid) + "/stat");
        std::string text;
        std::getline(file, text);
        const std::size_t name_end = text.rfind(')');
        return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
    }

    Server server_;
    int set_;
    std::vector<int> connections_;
};

void want_descriptors(std::size_t count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, count));
    if (limit.rlim_cur < count || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        fail("the limit of descriptors is too low for this many connections");
    }
}

}  // namespace

Server parse_server(const char* text) {
    Server server;
    if (std::sscanf(text, "%d:%d", &server.port, &server.pid) != 2) {
        fail("a server is PORT:PID");
    }
    return server;
}

int compare_http(const Comparison& comparison) {
    want_descriptors(2 * comparison.connections + 32);
    Client floor(comparison.floor, comparison.connections);
    Client own(comparison.own, comparison.connections);
    std::vector<double> floor_samples;
    std::vector<double> own_samples;
    for (std::size_t round = 0; round <= comparison.rounds; ++round) {
        double floor_fastest = std::numeric_limits<double>::infinity();
        double own_fastest = floor_fastest;
        for (std::size_t slice = 0; slice < kSlices / 2; ++slice) {
            floor_fastest = std::min(floor_fastest, floor.cost_of(comparison.requests));
            own_fastest = std::min(own_fastest, own.cost_of(comparison.requests));
        }
        if (round > 0) {
            floor_samples.push_back(floor_fastest);
            own_samples.push_back(own_fastest);
        }
    }
    print_figure((std::string(comparison.name) + "_floor").c_str(), "ns", std::move(floor_samples));
    print_figure(comparison.name, "ns", std::move(own_samples));
    return 0;
}

int request_http(Server server, std::size_t connections, std::size_t requests) {
    want_descriptors(connections + 16);
    Client(server, connections).request(requests);
    return 0;
}

}  // namespace bench
