#pragma once

/// @file trueasync/runtime/runtime.hpp
/// Everything that one thread needs to run coroutines.

#include <memory>
#include <trueasync/runtime/reactor.hpp>
#include <trueasync/runtime/scheduler.hpp>
#include <trueasync/runtime/stack_overflow.hpp>
#include <trueasync/runtime/stack_pool.hpp>

namespace trueasync {

struct RuntimeSettings {
    SchedulerSettings scheduler;
    StackPoolSettings stacks;
    /// How long coroutines may take to stop once a graceful shutdown has begun.
    Deadline shutdown_grace = Deadline::after(std::chrono::seconds(10));
    /// Whether a second error that nobody takes ends a graceful shutdown at once; if not, the first ones' clean-up goes on.
    bool second_error_ends = true;
    /// Whether a coroutine that runs out of stack is named before the process dies of it (a SIGSEGV handler, chained).
    bool report_overflow = true;
};

/// Owns the scheduler, the reactor and the stacks of one OS thread. Coroutines never leave it.
///
/// Life: `start` turns the running code into the main coroutine; `finish` is called when that code is done, runs what is left,
/// shuts down and closes the reactor.
///
/// A graceful shutdown begins on request, and by itself when an error finds nobody: (1) the flag is set and spawning is
/// refused, (2) every coroutine is cancelled but those that run `finally` handlers, those that never started are dropped,
/// (3) clean-up code runs, (4) what has not stopped when nothing moves any more, when the grace is over or when a second
/// error finds nobody, is named and abandoned (its stack is taken away; destructors on it do not run) and waiting
/// microtasks are dropped, (5) the reactor stops.
class TA_API Runtime {
public:
    enum class State : std::uint8_t { Created, Running, Stopping, Final, Stopped };

    explicit Runtime(std::unique_ptr<Reactor> reactor, RuntimeSettings settings = {});
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime();

    /// The runtime of this thread; null when none has been started.
    static Runtime* current() noexcept;

    /// The running code becomes the main coroutine, `main` if given (a host's own object). Refused when this thread already has
    /// a running runtime.
    [[nodiscard]] Status start(Coroutine* main = nullptr) noexcept;

    /// Main is done, with or without an error. Runs what is left, shuts down. Returns the error that ended the program: of main,
    /// the first that nobody took, or the deadlock.
    Ref<Error> finish(Ref<Error> main_error = {}) noexcept;

    /// Begins a graceful shutdown; everybody is cancelled with `cause` if that is a cancellation, else it becomes the previous error of
    /// theirs. Once is enough.
    void shutdown(Ref<Error> cause = {}) noexcept;

    /// An error that nobody took: reported, then the first begins a graceful shutdown and the second ends it.
    void unhandled(const Event* event, Error& error) noexcept;

    /// Adds a handler to the running coroutine, or to main if the scheduler has not started yet.
    void add_switch_handler(SwitchHandler handler);

    /// For subsystems of this thread that exist before any scheduler: copied into every main coroutine when it starts, and fired
    /// as `Enter`.
    static void add_main_start_handler(SwitchHandler handler);
    static void clear_main_start_handlers() noexcept;

    /// Who runs now, written without locks or allocation, for a signal handler. Returns the length.
    static std::size_t describe_running(char* buffer, std::size_t size, void* context) noexcept;

    State state() const noexcept { return state_; }
    bool is_accepting() const noexcept { return state_ == State::Running; }
    Scheduler& scheduler() noexcept { return scheduler_; }
    Reactor& reactor() noexcept { return *reactor_; }
    StackPool& stacks() noexcept { return stacks_; }
    const RuntimeSettings& settings() const noexcept { return settings_; }

    /// What was still in the loop when the reactor closed.
    const std::vector<std::string>& left_open() const noexcept { return left_open_; }

private:
    friend class Scheduler;

    class GraceTimer;

    /// Nothing is ready and nothing can make anyone ready.
    void stuck() noexcept;
    bool is_grace_over() const noexcept { return is_grace_over_; }
    void go_final() noexcept;
    void cancel_all(const Ref<Error>& cancellation) noexcept;
    void abandon_all() noexcept;

    RuntimeSettings settings_;
    std::unique_ptr<Reactor> reactor_;
    StackPool stacks_;
    Scheduler scheduler_;
    SwitchHandlers pending_handlers_;
    Ref<Coroutine> main_;
    Ref<Error> first_error_;
    std::unique_ptr<GraceTimer> grace_;
    std::unique_ptr<OverflowGuard> overflow_guard_;
    std::vector<std::string> left_open_;
    State state_ = State::Created;
    bool is_grace_over_ = false;
    bool was_cancelled_again_ = false;
};

}  // namespace trueasync
