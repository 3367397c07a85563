#include <algorithm>

#include "elsewhere.hpp"
#include "hooks.hpp"
#include "non_blocking_here.hpp"
#include "parts.hpp"
#include "thread_read.hpp"

extern "C" ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room);

namespace trueasync::hooked {

namespace {

/// Where the kernel cannot be told not to block: whether it would.
bool is_ready(int fd, short events) noexcept {
    pollfd one{fd, events, 0};
    return ::poll(&one, 1, 0) != 0;
}

ssize_t later() noexcept {
    errno = EAGAIN;
    return -1;
}

bool has_no_room(const iovec* parts, int count) noexcept {
    return std::all_of(parts, parts + count, [](const iovec& one) { return one.iov_len == 0; });
}

ssize_t read_now(int fd, Kind kind, const iovec* parts, int count) noexcept {
    if (is_socket(kind)) {
        if (TA_UNLIKELY(parts->iov_len == 0) && has_no_room(parts, count)) {  // to `recv` that is a wait like any other
            return ::readv(fd, parts, count);
        }
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(parts);
        message.msg_iovlen = static_cast<std::size_t>(count);
        return count == 1 ? ::recv(fd, parts->iov_base, parts->iov_len, MSG_DONTWAIT)
                          : ::recvmsg(fd, &message, MSG_DONTWAIT);
    }
    const ssize_t result = ::preadv2(fd, parts, count, -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    return is_ready(fd, POLLIN) ? ::readv(fd, parts, count) : later();
}

ssize_t write_now(int fd, Kind kind, const Parts& parts) noexcept {
    if (is_socket(kind)) {
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(parts.data());
        message.msg_iovlen = static_cast<std::size_t>(parts.count());
        return ::sendmsg(fd, &message, MSG_DONTWAIT);
    }
    const ssize_t result = ::pwritev2(fd, parts.data(), parts.count(), -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    // A pipe with room has room for this much at least.
    return is_ready(fd, POLLOUT)
               ? ::write(fd, parts.data()->iov_base, std::min<std::size_t>(parts.data()->iov_len, PIPE_BUF))
               : later();
}

/// Goes on after what the page cache had: the rest is read by a thread. Comes back short only at the end, as from any file.
ssize_t finish_read(DescriptorCall& call, int fd, const iovec& part, ssize_t first) noexcept {
    if (first < 0 && errno != EAGAIN) {
        return first;
    }
    Parts rest(part.iov_base, part.iov_len);
    rest.advance(static_cast<std::size_t>(std::max<ssize_t>(first, 0)));
    bool is_cached = first > 0;
    const std::uint32_t files = files_of(fd);
    const auto is_gone = [&] { return is_closing(fd) || files_of(fd) != files; };
    for (;;) {
        ssize_t result = is_cached ? ::preadv2(fd, rest.data(), 1, -1, RWF_NOWAIT) : -1;
        if (result < 0 && (!is_cached || errno == EAGAIN)) {
            const ThreadRead reading(fd);
            int error = 0;
            const auto read_rest = [&] {
                result = is_gone() ? -1 : ::readv(fd, rest.data(), 1);
                error = is_gone() && result < 0 ? EBADF : errno;
            };
            const Waited waited = run_attached(call.reactor(), WorkLane::file(), "read", read_rest);
            if (waited == Waited::Blocks) {
                read_rest();
            } else if (waited == Waited::Failed) {
                error = errno;
            }
            errno = error;
        }
        if (result <= 0) {
            return rest.moved() != 0 ? static_cast<ssize_t>(rest.moved()) : result;
        }
        rest.advance(static_cast<std::size_t>(result));
        if (rest.empty() || !is_cached || is_gone()) {
            return static_cast<ssize_t>(rest.moved());
        }
    }
}

/// Before a thread is asked, for whom a pipe would be a long wait: the number may have got another file behind our back.
bool is_still_file(int fd) noexcept {
    set_kind(fd, Kind::Unknown);
    return kind_of(fd) == Kind::File;
}

ssize_t read_parts(DescriptorCall& call, int fd, const iovec* parts, int count) noexcept {
    if (is_cut_off()) {
        return -1;
    }
    const ssize_t result = call.until_done(
        PollMask::Readable, [&] { return read_now(fd, call.kind(), parts, count); },
        [&] { return ::readv(fd, parts, count); }
    );
    if (count == 1 && result > 0 && static_cast<std::size_t>(result) < parts->iov_len && call.kind() == Kind::Stream) {
        call.reactor().mark_short(fd, PollMask::Readable);
    }
    return result;
}

ssize_t write_parts(DescriptorCall& call, int fd, Parts& parts) noexcept {
    return move_all(
        call, fd, parts, [&] { return write_now(fd, call.kind(), parts); },
        [&] { return ::writev(fd, parts.data(), parts.count()); }
    );
}

}  // namespace

ssize_t read(int fd, void* buffer, size_t size) {
    return on_descriptor(
        fd, [&] { return ::read(fd, buffer, size); },
        [&](DescriptorCall& call) {
            const iovec part{buffer, size};
            if (call.kind() == Kind::File) {
                const ssize_t result = ::preadv2(fd, &part, 1, -1, RWF_NOWAIT);
                if (result < 0 && errno == EOPNOTSUPP) {
                    return ::read(fd, buffer, size);
                }
                if (TA_UNLIKELY(result < 0 && errno == EAGAIN && !is_still_file(fd))) {
                    return read_parts(call, fd, &part, 1);
                }
                return result == static_cast<ssize_t>(size) || result == 0 ? result
                                                                           : finish_read(call, fd, part, result);
            }
            return read_parts(call, fd, &part, 1);
        }
    );
}

ssize_t readv(int fd, const iovec* parts, int count) {
    return on_descriptor(
        fd, [&] { return ::readv(fd, parts, count); },
        [&](DescriptorCall& call) {
            return call.kind() == Kind::File || count <= 0 || count > IOV_MAX ? ::readv(fd, parts, count)
                                                                              : read_parts(call, fd, parts, count);
        }
    );
}

ssize_t write(int fd, const void* data, size_t size) {
    return on_descriptor(
        fd, [&] { return ::write(fd, data, size); },
        [&](DescriptorCall& call) {
            if (call.kind() == Kind::File) {
                return ::write(fd, data, size);
            }
            Parts parts(data, size);
            return write_parts(call, fd, parts);
        }
    );
}

ssize_t writev(int fd, const iovec* parts, int count) {
    return on_descriptor(
        fd, [&] { return ::writev(fd, parts, count); },
        [&](DescriptorCall& call) {
            if (call.kind() == Kind::File || count <= 0 || count > IOV_MAX) {
                return ::writev(fd, parts, count);
            }
            Parts all(std::span(parts, static_cast<std::size_t>(count)));
            return all.empty() ? ::writev(fd, parts, count) : write_parts(call, fd, all);
        }
    );
}

ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
    return on_descriptor(
        to, [&] { return ::sendfile(to, from, offset, size); },
        [&](DescriptorCall& call) {
            if (call.kind() == Kind::File) {
                return ::sendfile(to, from, offset, size);
            }
            std::size_t moved = 0;
            while (moved < size) {
                const ssize_t result = call.until_done(
                    PollMask::Writable,
                    [&] {
                        const NonBlockingHere here(to);
                        return ::sendfile(to, from, offset, size - moved);
                    },
                    [&] { return ::sendfile(to, from, offset, size - moved); }
                );
                if (result <= 0) {
                    return moved != 0 ? static_cast<ssize_t>(moved) : result;
                }
                moved += static_cast<std::size_t>(result);
                if (is_non_blocking(to)) {
                    break;
                }
            }
            return static_cast<ssize_t>(moved);
        }
    );
}

static_assert(sizeof(off_t) == sizeof(off64_t));
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) { return hooked::sendfile(to, from, offset, size); }

ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room) {
    return size > room ? ::__read_chk(fd, buffer, size, room) : hooked::read(fd, buffer, size);
}

}  // namespace trueasync::hooked
