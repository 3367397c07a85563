// Which ports of this machine are open? `port_scanner 1 1024` tries a range, 100 at a time, with a progress bar; without a range it
// opens three ports itself and must find them.

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <trueasync/trueasync.hpp>
#include <vector>

using namespace std::chrono_literals;
using namespace trueasync;

bool is_open(std::uint16_t port) {
    try {
        TcpStream::connect(SocketAddress::loopback(port), 1s);
        return true;
    } catch (const TimeoutError&) {
        return false;
    } catch (const IoError& error) {
        if (error.number() != ECONNREFUSED) {
            std::fprintf(stderr, "\n%s\n", error.what());
        }
        return false;
    }
}

void show(std::size_t done, std::size_t all) {
    if (isatty(STDERR_FILENO) == 0 && done != all) {
        return;  // a log wants one line, not a hundred
    }
    const std::size_t width = 40 * done / all;
    std::fprintf(
        stderr, "\r[%s%s] %zu of %zu", std::string(width, '#').c_str(), std::string(40 - width, '.').c_str(), done, all
    );
    if (done == all) {
        std::fprintf(stderr, "\n");
    }
}

/// At most `limit` connections at once: that many coroutines share the work.
std::vector<std::uint16_t> scan(const std::vector<std::uint16_t>& ports, std::size_t limit) {
    std::vector<std::uint16_t> found;
    std::size_t next = 0;
    std::size_t done = 0;
    std::vector<Handle<void>> workers;
    for (std::size_t i = 0; i < std::min(limit, ports.size()); ++i) {
        workers.push_back(spawn([&] {
            while (next < ports.size()) {
                const std::uint16_t port = ports[next++];
                if (is_open(port)) {
                    found.push_back(port);
                }
                show(++done, ports.size());
            }
        }));
    }
    for (auto& worker : workers) {
        await(worker);
    }
    std::sort(found.begin(), found.end());
    return found;
}

int main(int argc, char** argv) {
    if (argc != 1 && argc != 3) {
        std::fprintf(stderr, "usage: port_scanner [first last]\n");
        return 2;
    }
    return run([&] {
        std::vector<TcpListener> own;
        std::vector<std::uint16_t> ports;
        if (argc == 3) {
            for (int port = std::max(std::atoi(argv[1]), 1); port <= std::min(std::atoi(argv[2]), 65535); ++port) {
                ports.push_back(static_cast<std::uint16_t>(port));
            }
        } else {
            for (int i = 0; i < 3; ++i) {
                own.push_back(TcpListener::bind("127.0.0.1:0"));
                ports.push_back(own.back().local().port());
            }
            for (std::uint16_t port = 1; port <= 200; ++port) {
                ports.push_back(port);
            }
        }
        const std::vector<std::uint16_t> found = scan(ports, 100);
        for (const std::uint16_t port : found) {
            std::printf("%u is open\n", port);
        }
        return std::all_of(
                   own.begin(), own.end(),
                   [&](const TcpListener& listener) {
                       return std::binary_search(found.begin(), found.end(), listener.local().port());
                   }
               )
                   ? 0
                   : 1;
    });
}
