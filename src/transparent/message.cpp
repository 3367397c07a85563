#include "hooks.hpp"
#include "parts.hpp"

extern "C" {
ssize_t __recv_chk(int fd, void* buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* buffer, size_t size, size_t room, int flags, sockaddr* address, socklen_t* length);
}

namespace trueasync::hooked {

namespace {

/// For calls that do not wait; who is told "later" would come back for ever.
template <typename Original>
ssize_t unless_closing(int fd, Original&& original) noexcept {
    if (TA_UNLIKELY(is_closing(fd))) {
        errno = EBADF;
        return -1;
    }
    const ssize_t result = original();
    if (TA_UNLIKELY(result < 0 && errno == EAGAIN) && !is_cut_off()) {
        errno = EAGAIN;
    }
    return result;
}

/// The frame of everything that receives; `receive(flags)` is the original.
template <typename Receive>
ssize_t receiving(int fd, int flags, Receive&& receive) noexcept {
    if ((flags & MSG_PEEK) == 0 && is_cut_off()) {
        return -1;
    }
    if ((flags & MSG_DONTWAIT) != 0) {
        return unless_closing(fd, [&] { return receive(flags); });
    }
    return on_descriptor(
        fd, [&] { return receive(flags); },
        [&](DescriptorCall& call) {
            return call.until_done(
                PollMask::Readable, [&] { return receive(flags | MSG_DONTWAIT); }, [&] { return receive(flags); }
            );
        }
    );
}

}  // namespace

ssize_t recv(int fd, void* buffer, size_t size, int flags) {
    if ((flags & (MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT)) != MSG_WAITALL) {
        const ssize_t result = receiving(fd, flags, [&](int how) { return ::recv(fd, buffer, size, how); });
        constexpr int kPlain = MSG_DONTWAIT | MSG_NOSIGNAL;
        if (result > 0 && static_cast<std::size_t>(result) < size && (flags & ~kPlain) == 0) {
            note_short_read(fd);
        }
        return result;
    }
    std::size_t got = 0;
    for (;;) {  // all of it, the end, or an error
        const ssize_t result = receiving(fd, flags & ~MSG_WAITALL, [&](int how) {
            return ::recv(fd, static_cast<std::byte*>(buffer) + got, size - got, how);
        });
        if (result <= 0) {
            return got != 0 ? static_cast<ssize_t>(got) : result;
        }
        got += static_cast<std::size_t>(result);
        if (got == size || suspending_reactor() == nullptr || kind_of(fd) != Kind::Stream || is_non_blocking(fd)) {
            return static_cast<ssize_t>(got);
        }
    }
}

ssize_t recvfrom(int fd, void* buffer, size_t size, int flags, sockaddr* address, socklen_t* length) {
    if (address == nullptr) {
        return hooked::recv(fd, buffer, size, flags);
    }
    const socklen_t room = length != nullptr ? *length : 0;
    return receiving(fd, flags, [&](int how) {
        if (length != nullptr) {
            *length = room;
        }
        return ::recvfrom(fd, buffer, size, how, address, length);
    });
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
    return receiving(fd, flags, [&](int how) { return ::recvmsg(fd, message, how); });
}

ssize_t send(int fd, const void* data, size_t size, int flags) {
    if ((flags & MSG_DONTWAIT) != 0) {
        return unless_closing(fd, [&] { return ::send(fd, data, size, flags); });
    }
    return on_descriptor(
        fd, [&] { return ::send(fd, data, size, flags); },
        [&](DescriptorCall& call) {
            Parts parts(data, size);
            const auto send_part = [&](int how) {
                return ::send(fd, parts.data()->iov_base, parts.data()->iov_len, how);
            };
            return move_all(
                call, fd, parts, [&] { return send_part(flags | MSG_DONTWAIT); }, [&] { return send_part(flags); }
            );
        }
    );
}

ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* address, socklen_t length) {
    if (address == nullptr) {
        return hooked::send(fd, data, size, flags);
    }
    const auto original = [&](int how) { return ::sendto(fd, data, size, how, address, length); };
    if ((flags & MSG_DONTWAIT) != 0) {
        return unless_closing(fd, [&] { return original(flags); });
    }
    return on_descriptor(
        fd, [&] { return original(flags); },
        [&](DescriptorCall& call) {
            return call.until_done(
                PollMask::Writable, [&] { return original(flags | MSG_DONTWAIT); }, [&] { return original(flags); }
            );
        }
    );
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    if ((flags & MSG_DONTWAIT) != 0) {
        return unless_closing(fd, [&] { return ::sendmsg(fd, message, flags); });
    }
    return on_descriptor(
        fd, [&] { return ::sendmsg(fd, message, flags); },
        [&](DescriptorCall& call) {
            if (call.kind() != Kind::Stream) {
                return call.until_done(
                    PollMask::Writable, [&] { return ::sendmsg(fd, message, flags | MSG_DONTWAIT); },
                    [&] { return ::sendmsg(fd, message, flags); }
                );
            }
            Parts parts(std::span<const iovec>(message->msg_iov, message->msg_iovlen));
            const auto send_parts = [&](int how) {
                msghdr rest = *message;
                rest.msg_iov = const_cast<iovec*>(parts.data());
                rest.msg_iovlen = static_cast<std::size_t>(parts.count());
                if (parts.moved() != 0) {  // descriptors that are sent along went with the first part
                    rest.msg_control = nullptr;
                    rest.msg_controllen = 0;
                }
                return ::sendmsg(fd, &rest, how);
            };
            return move_all(
                call, fd, parts, [&] { return send_parts(flags | MSG_DONTWAIT); }, [&] { return send_parts(flags); }
            );
        }
    );
}

ssize_t __recv_chk(int fd, void* buffer, size_t size, size_t room, int flags) {
    return size > room ? ::__recv_chk(fd, buffer, size, room, flags) : hooked::recv(fd, buffer, size, flags);
}

ssize_t __recvfrom_chk(
    int fd, void* buffer, size_t size, size_t room, int flags, sockaddr* address, socklen_t* length
) {
    return size > room ? ::__recvfrom_chk(fd, buffer, size, room, flags, address, length)
                       : hooked::recvfrom(fd, buffer, size, flags, address, length);
}

}  // namespace trueasync::hooked
