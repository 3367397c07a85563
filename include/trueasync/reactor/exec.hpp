#pragma once

/// @file trueasync/reactor/exec.hpp
/// Running a shell command.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <trueasync/reactor/process.hpp>
#include <trueasync/reactor/spawner.hpp>
#include <vector>

namespace trueasync {

/// What becomes of the command's output.
enum class ExecMode : std::uint8_t {
    Exec,       ///< kept as lines without white space at their ends
    System,     ///< passed on as it comes; the last line is kept
    Passthru,   ///< passed on as it comes
    ShellExec,  ///< kept as it is
};

/// `exec`, `system`, `passthru`, `shell_exec`.
TA_API std::string_view to_string(ExecMode mode) noexcept;

struct ExecOptions {
    ExecMode mode = ExecMode::Exec;
    std::string command = {};               ///< for `/bin/sh -c`
    std::optional<std::string> input = {};  ///< what the command reads; else `in`
    Stdio in = Stdio::inherit();            ///< not a pipe: that is what `input` is for
    Stdio err = Stdio::inherit();           ///< with a pipe it is kept in `ExecResult::errors`
    std::optional<std::vector<std::string>> environment = {};
    std::string working_directory = {};
    Duration timeout = Duration::zero();  ///< zero: none
    /// Where `System` and `Passthru` pass the output on to, on the loop's thread; must not suspend. Without one it goes to our standard
    /// output, which for `Passthru` the command then has itself.
    std::function<void(std::string_view)> sink = {};
};

struct ExecResult {
    std::vector<std::string> lines;  ///< `Exec`
    std::string last_line;           ///< `Exec`, `System`: without white space at its end
    std::string output;              ///< `ShellExec`
    std::string errors;              ///< with `err` a pipe
    ProcessExit exit;
    bool is_timed_out = false;
};

/// Runs a command with its first start, and fires when the command has ended and its output too, with a `const ExecResult*`. Keeps
/// everything that was asked for, however much it is.
///
/// At the `timeout` the command is killed with all its process group, and the event fires with the error `Timeout`; `result` has
/// what came until then. The command has a process group of its own, unless its standard input is our terminal. That the shell does
/// not find a program is no error: the shell says so and returns 127.
/// Thread rule: that of its reactor.
/// Lifetime: a command whose event is dropped before the end is killed, with its group; so is one that outlives the loop. In the child of a
/// fork the command belongs to the parent: the event fires with an error and does nothing to it.
/// Cancel rule: a waiter that leaves disturbs neither the others nor the command, which has to wait when it has written more than a pipe
/// holds and nobody is left to take it.
///
/// @snippet unit/reactor/exec_test.cpp  await_exec
class TA_API ExecEvent final : public ReactorEvent, private TimerNode {
public:
    static Ref<ExecEvent> create(Reactor& reactor, ExecOptions options);

    const ExecOptions& options() const noexcept { return options_; }
    bool is_finished() const noexcept { return is_finished_; }
    const ExecResult& result() const noexcept { return result_; }
    Error* error() const noexcept { return error_.get(); }
    /// Zero before the start.
    pid_t pid() const noexcept { return process_ != nullptr ? process_->pid() : 0; }

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Exec(shell_exec, ls -l)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    void on_destroy() noexcept override { give_up(); }
    void on_reactor_close() noexcept override { give_up(); }
    void on_fork() noexcept override;
    void on_deadline() noexcept override;

private:
    class Channel;
    class Listener;

    ExecEvent(Reactor& reactor, ExecOptions options) noexcept;
    ~ExecEvent() override;

    Status launch(IoReactor& io);
    Status watch_all(IoReactor& io);
    void on_input(Channel& channel) noexcept;
    void on_output(Channel& channel) noexcept;
    void take_output(std::string_view bytes);
    void take_lines(std::string_view bytes);
    void end_line();
    void drop(Channel& channel) noexcept;
    void advance() noexcept;
    void finish() noexcept;
    void kill_all() noexcept;
    void give_up() noexcept;
    bool is_of_parent() const noexcept;
    Ref<Error> lost_by_fork() const;

    ExecOptions options_;
    ExecResult result_;
    Ref<ProcessEvent> process_;
    Ref<Listener> listener_;
    std::unique_ptr<Channel> in_;
    std::unique_ptr<Channel> out_;
    std::unique_ptr<Channel> err_;
    std::unique_ptr<char[]> buffer_;
    std::string line_;         // not yet complete
    std::size_t written_ = 0;  // of the input
    Instant deadline_ = Instant::max();
    Ref<Error> error_;
    std::uint32_t fork_generation_ = 0;  // when the command began
    bool has_group_ = false;
    bool is_collecting_ = false;  // waiting for the end of the process
    bool is_finished_ = false;
};

}  // namespace trueasync
