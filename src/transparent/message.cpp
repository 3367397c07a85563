#include <sys/ioctl.h>
#include <numeric>

#include "hooks.hpp"
#include "limited_backoff.hpp"
#include "parts.hpp"
#include "times.hpp"

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
        refuse_closing();
        errno = EBADF;
        return -1;
    }
    Scheduler::look_on();
    const ssize_t result = original();
    if (TA_UNLIKELY(result < 0 && errno == EAGAIN) && !is_cut_off()) {
        errno = EAGAIN;
    }
    return result;
}

bool is_unix(int fd) noexcept {
    int domain = 0;
    socklen_t size = sizeof(domain);
    return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/// Nothing more will come.
bool has_ended(int fd) noexcept {
    pollfd one{fd, POLLRDHUP, 0};
    return ::poll(&one, 1, 0) != 0;
}

/// Nothing is there but an error, which the next call that receives would take.
bool is_error_next(int fd) noexcept {
    pollfd one{fd, 0, 0};
    int size = 0;
    return ::poll(&one, 1, 0) != 0 && (one.revents & POLLERR) != 0 && ::ioctl(fd, FIONREAD, &size) == 0 && size == 0;
}

/// MSG_WAITALL on a stream: until `rest` is full, the end, or an error. The socket's limit counts for all pieces together.
template <typename Receive>
ssize_t receive_all(DescriptorCall& call, int fd, int flags, const Parts& rest, Receive&& receive) noexcept {
    const auto attempt = [&]() -> ssize_t {
        if (rest.moved() != 0 && is_error_next(fd)) {  // is for the caller's next call
            return 0;
        }
        return receive((flags & ~MSG_WAITALL) | MSG_DONTWAIT);
    };
    do {
        const ssize_t result = call.until_done(PollMask::Readable, attempt, [&] { return receive(flags); });
        if (result <= 0) {
            return rest.moved() != 0 ? static_cast<ssize_t>(rest.moved()) : result;
        }
    } while (!rest.empty() && !is_non_blocking(fd));
    return static_cast<ssize_t>(rest.moved());
}

/// MSG_WAITALL with MSG_PEEK. Pauses: what is looked at stays, so to the kernel the socket is ready all the time.
template <typename Receive>
ssize_t peek_all(DescriptorCall& call, int fd, int flags, std::size_t size, Receive&& receive) noexcept {
    const auto peek = [&] { return receive((flags & ~MSG_WAITALL) | MSG_DONTWAIT); };
    const auto block = [&] { return receive(flags); };
    LimitedBackoff backoff(call.reactor(), call_limit(fd, SO_RCVTIMEO));
    const std::uint32_t files = files_of(fd);
    for (bool is_last = false;;) {
        const ssize_t result = call.until_done(PollMask::Readable, peek, block);
        if (result <= 0 || static_cast<std::size_t>(result) >= size || is_last || is_non_blocking(fd)) {
            return result;
        }
        is_last = has_ended(fd);
        if (!is_last) {
            switch (backoff.wait()) {
                case Waited::Ready:
                    if (is_closing(fd) || files_of(fd) != files) {
                        errno = EBADF;
                        return -1;
                    }
                    break;
                case Waited::Blocks:
                    return block();
                default:
                    return result;
            }
        }
    }
}

/// The frame of everything that receives; `receive(flags)` is the original. `rest`: it asks for all of that, and takes off what it got.
template <typename Receive>
ssize_t receiving(int fd, int flags, Receive&& receive, const Parts* rest = nullptr) noexcept {
    if ((flags & MSG_PEEK) == 0 && is_cut_off()) {
        return -1;
    }
    if ((flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) != 0) {  // urgent data and errors are there or not
        return unless_closing(fd, [&] { return receive(flags); });
    }
    return on_descriptor(
        fd, [&] { return receive(flags); },
        [&](DescriptorCall& call) {
            if (rest != nullptr && call.kind() == Kind::Stream) {
                if ((flags & MSG_PEEK) == 0) {
                    return receive_all(call, fd, flags, *rest, receive);
                }
                if (!is_unix(fd)) {  // whose kernel part does not wait for more
                    const std::span all(rest->data(), static_cast<std::size_t>(rest->count()));
                    const auto add = [](std::size_t sum, const iovec& one) { return sum + one.iov_len; };
                    return peek_all(
                        call, fd, flags, std::accumulate(all.begin(), all.end(), std::size_t{0}, add), receive
                    );
                }
            }
            return call.until_done(
                PollMask::Readable, [&] { return receive(flags | MSG_DONTWAIT); }, [&] { return receive(flags); }
            );
        }
    );
}

bool wants_all(int flags) noexcept {
    return (flags & (MSG_WAITALL | MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) == MSG_WAITALL &&
           suspending_reactor() != nullptr;
}

/// Takes `result` off `rest`, unless it was only looked at.
ssize_t taken(Parts& rest, ssize_t result, int flags) noexcept {
    if (result > 0 && (flags & MSG_PEEK) == 0) {
        rest.advance(static_cast<std::size_t>(result));
    }
    return result;
}

/// With descriptors a message of a unix socket ends, whatever else is there.
bool has_descriptors(msghdr& message) noexcept {
    for (const cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr;
         one = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(one))) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS) {
            return true;
        }
    }
    return (message.msg_flags & MSG_CTRUNC) != 0;
}

