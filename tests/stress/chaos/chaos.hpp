#pragma once

/// @file stress/chaos/chaos.hpp
/// What a scenario of the chaos program has at hand.
///
/// A scenario is a small program of several coroutines. Anybody in it may be cancelled at any time, even before he begins, so it
/// must be written as a careful program is: what others wait for is completed, closed or given back by a destructor. Then
/// nobody ever waits in vain, and everything the harness finds after a run is a defect of the library.

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stress/random.hpp>
#include <string>
#include <trueasync/reactor/virtual_reactor.hpp>
#include <trueasync/trueasync.hpp>
#include <utility>
#include <vector>

namespace trueasync::chaos {

using namespace std::chrono_literals;
using stress::Random;

class Run;
using Scenario = void (*)(Run& run);

/// Makes a scenario known; `SCENARIO` does.
struct Registration {
    Registration(const char* name, Scenario body);
};

/// Prints how to repeat the run, and ends the process.
[[noreturn]] void violation(const std::string& what);

inline void expect(bool is_true, const char* what) {
    if (!is_true) [[unlikely]] {
        violation(what);
    }
}

/// What scenarios fail with on purpose.
struct Mishap : std::runtime_error {
    Mishap() : std::runtime_error("mishap") {}
};

/// A value whose copies are counted: none may be left after a run.
class Counted {
public:
    Counted(int number = 0) noexcept : number_(number) { ++live; }
    Counted(const Counted& other) noexcept : number_(other.number_) { ++live; }
    Counted(Counted&& other) noexcept : number_(std::exchange(other.number_, -1)) { ++live; }
    Counted& operator=(const Counted& other) noexcept = default;
    Counted& operator=(Counted&& other) noexcept {
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
    ~Counted() { --live; }

    int number() const noexcept { return number_; }

    static inline std::atomic<long> live = 0;

private:
    int number_;
};

/// A value that must arrive: it is received once or comes back to its sender, and is never dropped on the way.
class Letter {
public:
    Letter(unsigned sender, unsigned number) noexcept : sender_(sender), number_(number), is_whole_(true) { ++live; }
    Letter(Letter&& other) noexcept
        : sender_(other.sender_), number_(other.number_), is_whole_(std::exchange(other.is_whole_, false)) {
        ++live;
    }
    Letter& operator=(Letter&&) = delete;
    ~Letter() {
        --live;
        expect(!is_whole_, "a value was lost");
    }

    unsigned sender() const noexcept { return sender_; }
    unsigned number() const noexcept { return number_; }
    /// False once it was moved from.
    bool is_whole() const noexcept { return is_whole_; }
    /// It has arrived, or has come back.
    void open() noexcept { is_whole_ = false; }

    static inline std::atomic<long> live = 0;

private:
    unsigned sender_;
    unsigned number_;
    bool is_whole_;
};

/// One scenario, once.
class Run {
public:
    explicit Run(std::uint64_t seed) : random(seed) {}

    Random random;
    unsigned strikes = 0;  ///< how many cancellations there were

    /// Nobody was cancelled: everything must have gone to its proper end.
    bool was_calm() const noexcept { return strikes == 0; }

    /// `check` is called by main when every coroutine has ended.
    void at_end(std::function<void()> check) { checks_.push_back(std::move(check)); }

    /// Nobody may wait for `event` in the end.
    template <typename E>
    void watch(Ref<E> event) {
        at_end([event = std::move(event)] {
            if (event->callback_count() != 0 || event->loop_ref_count() != 0) {
                violation("callbacks were left at " + event->info());
            }
        });
    }

    void check_end() {
        for (const std::function<void()>& check : std::exchange(checks_, {})) {
            check();
        }
    }

private:
    std::vector<std::function<void()>> checks_;
};

/// Some turns for the others, or some time.
inline void pause(Run& run, std::source_location where = std::source_location::current()) {
    switch (run.random.pick(4)) {
        case 0:
            sleep_for(run.random.duration(), where);
            break;
        case 1:
            suspend(where);
            [[fallthrough]];
        default:
            suspend(where);
    }
}

/// Clean-up that takes time, often.
class Lingering {
public:
    explicit Lingering(Run& run) : run_(run), is_quick_(run.random.one_in(2)) {}
    Lingering(const Lingering&) = delete;
    Lingering& operator=(const Lingering&) = delete;
    ~Lingering() {
        if (!is_quick_) {
            try {
                pause(run_);
            } catch (const Cancellation&) {}
        }
    }

private:
    Run& run_;
    bool is_quick_;
};

/// No limit, mostly; else a deadline.
inline Limit some_limit(Run& run, unsigned one_in = 3) {
    return run.random.one_in(one_in) ? Limit(run.random.duration()) : Limit();
}

/// Calls `action` when the last copy goes, wherever that is.
template <typename F>
std::shared_ptr<void> when_dropped(F action) {
    return std::shared_ptr<void>(nullptr, [action = std::move(action)](void*) mutable { action(); });
}

/// What may happen to everybody: limits, closed things, failures on purpose. True when nothing of that did. A cancellation goes
/// through, except that of a token.
template <typename F>
bool tolerate(F&& body) {
    try {
        body();
        return true;
    } catch (const Cancellation& cancellation) {
        if (cancellation.reason() != CancelReason::Token) {
            throw;
        }
    } catch (const AsyncError& error) {
        switch (error.code()) {
            case ErrorCode::Timeout:
            case ErrorCode::ChannelClosed:
            case ErrorCode::PoolClosed:
            case ErrorCode::ThreadPoolClosed:
            case ErrorCode::ServiceUnavailable:
            case ErrorCode::ScopeClosed:
            case ErrorCode::GroupClosed:
            case ErrorCode::Composite:
            case ErrorCode::Exception:  // several of them, of a pool's hooks
                break;
            default:
                violation(std::string("nobody expected this: ") + error.what());
        }
    } catch (const Mishap&) {}
    return false;
}

/// A coroutine whose failure is nobody's business, should nobody be left to ask for it.
template <typename F>
auto spawn_quiet(F&& function, std::source_location where = std::source_location::current()) {
    auto handle = spawn(std::forward<F>(function), where);
    handle.coroutine().mark_exception_handled();
    return handle;
}

}  // namespace trueasync::chaos

/// A scenario: `SCENARIO(name) { ... }` with `run` at hand. It runs in a coroutine of its own, which may be cancelled too, so what
/// other coroutines use must not lie on its stack.
#define SCENARIO(name)                                                              \
    static void name(::trueasync::chaos::Run& run);                                 \
    static const ::trueasync::chaos::Registration name##_registration{#name, name}; \
    static void name([[maybe_unused]] ::trueasync::chaos::Run& run)
