#pragma once

/// @file trueasync/reactor/listen.hpp
/// Server sockets.

#include <string>
#include <trueasync/reactor/descriptor_io.hpp>
#include <trueasync/reactor/poll.hpp>

namespace trueasync {

struct ListenSettings {
    int backlog = 4096;       ///< connections that may wait; the system may allow fewer
    bool reuse_port = false;  ///< several sockets, in threads or processes, share the connections of one port
};

/// A bound, listening, non-blocking socket, announced. Addresses of connections that have just ended may be taken again.
/// Fails with a `SystemError`: "listen on 127.0.0.1:80: EACCES (…)".
[[nodiscard]] TA_API Status
open_listener(const SocketAddress& address, const ListenSettings& settings, OwnedDescriptor& descriptor);

/// The file that a listening unix socket leaves behind; none for other addresses. Only the process that made it removes it, not the child of
/// a fork.
class TA_API ListenerPath {
public:
    ListenerPath() noexcept = default;
    explicit ListenerPath(const SocketAddress& address);
    void remove() noexcept;

private:
    std::string path_;
    std::uint32_t fork_generation_ = 0;
};

/// Where a socket is bound: port 0 has become a number. Empty when that cannot be told.
TA_API SocketAddress local_address(int fd) noexcept;

/// A server socket, TCP or unix, as an event: fires while connections wait, again and again; `accept` takes them.
///
/// Thread rule: that of its reactor.
/// Lifetime: owns its socket; a unix socket's path is removed at the end, but not by the child of a fork. When its reactor closes it is closed with it.
/// Cancel rule: a waiter that leaves does not disturb the others, and no connection is lost: only `accept` takes one.
///
/// @snippet unit/reactor/listen_test.cpp  accept
class TA_API ListenEvent final : public PollEvent {
public:
    [[nodiscard]] static Status create(
        Reactor& reactor, const SocketAddress& address, Ref<ListenEvent>& event, const ListenSettings& settings = {}
    );

    /// Takes one connection without suspending; it is non-blocking and close-on-exec. Fails with EAGAIN when none waits. With EMFILE
    /// the connection stays in the queue and the event goes on firing: close something first.
    [[nodiscard]] Status accept(OwnedDescriptor& connection, SocketAddress* from = nullptr);

    /// Closes the socket. Those who wait get EBADF; connections that nobody has taken are refused by the system. Closing twice does
    /// nothing.
    void close_listener() noexcept;

    /// -1 once closed.
    int descriptor() const noexcept override { return socket_.get(); }
    const SocketAddress& local() const noexcept { return local_; }

    /// `Listen(127.0.0.1:8080)`.
    std::string info() const override;

protected:
    void on_destroy() noexcept override;
    void on_reactor_close() noexcept override;
    void on_lost(Error& error) noexcept override;

private:
    ListenEvent(Reactor& reactor, OwnedDescriptor socket, const SocketAddress& address);
    ~ListenEvent() override;
    void let_go_of_socket() noexcept;

    OwnedDescriptor socket_;
    SocketAddress local_;
    ListenerPath path_;
};

}  // namespace trueasync
