#include <trueasync/reactor/io.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "file_job.hpp"
#include "quiet_write.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Io, sizeof(IoEvent));

constexpr int kLater = -1;
constexpr int kAtATime = 64;  // requests that one report completes: others want their turn too

#if defined(MSG_NOSIGNAL)
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

const char* verb(IoOperation operation) noexcept { return operation == IoOperation::Read ? "read" : "write"; }

}  // namespace

std::string_view to_string(IoKind kind) noexcept {
    switch (kind) {
        case IoKind::Pipe:
            return "PIPE";
        case IoKind::File:
            return "FILE";
        case IoKind::Tcp:
            return "TCP";
        case IoKind::Udp:
            return "UDP";
        case IoKind::Tty:
            return "TTY";
    }
    return "?";
}

SharedDescriptor::~SharedDescriptor() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

// --- the request

IoRequest::IoRequest(Reactor* reactor, IoEvent& io, IoOperation operation, std::size_t wanted) noexcept
    : ReactorEvent(reactor, EventType::Io, Firing::OneShot), io_(&io), wanted_(wanted), operation_(operation) {}

IoRequest::~IoRequest() = default;

std::string IoRequest::attempted() const {
    return std::string(verb(operation_)) + " " + std::to_string(wanted_) + " bytes of fd " +
           std::to_string(io_->number_);
}

std::span<std::byte> IoRequest::data() noexcept {
    if (!is_completed_ || operation_ == IoOperation::Write || buffer_ == nullptr) {
        return {};
    }
    is_taken_ = true;
    if (where_ == Where::Stream) {
        io_->taken_ = std::max(io_->taken_, position_ + (io_->kind_ == IoKind::Udp ? 1 : transferred_));
    }
    return {buffer_.get(), transferred_};
}

void IoRequest::finish(Ref<Error> error) noexcept {
    ListNode<detail::IoQueueTag>::unlink();
    if (is_completed_ || is_closed()) {
        return;
    }
    is_completed_ = true;
    error_ = std::move(error);
    if (is_in_loop()) {
        notify(error_ == nullptr ? this : nullptr, error_.get()).ignore();
    } else {
        close();  // who asks later gets it from `replay`
    }
}

/// Nobody wants the result any more. What a thread has begun it ends for itself; what has not begun is not done.
void IoRequest::leave_job() noexcept {
    if (detail::FileJob* job = std::exchange(job_, nullptr)) {
        job->request = nullptr;
        if (WorkLane::file().cancel(*job)) {
            if (job->io != nullptr) {
                job->io->sequential_ = nullptr;
            }
            delete job;
        }
    }
}

void IoRequest::take_back() noexcept {
    leave_job();
    io_->left(*this);
}

void IoRequest::cancel() noexcept {
    if (is_completed_ || is_closed()) {
        return;
    }
    const Ref<IoRequest> keep(this);
    take_back();
    finish(SystemError::make(ECANCELED, attempted()));
}

Status IoRequest::enter_loop() {
    if (is_completed_) {
        return Status::failure(ErrorCode::EventClosed, "its end was kept from those who waited: " + info());
    }
    return {};
}

void IoRequest::on_destroy() noexcept {
    if (is_completed_) {
        io_->give_back(*this);
    } else {
        take_back();
    }
}

void IoRequest::on_reactor_close() noexcept {
    ListNode<detail::IoQueueTag>::unlink();
    if (job_ != nullptr) {
        std::exchange(job_, nullptr)->request = nullptr;
    }
}

Error* IoRequest::unhandled_error() const noexcept {
    return SystemError::number_of(error_.get()) == ECANCELED ? nullptr : error_.get();
}

bool IoRequest::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_completed_ && is_closed() &&
           hand_out(error_ == nullptr ? this : nullptr, error_.get(), callback, result, error);
}

std::string IoRequest::info() const {
    std::string text = operation_ == IoOperation::Read ? "IoRequest(READ " : "IoRequest(WRITE ";
    text += std::to_string(wanted_) + " of fd " + std::to_string(io_->number_);
    if (is_completed_) {
        text += error_ == nullptr ? ", done" : ", failed";
    }
    return text + ")";
}

// --- the handle

IoEvent::IoEvent(Reactor& reactor, int fd, IoKind kind, IoState state) noexcept
    : ReactorEvent(reactor, EventType::Io),
      number_(fd),
      kind_(kind),
      state_(state & (IoState::Both | IoState::Append)),
      reads_(*this, fd, PollMask::Readable),
      writes_(*this, fd, PollMask::Writable) {}

IoEvent::~IoEvent() = default;

