#include "kind.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace trueasync::hooked {

constinit std::array<std::atomic<std::uint32_t>, kRemembered> numbers{};

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
        struct statfs system {};
        return ::fstatfs(fd, &system) == 0 && system.f_type == PIPEFS_MAGIC ? Kind::Pipe : Kind::Fifo;
    }
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode) ? Kind::File : Kind::Device;
}

}  // namespace

Kind ask_kind(int fd) noexcept {
    const std::uint32_t before = files_of(fd);
    const Kind kind = ask(fd);
    if (files_of(fd) == before) {
        set_kind(fd, kind);
    }
    return kind;
}

namespace {

/// Other threads close, too.
void replace(int fd, std::uint32_t kept, std::uint32_t added) noexcept {
    if (fd >= 0 && static_cast<std::size_t>(fd) < kRemembered) {
        std::atomic<std::uint32_t>& number = numbers[static_cast<std::size_t>(fd)];
        std::uint32_t before = number.load(std::memory_order_relaxed);
        while (!number.compare_exchange_weak(before, (before & kept) + added, std::memory_order_relaxed)) {}
    }
}

}  // namespace

void set_kind(int fd, Kind kind) noexcept { replace(fd, ~0xffU, static_cast<std::uint32_t>(kind)); }
void forget_file(int fd) noexcept { replace(fd, ~0xffU, 0x100); }

void forget_files(unsigned first, unsigned last) noexcept {
    for (std::size_t i = first; i <= last && i < kRemembered; ++i) {
        forget_file(static_cast<int>(i));
    }
}

bool is_non_blocking(int fd) noexcept { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

}  // namespace trueasync::hooked
