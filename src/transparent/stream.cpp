#include <sys/stat.h>
#include <algorithm>
#include <optional>

#include "elsewhere.hpp"
#include "hooks.hpp"
#include "non_blocking_here.hpp"
#include "open_again.hpp"
#include "parts.hpp"
#include "poll.hpp"
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

ssize_t receive_now(int fd, const iovec* parts, int count) noexcept {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<std::size_t>(count);
    return ::recvmsg(fd, &message, MSG_DONTWAIT);
}

ssize_t read_now(int fd, Kind kind, const iovec* parts, int count) noexcept {
    if (is_socket(kind)) {
        if (TA_UNLIKELY(parts->iov_len == 0) && has_no_room(parts, count)) {  // to `recv` that is a wait like any other
            return ::readv(fd, parts, count);
        }
        return count == 1 ? ::recv(fd, parts->iov_base, parts->iov_len, MSG_DONTWAIT) : receive_now(fd, parts, count);
    }
    const ssize_t result = ::preadv2(fd, parts, count, -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    if (!is_ready(fd, POLLIN)) {
        return later();
    }
    return kind != Kind::Fifo ? ::readv(fd, parts, count)
                              : without_blocking(fd, O_RDONLY, [&](int own) { return ::readv(own, parts, count); });
}

ssize_t send_now(int fd, const iovec* parts, int count) noexcept {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<std::size_t>(count);
    return ::sendmsg(fd, &message, MSG_DONTWAIT);
}

/// What is no terminal takes what it is given for one record. Few devices say when they have room, so a thread finds out.
ssize_t write_record(DescriptorCall& call, int fd, Parts& parts) noexcept {
    ssize_t result = -1;
    int error = 0;
    const auto write_all = [&] {
        result = ::writev(fd, parts.data(), parts.count());
        error = errno;
    };
    struct stat status {};
    if (::fstat(fd, &status) == 0 && !S_ISCHR(status.st_mode)) {  // an event descriptor, whose room can be too little
        const NonBlockingHere here(fd);
        write_all();
    } else if (is_ready(fd, POLLOUT) || is_non_blocking(fd)) {
        write_all();
    } else {
        const Waited waited = run_attached(call.reactor(), WorkLane::file(), "write", write_all);
        if (waited == Waited::Blocks) {
            write_all();
        } else if (waited == Waited::Failed) {
            return -1;
        }
    }
    if (result >= 0) {
        parts.close();
    }
    errno = error;
    return result;
}

ssize_t write_now(DescriptorCall& call, int fd, Parts& parts) noexcept {
    if (is_socket(call.kind())) {
        return send_now(fd, parts.data(), parts.count());
    }
    const ssize_t result = ::pwritev2(fd, parts.data(), parts.count(), -1, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) {
        return result;
    }
    if (call.kind() == Kind::Device && ::isatty(fd) == 0) {
        return write_record(call, fd, parts);
    }
    if (call.kind() == Kind::Pipe) {  // one with room has room for this much at least
        return is_ready(fd, POLLOUT)
                   ? ::write(fd, parts.data()->iov_base, std::min<std::size_t>(parts.data()->iov_len, PIPE_BUF))
                   : later();
    }
    return without_blocking(fd, O_WRONLY, [&](int own) { return ::writev(own, parts.data(), parts.count()); });
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
        note_short_read(call.reactor(), fd);
    }
    return result;
}

ssize_t write_parts(DescriptorCall& call, int fd, Parts& parts) noexcept {
    return move_all(
        call, fd, parts, [&] { return write_now(call, fd, parts); },
        [&] { return ::writev(fd, parts.data(), parts.count()); }
    );
}

/// Waits for one of two ends; that the other is closed would be told only to who waits for it, too.
Waited wait_for_end(DescriptorCall& call, int fd, PollMask mask, int other) noexcept {
    pollfd both[] = {{other, 0, 0}, {fd, static_cast<short>(mask == PollMask::Readable ? POLLIN : POLLOUT), 0}};
    if (::poll(both, 1, 0) != 0) {  // what the other tells it would tell all the time
        return call.wait(mask);
    }
    const std::uint32_t files[] = {files_of(other), files_of(fd)};
    const Deadline limit = call.limit(mask);
    const int ready = poll_suspending(call.reactor(), both, limit);
    if (ready < 0) {
        return Waited::Failed;
    }
    const auto is_gone = [](const pollfd& one, std::uint32_t before) {
        return (one.revents & POLLNVAL) != 0 || files_of(one.fd) != before;
    };
    if (is_gone(both[0], files[0]) || is_gone(both[1], files[1])) {
        errno = EBADF;
        return Waited::Failed;
    }
    return ready == 0 && !limit.is_never() ? Waited::TimedOut : Waited::Ready;
}