/// They are about to be sent.
void note_descriptors(msghdr message) noexcept {
    message.msg_flags = 0;
    if (has_descriptors(message)) {
        are_descriptors_sent.store(true, std::memory_order_relaxed);
    }
}

ssize_t receive_whole_message(int fd, msghdr* message, int flags) noexcept {
    Parts rest(std::span<const iovec>(message->msg_iov, message->msg_iovlen));
    const msghdr wanted = *message;
    return receiving(
        fd, flags,
        [&](int how) {
            msghdr piece = wanted;
            piece.msg_iov = const_cast<iovec*>(rest.data());
            piece.msg_iovlen = static_cast<std::size_t>(rest.count());
            if (rest.moved() != 0) {
                piece.msg_name = nullptr;  // came with the first
            }
            const ssize_t result = ::recvmsg(fd, &piece, how);
            if (result > 0 || (result == 0 && rest.moved() == 0)) {
                if (rest.moved() == 0) {
                    message->msg_namelen = piece.msg_namelen;
                }
                message->msg_controllen = piece.msg_controllen;
                message->msg_flags = piece.msg_flags;
            }
            taken(rest, result, flags);
            if (result > 0 && has_descriptors(*message)) {
                rest.close();
            }
            return result;
        },
        &rest
    );
}

}  // namespace

ssize_t recv(int fd, void* buffer, size_t size, int flags) {
    if (TA_UNLIKELY(wants_all(flags))) {
        Parts rest(buffer, size);
        const auto receive = [&](int how) {
            return taken(rest, ::recv(fd, rest.data()->iov_base, rest.data()->iov_len, how), flags);
        };
        return receiving(fd, flags, receive, &rest);
    }
    const ssize_t result = receiving(fd, flags, [&](int how) { return ::recv(fd, buffer, size, how); });
    constexpr int kPlain = MSG_DONTWAIT | MSG_NOSIGNAL;
    if (result > 0 && static_cast<std::size_t>(result) < size && (flags & ~kPlain) == 0) {
        if (IoReactor* reactor = suspending_reactor(); reactor != nullptr && kind_of(fd) == Kind::Stream) {
            note_short_read(*reactor, fd);
        }
    }
    return result;
}