Ref<IoEvent> IoEvent::create(Reactor& reactor, int fd, IoKind kind, IoState state) {
    auto io = Ref<IoEvent>::adopt(new IoEvent(reactor, fd, kind, state));
    io->descriptor_ = std::make_shared<SharedDescriptor>(fd);
    const int flags = ::fcntl(fd, F_GETFL);
    if (kind == IoKind::File) {
        const off_t position = ::lseek(fd, 0, SEEK_CUR);
        io->is_seekable_ = position >= 0;
        io->position_ = position >= 0 ? static_cast<std::uint64_t>(position) : 0;
        if (flags >= 0 && (flags & O_APPEND) != 0) {
            io->state_ = io->state_ | IoState::Append;
        } else if (flags >= 0 && io->is(IoState::Append)) {
            ::fcntl(fd, F_SETFL, flags | O_APPEND);
        }
    } else {
        if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
            ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
        }
        if (IoReactor* watching = io->watching()) {
            watching->introduce(io->reads_);
            watching->introduce(io->writes_);
        }
    }
    return io;
}

IoKind IoEvent::kind_of(int fd) noexcept {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        return IoKind::File;
    }
    if (S_ISSOCK(status.st_mode)) {
        int type = 0;
        socklen_t size = sizeof(type);
        ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
        if (type == SOCK_DGRAM) {
            return IoKind::Udp;
        }
        SocketAddress address;
        size = SocketAddress::capacity();
        address.resize(::getsockname(fd, address.buffer(), &size) == 0 ? size : 0);
        return address.is_ip() ? IoKind::Tcp : IoKind::Pipe;
    }
    if (S_ISFIFO(status.st_mode)) {
        return IoKind::Pipe;
    }
    return S_ISCHR(status.st_mode) && ::isatty(fd) == 1 ? IoKind::Tty : IoKind::File;
}

Ref<IoRequest> IoEvent::make(IoOperation operation, std::size_t size, const std::byte* data, const SocketAddress* to) {
    auto request = Ref<IoRequest>::adopt(new IoRequest(reactor(), *this, operation, size));
    request->buffer_.reset(new (std::nothrow) std::byte[std::max<std::size_t>(size, 1)]);
    if (request->buffer_ != nullptr && data != nullptr && size != 0) {
        std::memcpy(request->buffer_.get(), data, size);
    }
    if (to != nullptr) {
        request->address_ = std::make_unique<SocketAddress>(*to);
    } else if (kind_ == IoKind::Udp && operation == IoOperation::Read) {
        request->address_ = std::make_unique<SocketAddress>();
    }
    return request;
}

Ref<IoRequest> IoEvent::read(std::size_t size) { return submit(make(IoOperation::Read, size, nullptr), false); }

Ref<IoRequest> IoEvent::write(std::span<const std::byte> data) {
    return submit(make(IoOperation::Write, data.size(), data.data()), false);
}

Ref<IoRequest> IoEvent::read_at(std::uint64_t offset, std::size_t size) {
    auto request = make(IoOperation::Read, size, nullptr);
    request->position_ = offset;
    return submit(std::move(request), true);
}

Ref<IoRequest> IoEvent::write_at(std::uint64_t offset, std::span<const std::byte> data) {
    auto request = make(IoOperation::Write, data.size(), data.data());
    request->position_ = offset;
    return submit(std::move(request), true);
}

Ref<IoRequest> IoEvent::send_to(std::span<const std::byte> data, const SocketAddress& to) {
    return submit(make(IoOperation::Write, data.size(), data.data(), &to), false);
}

Ref<IoRequest> IoEvent::submit(Ref<IoRequest> request, bool has_offset) {
    const IoState needed = request->operation_ == IoOperation::Read ? IoState::Readable : IoState::Writable;
    int refusal = 0;
    if (reactor() == nullptr) {
        return request;  // born closed, and says why
    }
    if (descriptor_ == nullptr || is_closed() || !is(needed)) {
        refusal = EBADF;
    } else if (request->buffer_ == nullptr) {
        refusal = ENOMEM;
    } else if (has_offset && kind_ != IoKind::File) {
        refusal = ESPIPE;
    } else if (request->operation_ == IoOperation::Write && request->address_ != nullptr && kind_ != IoKind::Udp) {
        refusal = EDESTADDRREQ;
    }
    if (refusal != 0) {
        request->finish(SystemError::make(refusal, request->attempted()));
        return request;
    }
    if (kind_ == IoKind::File) {
        request->where_ = has_offset ? IoRequest::Where::AtOffset : IoRequest::Where::Sequential;
        if (has_offset) {
            running_.push_back(*request);
            if (Status status = start_job(*request, request->position_); !status) {
                request->finish(status.take());
            }
        } else {
            reads_.requests.push_back(*request);
            start_next();
        }
        return request;
    }
    if (IoReactor* io = nullptr; Status status = find_io(io)) {
        Side& side = side_of(*request);
        const bool is_first = side.requests.empty();
        side.requests.push_back(*request);
        if (is_first && !side.is_pumping) {
            pump(side);
        }
    } else {
        request->finish(status.take());
    }
    return request;
}

