#include "attempt.hpp"

namespace trueasync::hooked {

Deadline socket_limit(int fd, int option, Kind kind, IoReactor& reactor) noexcept {
    timeval limit{};
    socklen_t size = sizeof(limit);
    if (!is_socket(kind) || ::getsockopt(fd, SOL_SOCKET, option, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0)) {
        return Deadline::never();
    }
    const auto delay = std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec);
    return Deadline::at(Deadline::after(delay).resolve(reactor.now()));
}

}  // namespace trueasync::hooked
