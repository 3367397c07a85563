#include <trueasync/reactor/listen.hpp>

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "fork_generation.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Listen, sizeof(ListenEvent));

bool set_option(int fd, int option) noexcept {
    const int on = 1;
    return ::setsockopt(fd, SOL_SOCKET, option, &on, sizeof(on)) == 0;
}

bool prepare(int fd, const SocketAddress& address, const ListenSettings& settings) noexcept {
    if (address.is_ip()) {
        if (!set_option(fd, SO_REUSEADDR)) {
            return false;
        }
#if defined(SO_REUSEPORT)
        if (settings.reuse_port && !set_option(fd, SO_REUSEPORT)) {
            return false;
        }
#endif
    }
    return ::bind(fd, address.data(), address.size()) == 0 && ::listen(fd, settings.backlog) == 0;
}

}  // namespace

Status open_listener(const SocketAddress& address, const ListenSettings& settings, OwnedDescriptor& descriptor) {
    OwnedDescriptor socket(open_socket(address.native_family(), SOCK_STREAM));
    if (!socket || !prepare(socket.get(), address, settings)) {
        const int error = errno;
        return system_failure(error, "listen on " + address.to_string());
    }
    descriptor = std::move(socket);
    return {};
}

ListenerPath::ListenerPath(const SocketAddress& address) : path_(address.path()) {
    if (path_.starts_with('@')) {
        path_.clear();
    }
    detail::watch_forks();
    fork_generation_ = detail::fork_generation();
}

void ListenerPath::remove() noexcept {
    if (!path_.empty() && fork_generation_ == detail::fork_generation()) {
        ::unlink(path_.c_str());
    }
    path_.clear();
}

SocketAddress local_address(int fd) noexcept {
    SocketAddress address;
    socklen_t size = SocketAddress::capacity();
    address.resize(fd >= 0 && ::getsockname(fd, address.buffer(), &size) == 0 ? size : 0);
    return address;
}

ListenEvent::ListenEvent(Reactor& reactor, OwnedDescriptor socket, const SocketAddress& address)
    : PollEvent(&reactor, EventType::Listen, socket.get(), PollMask::Readable),
      socket_(std::move(socket)),
      local_(local_address(socket_.get())),
      path_(address) {}

ListenEvent::~ListenEvent() = default;

Status ListenEvent::create(
    Reactor& reactor, const SocketAddress& address, Ref<ListenEvent>& event, const ListenSettings& settings
) {
    IoReactor* io = reactor.io();
    if (io == nullptr) {
        return Status::failure(
            ErrorCode::IllegalState,
            "listening needs a reactor that knows descriptors; this one has a virtual clock only"
        );
    }
    OwnedDescriptor socket;
    if (Status status = open_listener(address, settings, socket); !status) {
        return status;
    }
    event = Ref<ListenEvent>::adopt(new ListenEvent(reactor, std::move(socket), address));
    if (event->is_closed()) {
        event->let_go_of_socket();
        return event->refuse_ended();
    }
    io->introduce(*event);
    return {};
}

Status ListenEvent::accept(OwnedDescriptor& connection, SocketAddress* from) {
    if (!socket_) {
        return system_failure(EBADF, "accept on " + local_.to_string() + ", which is closed");
    }
    const int fd = accept_socket(socket_.get(), from);
    if (fd < 0) {
        const int error = errno;
        if (error == EAGAIN) {
            reactor()->io()->mark_drained(socket_.get(), PollMask::Readable);
        }
        return system_failure(error, "accept on " + local_.to_string());
    }
    connection = OwnedDescriptor(fd);
    return {};
}

void ListenEvent::let_go_of_socket() noexcept {
    if (!socket_) {
        return;
    }
    path_.remove();
    const int fd = socket_.release();
    if (reactor() != nullptr) {
        reactor()->io()->descriptor_closing(fd);
    }
    ::close(fd);
}

void ListenEvent::close_listener() noexcept {
    const Ref<ListenEvent> keep(this);
    let_go_of_socket();  // who waits is told by `on_lost`
    close();
}

void ListenEvent::on_destroy() noexcept {
    leave_loop();
    let_go_of_socket();
}

void ListenEvent::on_reactor_close() noexcept { let_go_of_socket(); }

void ListenEvent::on_lost(Error& /*error*/) noexcept {
    socket_.release();  // empty when it is us who close it; else it belongs to who does
    const Ref<Error> error =
        SystemError::make(EBADF, "wait for connections on " + local_.to_string() + ", which was closed meanwhile");
    PollEvent::on_lost(*error);
}

std::string ListenEvent::info() const { return "Listen(" + local_.to_string() + ")"; }

}  // namespace trueasync