std::size_t IoEvent::pending() const noexcept {
    std::size_t count = 0;
    for (const Queue* queue : {&reads_.requests, &writes_.requests, &running_}) {
        for ([[maybe_unused]] const IoRequest& request : *queue) {
            ++count;
        }
    }
    return count;
}

// --- streams

void IoEvent::Side::on_ready(PollMask /*what*/) noexcept { io_.pump(*this); }

/// Somebody has closed our descriptor, or is about to: it is not ours any more.
void IoEvent::Side::on_lost(Error& /*error*/) noexcept {
    if (io_.descriptor_ != nullptr) {
        io_.descriptor_->release();
        io_.close_descriptor();
    }
}

void IoEvent::pump(Side& side) noexcept {
    const Ref<IoEvent> keep(is_ending() ? nullptr : this);
    side.is_pumping = true;
    for (int i = 0; i < kAtATime && !side.requests.empty(); ++i) {
        IoRequest& request = side.requests.front();
        if (request.is_closed()) {
            request.ListNode<detail::IoQueueTag>::unlink();
            continue;
        }
        const Ref<IoRequest> wanted(&request);
        if (!attempt(request)) {
            break;
        }
    }
    side.is_pumping = false;
    if (side.requests.empty()) {
        unwatch(side);
    } else {
        watch(side);
    }
}

/// False: not now. True: the request is completed.
bool IoEvent::attempt(IoRequest& request) noexcept {
    int error = 0;
    if (request.operation_ == IoOperation::Read) {
        error = try_read(request);
    } else {
        error = try_write(request);
    }
    if (error == kLater) {
        watching()->mark_drained(number_, side_of(request).wanted());
        return false;
    }
    request.finish(error != 0 ? SystemError::make(error, request.attempted()) : Ref<Error>());
    return true;
}

bool IoEvent::read_unread(IoRequest& request) noexcept {
    if (unread_.empty()) {
        return false;
    }
    auto node = unread_.extract(unread_.begin());
    Unread& piece = node.mapped();
    const std::size_t count = std::min(request.wanted_, piece.end - piece.begin);
    std::memcpy(request.buffer_.get(), piece.buffer.get() + piece.begin, count);
    request.transferred_ = count;
    request.position_ = node.key();
    if (kind_ == IoKind::Udp) {
        request.address_ = std::move(piece.from);
    } else if (piece.begin += count; piece.begin != piece.end) {
        node.key() += count;
        unread_.insert(std::move(node));
    }
    return true;
}

int IoEvent::try_read(IoRequest& request) noexcept {
    if (request.wanted_ == 0 && kind_ != IoKind::Udp) {
        return 0;  // the system's zero would look like the end
    }
    if (read_unread(request)) {
        return 0;
    }
    const int fd = descriptor_->get();
    ssize_t count = 0;
    do {
        if (kind_ == IoKind::Udp) {
            SocketAddress& from = *request.address_;
            socklen_t size = SocketAddress::capacity();
            count = ::recvfrom(fd, request.buffer_.get(), request.wanted_, 0, from.buffer(), &size);
            from.resize(count >= 0 ? size : 0);
        } else {
            count = ::read(fd, request.buffer_.get(), std::min<std::size_t>(request.wanted_, SSIZE_MAX));
        }
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EIO && kind_ == IoKind::Tty) {
        count = 0;  // the other side of the terminal has gone
    }
    if (count < 0) {
        return errno == EAGAIN ? kLater : errno;
    }
    request.transferred_ = static_cast<std::size_t>(count);
    request.position_ = received_;
    if (kind_ == IoKind::Udp) {
        ++received_;
    } else {
        received_ += request.transferred_;
        record_end(count == 0);
    }
    return 0;
}

