#include <trueasync/api/net.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include "io.hpp"

namespace trueasync {

namespace {

using detail::check;
using detail::need_io;
using detail::throw_system;

SocketAddress parse(std::string_view text) {
    SocketAddress address;
    detail::check(SocketAddress::parse(text, address));
    return address;
}

SocketAddress unix_address(std::string_view path) {
    SocketAddress address;
    detail::check(SocketAddress::from_path(path, address));
    return address;
}

void set_option(int fd, int level, int option, int value) {
    if (::setsockopt(fd, level, option, &value, sizeof(value)) != 0) {
        throw_system(errno, "set an option of a socket");
    }
}

OwnedDescriptor open_for(const SocketAddress& address, int type, const char* verb) {
    OwnedDescriptor descriptor(open_socket(address.native_family(), type));
    if (!descriptor) {
        throw_system(errno, std::string(verb) + " " + address.to_string());
    }
    return descriptor;
}

OwnedDescriptor connect_stream(const SocketAddress& address, const Limit& limit, std::source_location where) {
    IoReactor& io = need_io("connect");
    OwnedDescriptor descriptor = open_for(address, SOCK_STREAM, "connect");
    check(DescriptorIo(io, descriptor.get(), limit, where).connect(address), [&] {
        return "connect " + address.to_string();
    });
    return descriptor;
}

}  // namespace

// --- Stream

std::string Stream::name() const {
    if (!is_open()) {
        return "a closed stream";
    }
    const SocketAddress address = peer();
    const std::string text = address && (address.family() != SocketAddress::Family::Unix || !address.path().empty())
                                 ? address.to_string()
                                 : std::string();
    return text.empty() ? "fd " + std::to_string(descriptor()) : text;
}

SocketAddress Stream::local() const { return local_address(descriptor()); }

SocketAddress Stream::peer() const {
    SocketAddress address;
    socklen_t size = SocketAddress::capacity();
    address.resize(is_open() && ::getpeername(descriptor(), address.buffer(), &size) == 0 ? size : 0);
    return address;
}

std::size_t Stream::read(std::span<std::byte> buffer, const Limit& limit, std::source_location where) {
    const IoOutcome outcome = DescriptorIo(need_io("read"), descriptor(), limit, where).read(buffer);
    check(outcome, [&] { return "read " + name(); });
    return outcome.count;
}

void Stream::read_exactly(std::span<std::byte> buffer, const Limit& limit, std::source_location where) {
    const Limit whole = limit.fixed(need_io("read").now());
    while (!buffer.empty()) {
        const std::size_t count = read(buffer, whole, where);
        if (count == 0) {
            throw_system(ENODATA, "read " + std::to_string(buffer.size()) + " more bytes from " + name());
        }
        buffer = buffer.subspan(count);
    }
}

std::string Stream::read_all(std::size_t most, const Limit& limit, std::source_location where) {
    const Limit whole = limit.fixed(need_io("read").now());
    return detail::collect(most, name(), [&](std::span<std::byte> buffer) { return read(buffer, whole, where); });
}

void Stream::write(std::span<const std::byte> data, const Limit& limit, std::source_location where) {
    check(DescriptorIo(need_io("write"), descriptor(), limit, where).send_all(data), [&] { return "write " + name(); });
}

void Stream::shutdown_write() {
    if (::shutdown(descriptor(), SHUT_WR) != 0) {
        throw_system(errno, "shut down " + name());
    }
}

// --- TCP

TcpStream TcpStream::connect(const SocketAddress& address, const Limit& limit, std::source_location where) {
    TcpStream stream(connect_stream(address, limit, where));
    stream.set_no_delay(true);
    return stream;
}

TcpStream TcpStream::connect(
    std::string_view host, std::uint16_t port, const Limit& limit, std::source_location where
) {
    const Limit whole = limit.fixed(need_io("connect").now());
    const std::vector<SocketAddress> addresses = resolve(host, port, whole, where);
    for (std::size_t i = 0;; ++i) {
        try {
            return connect(addresses[i], whole, where);
        } catch (const IoError&) {
            if (i + 1 == addresses.size()) {
                throw;
            }
        }
    }
}

void TcpStream::set_no_delay(bool is_on) { set_option(descriptor(), IPPROTO_TCP, TCP_NODELAY, is_on ? 1 : 0); }

// --- unix

UnixStream UnixStream::connect(std::string_view path, const Limit& limit, std::source_location where) {
    return UnixStream(connect_stream(unix_address(path), limit, where));
}

std::pair<UnixStream, UnixStream> UnixStream::pair() {
    int ends[2];
#if defined(__linux__)
    const int result = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
#else
    const int result = ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#endif
    if (result != 0) {
        throw_system(errno, "make a pair of sockets");
    }
    announce_opened(ends[0]);
    announce_opened(ends[1]);
    return {UnixStream(OwnedDescriptor(ends[0])), UnixStream(OwnedDescriptor(ends[1]))};
}

// --- servers

Listener Listener::listen(const SocketAddress& address, int backlog, bool reuse_port) {
    Listener listener;
    detail::check(open_listener(address, {.backlog = backlog, .reuse_port = reuse_port}, listener.descriptor_));
    listener.path_ = ListenerPath(address);
    return listener;
}

SocketAddress Listener::local() const { return local_address(descriptor()); }

Listener& Listener::operator=(Listener&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::move(other.descriptor_);
        path_ = std::move(other.path_);
    }
    return *this;
}

