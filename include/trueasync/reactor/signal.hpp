#pragma once

/// @file trueasync/reactor/signal.hpp
/// Waiting for POSIX signals.

#include <cstdint>
#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

/// `SIGINT`; `SIGRTMIN+1`; `signal 99` for what has no name.
TA_API std::string signal_name(int number);

/// Asked in the signal handler, with all that means, when a watched signal has come and a host's handler was there before the first watch:
/// whether to call that one, too. Without it, which is how a process starts, an earlier handler has its rest while a signal is watched.
using SignalChain = bool (*)(int number) noexcept;
TA_API void set_signal_chain(SignalChain wants) noexcept;

/// The host has just set an action for a signal. If it is watched, the watch gets it again, and what the host has set counts as the
/// earlier action: it is called as `set_signal_chain` says and comes back when the last watch leaves. Any thread.
TA_API void reclaim_signal(int number) noexcept;

namespace detail {

class SignalHub;
class SignalTable;

/// The place of a watch in the list of its loop.
struct SignalTag;

/// An event's interest in a signal; part of the event.
class TA_API SignalWatch : public ListNode<SignalTag> {
public:
    explicit SignalWatch(int number) noexcept : number_(number) {}
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    int watched_signal() const noexcept { return number_; }
    bool is_watching_signal() const noexcept { return hub_ != nullptr; }

    /// From here on the signal no longer has the effect it had before; each one is reported. Refused for what cannot be caught.
    [[nodiscard]] Status watch_signal(Reactor& reactor);

    /// The last watch of a signal to leave, in all threads, brings back what was there before the first.
    void unwatch_signal() noexcept;

    /// How many signals have come that were not taken yet.
    std::uint64_t pending_signals() const noexcept;
    std::uint64_t take_signals() noexcept;

    /// `on_signal` comes in the next turn, signal or not.
    void poke() noexcept;

protected:
    virtual ~SignalWatch() { unwatch_signal(); }

    /// There is something to take, or `poke` was called. On the loop's thread; may do anything but suspend.
    virtual void on_signal() noexcept = 0;

private:
    friend class SignalHub;
    friend class SignalTable;

    SignalHub* hub_ = nullptr;
    std::uint64_t seen_ = 0;
    int number_;
    bool is_poked_ = false;
};

}  // namespace detail

/// Fires when the process gets a signal, again and again while it is active.
///
/// There is one table per process: any number of events, in any threads, may wait for one signal and all of them fire. While one is
/// active the signal has no other effect. When the last one stops, the action that was there before the first is back, be it the
/// default one or a handler of the host. So who wants a signal twice keeps the event started between the waits: what comes while it is
/// active and nobody waits fires as soon as somebody does. Signals that come faster than the loop turns count as one; `count`
/// says how many there were. Signals of faults (SIGSEGV and its like) and those that cannot be caught are refused at the start.
/// After a fork the child waits as the parent does, but has nothing pending.
/// Thread rule: that of its reactor; signals may arrive in any thread.
/// Lifetime: may be dropped while active, and may outlive its reactor.
/// Cancel rule: a waiter that leaves does not disturb the others.
///
/// @snippet unit/reactor/signal_test.cpp  await_signal
class TA_API SignalEvent final : public ReactorEvent, private detail::SignalWatch {
public:
    /// Nothing is checked before `start`. Fires with a pointer to the number, as `const int*`.
    static Ref<SignalEvent> create(Reactor& reactor, int number);

    int number() const noexcept { return number_; }

    /// How many signals the last firing stood for.
    std::uint64_t count() const noexcept { return count_; }

    [[nodiscard]] Status add_callback(Callback& callback) override;

    /// `Signal(signum=2)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override { unwatch_signal(); }
    void on_signal() noexcept override;

private:
    SignalEvent(Reactor& reactor, int number) noexcept;

    int number_;
    std::uint64_t count_ = 0;
};

}  // namespace trueasync
