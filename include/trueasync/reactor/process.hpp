#pragma once

/// @file trueasync/reactor/process.hpp
/// Waiting for the end of a child process.

#include <sys/types.h>
#include <string>
#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/reactor/reactor_event.hpp>
#include <trueasync/reactor/signal.hpp>

namespace trueasync {

/// How a process has ended.
struct ProcessExit {
    int code = 0;           ///< what it returned; 0 when a signal ended it
    int signal = 0;         ///< the signal that ended it; 0 when it ended by itself
    bool has_core = false;  ///< and left a core file

    /// It ended by itself, with code 0.
    bool is_success() const noexcept { return code == 0 && signal == 0; }
    bool operator==(const ProcessExit&) const = default;
};

/// `exit code 3`, `killed by SIGKILL`.
TA_API std::string to_string(const ProcessExit& exit);

/// Fires once when a child has ended, with a `const ProcessExit*`, and collects it: no zombie is left.
///
/// One event for a child, however many wait for it; who comes late gets the result too. If somebody else collects the child
/// (`waitpid` elsewhere, SIGCHLD being ignored) the event fires with the error ECHILD when the child has ended. What is no child of
/// this process, or collected already, is refused by `start` with the same error.
/// On Linux a pidfd is watched; elsewhere, and when there is none to be had, SIGCHLD is caught while somebody waits.
/// In the child of a fork the processes belong to the parent: waiting for them fails with ECHILD, at the latest when
/// they have ended.
/// Thread rule: that of its reactor.
/// Lifetime: may be dropped while active, and may outlive its reactor. A child whose event was dropped stays a zombie until somebody
/// collects it; `abandon` sees to that.
/// Cancel rule: a waiter that leaves disturbs neither the others nor the process.
///
/// @snippet unit/reactor/process_test.cpp  await_process
class TA_API ProcessEvent final : public ReactorEvent, private DescriptorWatch, private detail::SignalWatch {
public:
    static Ref<ProcessEvent> create(Reactor& reactor, pid_t pid);

    pid_t pid() const noexcept { return pid_; }

    /// It has ended and is collected, by us or by somebody else.
    bool is_finished() const noexcept { return is_finished_; }
    /// Means something once it is finished without an error.
    const ProcessExit& exit() const noexcept { return exit_; }
    /// Why there is no result; null if there is one or may be one.
    Error* error() const noexcept { return error_.get(); }

    /// Sends a signal. Refused with ESRCH once the process was collected: the number may belong to another one by now.
    [[nodiscard]] Status kill(int number) noexcept;

    /// Nobody will ask any more: the child is collected when it ends, by the loop as long as that turns, which it does not for
    /// this alone.
    void abandon() noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Process(pid=42)`, `Process(pid=42, exit code 0)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    void on_destroy() noexcept override { close_descriptor(); }
    void on_reactor_close() noexcept override;
    void on_fork() noexcept override { poke(); }
    void on_ready(PollMask what) noexcept override;
    void on_lost(Error& error) noexcept override;
    void on_signal() noexcept override;

private:
    ProcessEvent(Reactor& reactor, pid_t pid, int pidfd) noexcept;
    ~ProcessEvent() override;

    void look() noexcept;
    bool collect() noexcept;
    void finish() noexcept;
    void close_descriptor() noexcept;
    int pidfd() const noexcept { return is_open_ ? watched_descriptor() : -1; }

    pid_t pid_;
    bool is_open_;  // has a pidfd
    bool is_finished_ = false;
    ProcessExit exit_;
    Ref<Error> error_;
    Ref<ProcessEvent> self_;  // while abandoned
};

}  // namespace trueasync
