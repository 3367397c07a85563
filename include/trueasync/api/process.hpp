#pragma once

/// @file trueasync/api/process.hpp
/// Child processes whose pipes are read and written like files.

#include <source_location>
#include <trueasync/api/await.hpp>
#include <trueasync/api/file.hpp>
#include <trueasync/reactor/process.hpp>
#include <trueasync/reactor/spawner.hpp>

namespace trueasync {

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
    PipeWriter& in() noexcept { return in_; }
    PipeReader& out() noexcept { return out_; }
    PipeReader& err() noexcept { return err_; }

    ProcessEvent& event() const noexcept { return *event_; }

private:
    Process(Ref<ProcessEvent> event, const SpawnedProcess& process) noexcept;

    Ref<ProcessEvent> event_;
    PipeWriter in_;
    PipeReader out_;
    PipeReader err_;
};

}  // namespace trueasync
