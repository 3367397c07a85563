#pragma once

/// @file trueasync/api/net.hpp
/// Sockets that read like blocking ones.

#include <span>
#include <string>
#include <string_view>
#include <trueasync/api/await.hpp>
#include <trueasync/api/resolve.hpp>
#include <trueasync/reactor/listen.hpp>

namespace trueasync {

/// A connected stream socket. Every call may suspend only its coroutine, takes a limit, and throws: `IoError` with the errno and what was
/// attempted ("read 127.0.0.1:8080: ECONNRESET (…)"), `TimeoutError`, `Cancellation`, `AsyncError` outside `run`.
///
/// Thread rule: the thread of its runtime.
/// Lifetime: closed by the destructor. One coroutine may read while another writes; closing ends both calls with EBADF.
/// Cancel safety: a read that is cancelled has taken nothing; after a write that was, nobody knows how much was sent.
class TA_API Stream {
public:
    Stream() noexcept = default;
    /// Takes over a connected, non-blocking socket.
    explicit Stream(OwnedDescriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

    /// At least one byte and at most `buffer.size()`; zero at the end.
    std::size_t read(
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    std::size_t read(
        std::span<char> buffer, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        return read(std::as_writable_bytes(buffer), limit, where);
    }

    /// Fills the buffer. `IoError` with ENODATA when the end comes first.
    void read_exactly(
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    void read_exactly(
        std::span<char> buffer, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        read_exactly(std::as_writable_bytes(buffer), limit, where);
    }

    /// Everything until the end. `IoError` with EMSGSIZE when that is more than `most`.
    std::string read_all(
        std::size_t most = SIZE_MAX,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

    /// All of it.
    void write(
        std::span<const std::byte> data,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    void write(
        std::string_view data, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        write(std::as_bytes(std::span(data)), limit, where);
    }

    /// Half-close: the other side reads the end after what was written.
    void shutdown_write();

    /// Ends calls under way with EBADF. Closing twice does nothing.
    void close() noexcept { descriptor_.close(); }

    bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
    int descriptor() const noexcept { return descriptor_.get(); }
    int release() noexcept { return descriptor_.release(); }
    SocketAddress local() const;
    SocketAddress peer() const;

protected:
    OwnedDescriptor descriptor_;

private:
    std::string name() const;
};

/// A TCP connection.
class TA_API TcpStream : public Stream {
public:
    using Stream::Stream;

    static TcpStream connect(
        const SocketAddress& address,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    /// Looks the name up and tries its addresses in turn; the error is that of the last one. The limit is for all of it.
    static TcpStream connect(
        std::string_view host,
        std::uint16_t port,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

    /// Small writes go out at once. On by default for connections made here.
    void set_no_delay(bool is_on);
};

/// A connection within the machine. `unix:` paths and, on Linux, abstract names with `@`.
class TA_API UnixStream : public Stream {
public:
    using Stream::Stream;

    static UnixStream connect(
        std::string_view path, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );
    /// Two ends of one connection.
    static std::pair<UnixStream, UnixStream> pair();
};

/// A server socket, TCP or unix.
class TA_API Listener {
public:
    Listener() noexcept = default;

    /// The address it really has: port 0 has become a number.
    SocketAddress local() const;
    int descriptor() const noexcept { return descriptor_.get(); }
    bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
    /// An `accept` under way ends with EBADF. A unix socket's path is removed, but not by the child of a fork.
    void close() noexcept;
    ~Listener() { close(); }
    Listener(Listener&& other) noexcept = default;
    Listener& operator=(Listener&& other) noexcept;

protected:
    static Listener listen(const SocketAddress& address, int backlog, bool reuse_port);
    OwnedDescriptor accept_one(SocketAddress* from, const Limit& limit, std::source_location where);

    OwnedDescriptor descriptor_;
    ListenerPath path_;
};

class TA_API TcpListener : public Listener {
public:
    TcpListener() noexcept = default;

    /// With `reuse_port` several listeners, in threads or processes, share the connections of one port.
    static TcpListener bind(const SocketAddress& address, int backlog = 4096, bool reuse_port = false);
    /// "127.0.0.1:8080", "[::]:80", "127.0.0.1:0".
    static TcpListener bind(std::string_view address, int backlog = 4096, bool reuse_port = false);

    /// The next connection. With EMFILE the connection stays in the queue: close something, then call again.
    TcpStream accept(
        SocketAddress* from = nullptr,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

private:
    explicit TcpListener(Listener&& listener) noexcept : Listener(std::move(listener)) {}
};

class TA_API UnixListener : public Listener {
public:
    UnixListener() noexcept = default;

    /// A file that is there already is an error (EADDRINUSE): remove it first if it is yours.
    static UnixListener bind(std::string_view path, int backlog = 4096);
    UnixStream accept(const Limit& limit = {}, std::source_location where = std::source_location::current());

private:
    explicit UnixListener(Listener&& listener) noexcept : Listener(std::move(listener)) {}
};

/// Datagrams.
class TA_API UdpSocket {
public:
    UdpSocket() noexcept = default;

    static UdpSocket bind(const SocketAddress& address);
    static UdpSocket bind(std::string_view address);
    /// Sends to and receives from one place only. Never suspends.
    void connect(const SocketAddress& address);

    struct Datagram {
        std::size_t size = 0;
        SocketAddress from;
    };
    /// One datagram; what does not fit into the buffer is lost.
    Datagram receive(
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    void send_to(
        std::span<const std::byte> data,
        const SocketAddress& to,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    /// To where it is connected.
    void send(
        std::span<const std::byte> data,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

    SocketAddress local() const;
    int descriptor() const noexcept { return descriptor_.get(); }
    bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
    void close() noexcept { descriptor_.close(); }

private:
    OwnedDescriptor descriptor_;
};

}  // namespace trueasync