void Listener::close() noexcept {
    if (descriptor_) {
        path_.remove();
        descriptor_.close();
    }
}

OwnedDescriptor Listener::accept_one(SocketAddress* from, const Limit& limit, std::source_location where) {
    const IoOutcome outcome = DescriptorIo(need_io("accept"), descriptor(), limit, where).accept(from);
    check(outcome, [&] { return "accept " + (is_open() ? local().to_string() : "on a closed listener"); });
    return OwnedDescriptor(static_cast<int>(outcome.count));
}

TcpListener TcpListener::bind(const SocketAddress& address, int backlog, bool reuse_port) {
    return TcpListener(listen(address, backlog, reuse_port));
}

TcpListener TcpListener::bind(std::string_view address, int backlog, bool reuse_port) {
    return bind(parse(address), backlog, reuse_port);
}

TcpStream TcpListener::accept(SocketAddress* from, const Limit& limit, std::source_location where) {
    TcpStream stream(accept_one(from, limit, where));
    const int on = 1;
    ::setsockopt(stream.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // may be reset by now: reading tells
    return stream;
}

UnixListener UnixListener::bind(std::string_view path, int backlog) {
    return UnixListener(listen(unix_address(path), backlog, false));
}

UnixStream UnixListener::accept(const Limit& limit, std::source_location where) {
    return UnixStream(accept_one(nullptr, limit, where));
}

// --- UDP

UdpSocket UdpSocket::bind(const SocketAddress& address) {
    UdpSocket socket;
    socket.descriptor_ = open_for(address, SOCK_DGRAM, "bind");
    if (::bind(socket.descriptor(), address.data(), address.size()) != 0) {
        throw_system(errno, "bind " + address.to_string());
    }
    return socket;
}

UdpSocket UdpSocket::bind(std::string_view address) { return bind(parse(address)); }

void UdpSocket::connect(const SocketAddress& address) {
    if (::connect(descriptor(), address.data(), address.size()) != 0) {
        throw_system(errno, "connect " + address.to_string());
    }
}

UdpSocket::Datagram UdpSocket::receive(std::span<std::byte> buffer, const Limit& limit, std::source_location where) {
    Datagram datagram;
    const IoOutcome outcome =
        DescriptorIo(need_io("receive"), descriptor(), limit, where).receive(buffer, &datagram.from);
    check(outcome, [&] { return "receive on " + (is_open() ? local().to_string() : "a closed socket"); });
    datagram.size = outcome.count;
    return datagram;
}

void UdpSocket::send_to(
    std::span<const std::byte> data, const SocketAddress& to, const Limit& limit, std::source_location where
) {
    check(DescriptorIo(need_io("send"), descriptor(), limit, where).send(data, &to), [&] {
        return "send to " + to.to_string();
    });
}

void UdpSocket::send(std::span<const std::byte> data, const Limit& limit, std::source_location where) {
    check(DescriptorIo(need_io("send"), descriptor(), limit, where).send(data, nullptr), [&] {
        return "send from " + (is_open() ? local().to_string() : "a closed socket");
    });
}

SocketAddress UdpSocket::local() const { return local_address(descriptor()); }

}  // namespace trueasync
