#include "kind.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace trueasync::hooked {

constinit std::array<std::atomic<Kind>, kRemembered> kinds{};

namespace {

Kind ask(int fd) noexcept {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        return Kind::Unknown;
    }
    if (S_ISSOCK(status.st_mode)) {
        int type = 0;
        socklen_t size = sizeof(type);
        ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
        return type == SOCK_STREAM ? Kind::Stream : Kind::Packets;
    }
    if (S_ISFIFO(status.st_mode)) {
        return Kind::Pipe;
    }
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode) ? Kind::File : Kind::Device;
}

}  // namespace

Kind ask_kind(int fd) noexcept {
    const Kind kind = ask(fd);
    set_kind(fd, kind);
    return kind;
}

void set_kind(int fd, Kind kind) noexcept {
    if (fd >= 0 && static_cast<std::size_t>(fd) < kRemembered) {
        kinds[static_cast<std::size_t>(fd)].store(kind, std::memory_order_relaxed);
    }
}

void forget_kinds(unsigned first, unsigned last) noexcept {
    for (std::size_t i = first; i <= last && i < kRemembered; ++i) {
        kinds[i].store(Kind::Unknown, std::memory_order_relaxed);
    }
}

bool is_non_blocking(int fd) noexcept { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

}  // namespace trueasync::hooked