/// Waits for both ends, then moves what there is.
ssize_t splice_later(
    DescriptorCall& call, int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags
) noexcept {
    DescriptorCall source(call.reactor(), from, kind_of(from));
    const auto block = [&] { return ::splice(from, from_offset, to, to_offset, size, flags); };
    WriteTurn turn(to);
    for (;;) {
        if (turn.wait_for_others() == Waited::Failed) {
            return -1;
        }
        const bool has_room = size == 0 || is_ready(to, POLLOUT);
        if (has_room && (size == 0 || is_ready(from, POLLIN))) {
            std::optional<NonBlockingHere> here;
            if (is_socket(call.kind())) {  // which does not look at the argument
                here.emplace(to);
            }
            const ssize_t result = ::splice(from, from_offset, to, to_offset, size, flags | SPLICE_F_NONBLOCK);
            if (result >= 0 || errno != EAGAIN) {
                return result;
            }
        }
        if (is_non_blocking(has_room ? from : to)) {
            return later();
        }
        switch (has_room ? wait_for_end(source, from, PollMask::Readable, to)
                         : wait_for_end(call, to, PollMask::Writable, from)) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                return later();
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return block();
        }
    }
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
            if (call.kind() == Kind::File || count <= 0 || count > IOV_MAX) {
                return ::readv(fd, parts, count);
            }
            if (is_socket(call.kind()) && !is_cut_off()) {  // the kernel looks at the pointers before we do
                const ssize_t result = receive_now(fd, parts, count);
                if (result >= 0 || errno != EAGAIN) {
                    return result;
                }
            }
            return read_parts(call, fd, parts, count);
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

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
    const auto original = [&] { return ::splice(from, from_offset, to, to_offset, size, flags); };
    if ((flags & SPLICE_F_NONBLOCK) != 0 || (!is_pipe(kind_of(from)) && !is_pipe(kind_of(to)))) {
        return original();
    }
    return on_descriptor(to, original, [&](DescriptorCall& call) {
        return splice_later(call, from, from_offset, to, to_offset, size, flags);
    });
}

ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
    return on_descriptor(
        to, [&] { return ::sendfile(to, from, offset, size); },
        [&](DescriptorCall& call) {
            if (call.kind() == Kind::File) {
                return ::sendfile(to, from, offset, size);
            }
            if (is_pipe(call.kind())) {  // to the kernel the same: what there is room for, also from what is no file
                return splice_later(call, from, offset, to, nullptr, size, 0);
            }
            std::size_t moved = 0;
            WriteTurn turn(to);
            if (turn.wait_for_others() == Waited::Failed) {
                return ssize_t{-1};
            }
            while (moved < size) {
                const ssize_t result = call.until_done(
                    PollMask::Writable,
                    [&] {
                        const NonBlockingHere here(to);
                        const ssize_t part = ::sendfile(to, from, offset, size - moved);
                        if (part < 0 && errno == EAGAIN && moved != 0) {
                            turn.take();
                        }
                        return part;
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

// At the place where the descriptor is these are the ones without an offset.
ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    return offset == -1 && flags == 0 ? hooked::readv(fd, parts, count) : ::preadv2(fd, parts, count, offset, flags);
}

ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    return offset == -1 && flags == 0 ? hooked::writev(fd, parts, count) : ::pwritev2(fd, parts, count, offset, flags);
}

ssize_t preadv64v2(int fd, const iovec* parts, int count, off64_t offset, int flags) {
    return hooked::preadv2(fd, parts, count, offset, flags);
}

ssize_t pwritev64v2(int fd, const iovec* parts, int count, off64_t offset, int flags) {
    return hooked::pwritev2(fd, parts, count, offset, flags);
}

ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room) {
    return size > room ? ::__read_chk(fd, buffer, size, room) : hooked::read(fd, buffer, size);
}

}  // namespace trueasync::hooked

namespace trueasync {

ssize_t suspending_read(int fd, void* buffer, std::size_t size) noexcept { return hooked::read(fd, buffer, size); }
ssize_t suspending_write(int fd, const void* data, std::size_t size) noexcept { return hooked::write(fd, data, size); }

}  // namespace trueasync