ssize_t recvfrom(int fd, void* buffer, size_t size, int flags, sockaddr* address, socklen_t* length) {
    if (address == nullptr) {
        return hooked::recv(fd, buffer, size, flags);
    }
    Parts rest(buffer, size);
    const auto receive = [&](int how) {
        const iovec part = *rest.data();
        if (rest.moved() != 0) {  // the address came with the first piece
            return taken(rest, ::recv(fd, part.iov_base, part.iov_len, how), flags);
        }
        return taken(rest, ::recvfrom(fd, part.iov_base, part.iov_len, how, address, length), flags);
    };
    return receiving(fd, flags, receive, wants_all(flags) ? &rest : nullptr);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
    if (TA_UNLIKELY(wants_all(flags)) && message != nullptr && message->msg_iovlen <= IOV_MAX) {
        return receive_whole_message(fd, message, flags);
    }
    const ssize_t result = receiving(fd, flags, [&](int how) { return ::recvmsg(fd, message, how); });
    if (result > 0 && message->msg_control != nullptr) {  // has to do with messages
        if (IoReactor* reactor = suspending_reactor()) {
            reactor->set_short_read(fd, Descriptor::ShortRead::Nothing);
        }
    }
    return result;
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
            if (call.kind() != Kind::Stream) {
                return call.until_done(
                    PollMask::Writable, [&] { return original(flags | MSG_DONTWAIT); }, [&] { return original(flags); }
                );
            }
            Parts parts(data, size);
            bool has_begun = false;  // to connect, with MSG_FASTOPEN, or to send
            const auto send_part = [&](int how) {
                const iovec part = *parts.data();
                const ssize_t result = has_begun ? ::send(fd, part.iov_base, part.iov_len, how & ~MSG_FASTOPEN)
                                                 : ::sendto(fd, part.iov_base, part.iov_len, how, address, length);
                has_begun = has_begun || result >= 0 || errno == EINPROGRESS;
                return result;
            };
            return move_all(
                call, fd, parts, [&] { return send_part(flags | MSG_DONTWAIT); }, [&] { return send_part(flags); }
            );
        }
    );
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    if (message != nullptr && message->msg_control != nullptr) {
        note_descriptors(*message);
    }
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
            bool has_begun = false;
            const auto send_rest = [&](Parts& parts) {
                const auto send_parts = [&](int how) {
                    msghdr rest = *message;
                    rest.msg_iov = const_cast<iovec*>(parts.data());
                    rest.msg_iovlen = static_cast<std::size_t>(parts.count());
                    if (parts.moved() != 0) {  // descriptors that are sent along went with the first part
                        rest.msg_control = nullptr;
                        rest.msg_controllen = 0;
                    }
                    if (has_begun || parts.moved() != 0) {
                        rest.msg_name = nullptr;
                        rest.msg_namelen = 0;
                        how &= ~MSG_FASTOPEN;
                    }
                    return ::sendmsg(fd, &rest, how);
                };
                return move_all(
                    call, fd, parts, [&] { return send_parts(flags | MSG_DONTWAIT); }, [&] { return send_parts(flags); }
                );
            };
            const auto send_whole = [&] {
                const ssize_t result = ::sendmsg(fd, message, flags | MSG_DONTWAIT);
                has_begun = result < 0 && errno == EINPROGRESS;
                return result;
            };
            // A first look, so that a pointer which is wrong is the kernel's to find out.
            if (message == nullptr) {
                return send_whole();
            }
            return send_all(
                call, fd, std::span<const iovec>(message->msg_iov, message->msg_iovlen), send_whole, send_rest
            );
        }
    );
}

int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
    const auto original = [&] { return ::recvmmsg(fd, messages, count, flags, timeout); };
    if ((flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) != 0) {
        return static_cast<int>(unless_closing(fd, [&] { return ssize_t{original()}; }));
    }
    return on_descriptor(fd, original, [&](DescriptorCall& call) {
        // The time is looked at after each message, so it does not end a wait.
        const Instant end =
            timeout != nullptr ? Deadline::after(to_duration(*timeout)).resolve(call.reactor().now()) : Instant::max();
        unsigned done = 0;
        do {
            const int result = call.until_done(
                PollMask::Readable,
                [&] { return ::recvmmsg(fd, messages + done, count - done, flags | MSG_DONTWAIT, nullptr); },
                [&] { return ::recvmmsg(fd, messages + done, count - done, flags, timeout); }
            );
            if (result < 0) {
                return done != 0 ? static_cast<int>(done) : result;
            }
            done += static_cast<unsigned>(result);
        } while (done < count && (flags & MSG_WAITFORONE) == 0 && call.reactor().now() < end && !is_non_blocking(fd));
        return static_cast<int>(done);
    });
}

int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
    if (suspending_reactor() == nullptr) {
        return ::sendmmsg(fd, messages, count, flags);
    }
    for (unsigned i = 0; i < count; ++i) {
        const ssize_t result = hooked::sendmsg(fd, &messages[i].msg_hdr, flags);
        if (result < 0) {
            return i != 0 ? static_cast<int>(i) : -1;
        }
        messages[i].msg_len = static_cast<unsigned>(result);
    }
    return static_cast<int>(count);
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
