#pragma once

/// @file trueasync/reactor/io.hpp
/// One handle for whatever can be read and written, and one request for each read and write.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <trueasync/base/socket_address.hpp>
#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

class IoEvent;

/// What a handle is about. Unix sockets are pipes.
enum class IoKind : std::uint8_t { Pipe, File, Tcp, Udp, Tty };

/// `PIPE`, `FILE`, `TCP`, `UDP`, `TTY`.
TA_API std::string_view to_string(IoKind kind) noexcept;

/// What is true of a handle; a set.
enum class IoState : std::uint8_t {
    None = 0,
    Readable = 1,  ///< may be read
    Writable = 2,  ///< may be written
    Both = 3,
    Closed = 4,
    Eof = 8,      ///< the last read met the end; a file may grow, so reading is not refused
    Append = 16,  ///< a file that is written at its end only
};

constexpr IoState operator|(IoState a, IoState b) noexcept {
    return static_cast<IoState>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr IoState operator&(IoState a, IoState b) noexcept {
    return static_cast<IoState>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}
constexpr IoState operator~(IoState a) noexcept { return static_cast<IoState>(~static_cast<std::uint8_t>(a) & 31U); }

enum class IoOperation : std::uint8_t { Read, Write };

/// An open descriptor that a thread may still be working with when everyone else has let it go. Closed by the last holder.
class TA_API SharedDescriptor {
public:
    explicit SharedDescriptor(int fd) noexcept : fd_(fd) {}
    SharedDescriptor(const SharedDescriptor&) = delete;
    SharedDescriptor& operator=(const SharedDescriptor&) = delete;
    ~SharedDescriptor();

    int get() const noexcept { return fd_; }
    /// It belongs to somebody else from now on.
    void release() noexcept { fd_ = -1; }

private:
    int fd_;
};

namespace detail {

class FileJob;
/// The place of a request among those of its handle.
struct IoQueueTag;

}  // namespace detail

/// One read or write: fires once, when it is done or has failed; who asks later is told too. Made by `IoEvent`, which begins it at
/// once; waiting for it is not needed to have it done.
///
/// Thread rule: that of its reactor.
/// Lifetime: owns its buffer and holds its handle. Dropping it takes back what has not been done, as `cancel` does. Bytes of a stream
/// that were read for it and that nobody has looked at go back to the handle, for the next read.
/// Cancel rule: a waiter that leaves disturbs neither the request nor the other waiters.
class TA_API IoRequest final : public ReactorEvent, private ListNode<detail::IoQueueTag> {
public:
    IoEvent& io() const noexcept { return *io_; }
    IoOperation operation() const noexcept { return operation_; }
    /// How many bytes it is about; a read may end with fewer, a write only when it fails.
    std::size_t wanted() const noexcept { return wanted_; }

    /// Done, failed or cancelled.
    bool is_completed() const noexcept { return is_completed_; }
    /// Bytes moved so far, also when it failed in the middle. A completed read of zero bytes met the end.
    std::size_t transferred() const noexcept { return transferred_; }
    /// Why it failed; null when it did not, or not yet.
    Error* error() noexcept {
        mark_exception_caught();
        return error_.get();
    }

    /// What was read; empty before the end, and for writes. From now on the bytes are the caller's: they will not go back. Valid as long
    /// as the request.
    std::span<std::byte> data() noexcept;
    std::string_view text() noexcept {
        const auto bytes = data();
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    /// Where a datagram came from or goes to; empty for other kinds.
    SocketAddress address() const noexcept { return address_ != nullptr ? *address_ : SocketAddress(); }

    /// Ends it now with ECANCELED, unless it is completed. What was not read stays where it is. A write may have moved a part, see
    /// `transferred`. A thread that is at it goes on with the buffer, and nobody is told of what it does.
    void cancel() noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `IoRequest(READ 4096 of fd 5)`; later with `, done`, `, failed`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void on_destroy() noexcept override;
    void on_reactor_close() noexcept override;
    Error* unhandled_error() const noexcept override;

private:
    friend class IoEvent;
    friend class detail::FileJob;
    friend class IntrusiveList<IoRequest, detail::IoQueueTag>;

    enum class Where : std::uint8_t { Stream, Sequential, AtOffset };

    IoRequest(Reactor* reactor, IoEvent& io, IoOperation operation, std::size_t wanted) noexcept;
    ~IoRequest() override;

    std::string attempted() const;
    void finish(Ref<Error> error) noexcept;
    void finish_job(detail::FileJob& job) noexcept;
    void leave_job() noexcept;
    void take_back() noexcept;

    const Ref<IoEvent> io_;
    std::unique_ptr<std::byte[]> buffer_;
    std::unique_ptr<SocketAddress> address_;
    detail::FileJob* job_ = nullptr;  // until a thread is done with it
    Ref<Error> error_;
    std::size_t wanted_;
    std::size_t transferred_ = 0;
    std::uint64_t position_ = 0;  // where in the file; of a stream, how many bytes (or datagrams) were before
    IoOperation operation_;
    Where where_ = Where::Stream;
    bool is_completed_ = false;
    bool is_taken_ = false;  // somebody has looked at what was read
};

/// A descriptor that is read and written by requests. Any number may be under way; those of one direction are done in the order in
/// which they were made.
///
/// Pipes, sockets and terminals are made non-blocking and waited for by the reactor. Files are read and written by the threads of
/// `WorkLane::file`: requests with an offset at the same time, the others one after the other, each from where the one before it
/// ended. A write is done when all of it is; a read when there is something.
///
/// The handle as an event fires once, when it is closed by `close_descriptor`; waiting for that does not keep a program alive.
/// Thread rule: that of its reactor.
/// Lifetime: owns the descriptor and closes it at its end; the requests hold the handle. When its reactor closes it is closed with it.
/// Cancel rule: see `IoRequest`.
///
/// @snippet unit/reactor/io_test.cpp  requests
class TA_API IoEvent final : public ReactorEvent {
public:
    /// Takes over the descriptor. `state` says what may be done with it (`Readable`, `Writable`), and with `Append` that a file is
    /// written at its end. A descriptor that is no good is noticed by the first request.
    static Ref<IoEvent> create(Reactor& reactor, int fd, IoKind kind, IoState state = IoState::Both);

    /// What the descriptor seems to be; what is none of the others is a file.
    static IoKind kind_of(int fd) noexcept;

    IoKind kind() const noexcept { return kind_; }
    IoState io_state() const noexcept { return state_; }
    bool is(IoState what) const noexcept { return (state_ & what) == what; }
    /// -1 once closed.
    int descriptor() const noexcept override { return descriptor_ != nullptr ? descriptor_->get() : -1; }

    /// Up to `size` bytes, or one datagram, which is cut if it is longer.
    Ref<IoRequest> read(std::size_t size);
    /// All of `data`, which is copied; to a datagram socket as one datagram.
    Ref<IoRequest> write(std::span<const std::byte> data);
    Ref<IoRequest> write(std::string_view data) { return write(std::as_bytes(std::span(data))); }

    /// Files only. The position of the handle is not used and not moved. A handle that appends writes at the end all the same.
    Ref<IoRequest> read_at(std::uint64_t offset, std::size_t size);
    Ref<IoRequest> write_at(std::uint64_t offset, std::span<const std::byte> data);
    Ref<IoRequest> write_at(std::uint64_t offset, std::string_view data) {
        return write_at(offset, std::as_bytes(std::span(data)));
    }

    /// Datagram sockets only.
    Ref<IoRequest> send_to(std::span<const std::byte> data, const SocketAddress& to);

    /// Where the next request without an offset begins. Moves when one completes.
    std::uint64_t position() const noexcept { return position_; }
    void seek(std::uint64_t position) noexcept { position_ = position; }

    /// Closes the descriptor without waiting for anything. Requests that are under way end with ECANCELED. A thread that works on the
    /// file goes on, and the number is not used again before it has finished. Closing twice does nothing.
    void close_descriptor() noexcept;

    /// For work on other threads: keeps the number from being used again. Null once closed.
    std::shared_ptr<SharedDescriptor> share_descriptor() const noexcept { return descriptor_; }

    /// How many requests are not completed.
    std::size_t pending() const noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Io(FILE, fd=5)`.
    std::string info() const override;

protected:
    void on_destroy() noexcept override;
    void on_reactor_close() noexcept override;
    ActiveEvents* active_events() noexcept override { return nullptr; }

private:
    friend class IoRequest;
    friend class detail::FileJob;

    using Queue = IntrusiveList<IoRequest, detail::IoQueueTag>;

    /// The requests of one direction, and the wait for the descriptor on their behalf.
    class Side final : public DescriptorWatch {
    public:
        Side(IoEvent& io, int fd, PollMask mask) noexcept : DescriptorWatch(fd, mask), io_(io) {}
        void on_ready(PollMask what) noexcept override;
        void on_lost(Error& error) noexcept override;

        Queue requests;
        bool is_pumping = false;

    private:
        IoEvent& io_;
    };

    /// Bytes, or a datagram, that were read for a request which was dropped.
    struct Unread {
        std::unique_ptr<std::byte[]> buffer;
        std::size_t begin = 0;
        std::size_t end = 0;
        std::unique_ptr<SocketAddress> from;
    };

    IoEvent(Reactor& reactor, int fd, IoKind kind, IoState state) noexcept;
    ~IoEvent() override;

    Ref<IoRequest> make(
        IoOperation operation, std::size_t size, const std::byte* data, const SocketAddress* to = nullptr
    );
    Ref<IoRequest> submit(Ref<IoRequest> request, bool has_offset);
    Side& side_of(const IoRequest& request) noexcept {
        return request.operation() == IoOperation::Read ? reads_ : writes_;
    }
    IoReactor* watching() const noexcept { return reactor() != nullptr ? reactor()->io() : nullptr; }

    void pump(Side& side) noexcept;
    [[nodiscard]] bool attempt(IoRequest& request) noexcept;
    [[nodiscard]] int try_read(IoRequest& request) noexcept;
    [[nodiscard]] int try_write(IoRequest& request) noexcept;
    [[nodiscard]] bool read_unread(IoRequest& request) noexcept;
    void watch(Side& side) noexcept;
    void unwatch(Side& side) noexcept;
    void left(IoRequest& request) noexcept;
    void give_back(IoRequest& request) noexcept;

    [[nodiscard]] Status start_job(IoRequest& request, std::uint64_t offset) noexcept;
    void start_next() noexcept;
    void sequential_done(detail::FileJob& job, bool is_wanted) noexcept;

    void record_end(bool is_end) noexcept { state_ = is_end ? state_ | IoState::Eof : state_ & ~IoState::Eof; }
    void fail_all(const char* why, int number) noexcept;
    void let_go_of_descriptor() noexcept;

    std::shared_ptr<SharedDescriptor> descriptor_;
    const int number_;  // for people, also when closed
    const IoKind kind_;
    IoState state_;
    bool is_seekable_ = false;
    Side reads_;  // of a file: all requests without an offset
    Side writes_;
    Queue running_;                           // of a file: requests with an offset
    detail::FileJob* sequential_ = nullptr;   // what a thread does for `reads_`, or did for one that was dropped
    std::uint64_t position_ = 0;              // in the file
    std::uint64_t received_ = 0;              // bytes or datagrams read from a stream so far
    std::uint64_t taken_ = 0;                 // up to here they have been looked at
    std::map<std::uint64_t, Unread> unread_;  // by their place in the stream
};

}  // namespace trueasync
