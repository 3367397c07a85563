#pragma once

/// @file trueasync/api/process.hpp
/// Child processes whose pipes are read and written like files.

#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <trueasync/api/await.hpp>
#include <trueasync/reactor/process.hpp>
#include <trueasync/reactor/spawner.hpp>

namespace trueasync {

/// Our end of a pipe to or from a child. Owns the descriptor.
///
/// Thread rule: the thread of the runtime it was made in.
/// Lifetime: may outlive the runtime; it can only be closed then.
/// Cancel safety: `read` loses nothing. What `write` has written before a cancellation, or a limit, is written.
class TA_API PipeEnd {
public:
    /// Closed.
    PipeEnd() noexcept = default;
    /// Takes over a non-blocking descriptor.
    explicit PipeEnd(int fd) noexcept;
    PipeEnd(PipeEnd&& other) noexcept : fd_(other.release()) {}
    PipeEnd& operator=(PipeEnd&& other) noexcept;
    ~PipeEnd() { close(); }

    /// At least one byte, at most as many as there is room for; 0 at the end. May suspend. Throws `AsyncError` (`System`),
    /// `TimeoutError`, `Cancellation`.
    std::size_t read(
        std::span<char> room, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );

    /// Everything until the end. May suspend.
    std::string read_all(const Limit& limit = {}, std::source_location where = std::source_location::current());

    /// All of it. May suspend. When nobody reads any more it throws EPIPE; no SIGPIPE is raised.
    void write(
        std::string_view bytes, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );

    /// The child sees the end of its input, or that nobody reads its output. Who is waiting here gets EBADF.
    void close() noexcept;

    bool is_open() const noexcept { return fd_ >= 0; }
    int descriptor() const noexcept { return fd_; }

    /// Gives the descriptor away; the pipe end is closed, the descriptor is not.
    int release() noexcept;

private:
    int fd_ = -1;
};

/// A child process.
///
/// Thread rule: the thread of the runtime it was made in.
/// Lifetime: dropping it closes our ends of the pipes and does not end the child, which is collected when it ends: no zombie is left.
/// Cancel safety: a cancelled `wait` changes nothing.
///
/// @snippet unit/api/process_test.cpp  process
class TA_API Process {
public:
    /// Starts a program. Does not suspend. Throws `AsyncError`: `System` with the errno and the path ("spawn /no/such: ENOENT ..."),
    /// `NotRunning` outside `run`.
    static Process start(const ProcessOptions& options);

    Process(Process&&) noexcept = default;
    Process& operator=(Process&& other) noexcept;
    ~Process();

    pid_t pid() const noexcept { return event_->pid(); }

    /// How it ended. May suspend until it does; does not when it has. Any number may wait. Throws `AsyncError` (`System`, ECHILD) when
    /// somebody else has collected it, `TimeoutError`, `Cancellation`.
    ProcessExit wait(const Limit& limit = {}, std::source_location where = std::source_location::current());

    /// Sends a signal. Throws `AsyncError` (`System`, ESRCH) once it was collected.
    void kill(int number);

    /// Where its input comes from and its output goes to, if `Stdio::pipe()` was asked for; else closed.
    PipeEnd& in() noexcept { return in_; }
    PipeEnd& out() noexcept { return out_; }
    PipeEnd& err() noexcept { return err_; }

    ProcessEvent& event() const noexcept { return *event_; }

private:
    Process(Ref<ProcessEvent> event, const SpawnedProcess& process) noexcept;

    Ref<ProcessEvent> event_;
    PipeEnd in_;
    PipeEnd out_;
    PipeEnd err_;
};

}  // namespace trueasync