int IoEvent::try_write(IoRequest& request) noexcept {
    const int fd = descriptor_->get();
    do {
        const std::byte* bytes = request.buffer_.get() + request.transferred_;
        const std::size_t rest = std::min<std::size_t>(request.wanted_ - request.transferred_, SSIZE_MAX);
        ssize_t count = 0;
        if (kind_ == IoKind::Udp) {
            const SocketAddress* to = request.address_.get();
            count = to != nullptr ? ::sendto(fd, bytes, rest, kNoSignal, to->data(), to->size())
                                  : ::send(fd, bytes, rest, kNoSignal);
        } else if (rest == 0) {
            return 0;
        } else if (kind_ == IoKind::Tcp) {
            count = ::send(fd, bytes, rest, kNoSignal);
        } else {
            count = detail::quiet_write(fd, bytes, rest);
        }
        if (count < 0 && errno != EINTR) {
            return errno == EAGAIN ? kLater : errno;
        }
        request.transferred_ += count > 0 ? static_cast<std::size_t>(count) : 0;
        if (kind_ == IoKind::Udp && count >= 0) {
            return 0;
        }
    } while (request.transferred_ < request.wanted_ || kind_ == IoKind::Udp);
    return 0;
}

void IoEvent::watch(Side& side) noexcept {
    if (side.is_watching() || descriptor_ == nullptr || watching() == nullptr) {
        return;
    }
    if (Status status = watching()->watch(side); !status) {
        while (!side.requests.empty()) {
            const Ref<IoRequest> request(&side.requests.front());
            const int number = SystemError::number_of(status.error());
            request->finish(number != 0 ? SystemError::make(number, request->attempted()) : Ref<Error>(status.error()));
        }
    }
}

void IoEvent::unwatch(Side& side) noexcept {
    if (side.is_watching() && watching() != nullptr) {
        watching()->unwatch(side);
    }
}

/// A request goes before it was done.
void IoEvent::left(IoRequest& request) noexcept {
    request.ListNode<detail::IoQueueTag>::unlink();
    if (kind_ == IoKind::File) {
        if (!is_closed()) {
            start_next();
        }
    } else if (Side& side = side_of(request); side.requests.empty() && !side.is_pumping) {
        unwatch(side);
    }
}

/// A request goes after it was done. What nobody has seen is not lost, unless something later has been seen already.
void IoEvent::give_back(IoRequest& request) noexcept {
    if (request.operation_ != IoOperation::Read || request.is_taken_ || request.error_ != nullptr ||
        descriptor_ == nullptr) {
        return;
    }
    if (kind_ == IoKind::File) {
        const bool is_last = position_ == request.position_ + request.transferred_;
        if (request.where_ == IoRequest::Where::Sequential && is_seekable_ && is_last && sequential_ == nullptr) {
            position_ = request.position_;
        }
        return;
    }
    if ((request.transferred_ == 0 && kind_ != IoKind::Udp) || request.position_ < taken_) {
        return;
    }
    unread_.emplace(
        request.position_, Unread{std::move(request.buffer_), 0, request.transferred_, std::move(request.address_)}
    );
    if (!reads_.requests.empty() && !reads_.is_pumping) {
        pump(reads_);
    }
}

// --- the end

void IoEvent::fail_all(const char* why, int number) noexcept {
    for (Queue* queue : {&reads_.requests, &writes_.requests, &running_}) {
        while (!queue->empty()) {
            const Ref<IoRequest> request(&queue->front());
            request->leave_job();
            request->finish(SystemError::make(number, request->attempted() + why));
        }
    }
}

void IoEvent::let_go_of_descriptor() noexcept {
    state_ = state_ | IoState::Closed;
    unwatch(reads_);
    unwatch(writes_);
    if (sequential_ != nullptr) {
        std::exchange(sequential_, nullptr)->io = nullptr;
    }
    if (const auto descriptor = std::exchange(descriptor_, nullptr); descriptor != nullptr && watching() != nullptr) {
        if (descriptor->get() >= 0) {
            watching()->descriptor_closing(descriptor->get());
        }
    }
}

void IoEvent::close_descriptor() noexcept {
    if (descriptor_ == nullptr) {
        return;
    }
    const Ref<IoEvent> keep(is_ending() ? nullptr : this);
    let_go_of_descriptor();
    fail_all(", which was closed meanwhile", ECANCELED);
    unread_.clear();
    if (is_in_loop()) {
        notify(this, nullptr).ignore();
    } else {
        close();
    }
}

void IoEvent::on_destroy() noexcept { let_go_of_descriptor(); }

void IoEvent::on_reactor_close() noexcept { let_go_of_descriptor(); }

bool IoEvent::replay(Callback* callback, void** result, Ref<Error>* /*error*/) {
    if (!is(IoState::Closed) || !is_closed() || reactor() == nullptr) {
        return false;
    }
    mark_result_used();
    if (callback != nullptr) {
        callback->call(*this, this, nullptr);
    }
    if (result != nullptr) {
        *result = this;
    }
    return true;
}

std::string IoEvent::info() const {
    return "Io(" + std::string(to_string(kind_)) + ", fd=" + std::to_string(number_) +
           (is(IoState::Closed) ? ", closed)" : ")");
}

}  // namespace trueasync
