#include "kind.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <array>
#include <atomic>
#include <cstddef>

namespace trueasync::hooked {

namespace {

constexpr std::size_t kRemembered = 65536;  // beyond that the kernel is asked each time
std::array<std::atomic<Kind>, kRemembered> kinds{};

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

Kind kind_of(int fd) noexcept {
    const auto index = static_cast<std::size_t>(fd);
    if (fd < 0 || index >= kRemembered) {
        return ask(fd);
    }
    Kind kind = kinds[index].load(std::memory_order_relaxed);
    if (kind == Kind::Unknown) {
        kind = ask(fd);
        kinds[index].store(kind, std::memory_order_relaxed);
    }
    return kind;
}

bool is_closing(int fd) noexcept {
    return fd >= 0 && static_cast<std::size_t>(fd) < kRemembered &&
           kinds[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed) == Kind::Closing;
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
