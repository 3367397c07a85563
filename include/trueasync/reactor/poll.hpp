#pragma once

/// @file trueasync/reactor/poll.hpp
/// Waiting for descriptors.

#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

/// Fires when a descriptor is readable, writable, disconnected, or has urgent data: whatever of `events` is the case, again and again
/// while it lasts. `triggered_events` says what it was; so does the result, a `PollMask*`.
///
/// Regular files are always readable and writable. The descriptor belongs to the caller, blocking or not, and its flags are not
/// touched. Close it with `IoReactor::descriptor_closing` before: those who wait get EBADF and the event is closed. An event
/// that was stopped meanwhile, and is started when the number belongs to another file, is refused with EBADF too.
/// Thread rule: that of its reactor.
/// Lifetime: may be dropped while active, and may outlive its reactor. With `mark_close_descriptor` it closes the descriptor at its end.
/// Cancel rule: a waiter that leaves does not disturb the others.
///
/// @snippet unit/reactor/poll_test.cpp  await_poll
class TA_API PollEvent : public ReactorEvent, protected DescriptorWatch {
public:
    /// Nothing is checked before `start`.
    static Ref<PollEvent> create(Reactor& reactor, int fd, PollMask events);

    int descriptor() const noexcept override { return watched_descriptor(); }
    PollMask events() const noexcept { return wanted(); }

    /// What it fired with last; for the parent of proxies what they fired with in the same turn is added.
    PollMask triggered_events() const noexcept { return triggered_; }

    [[nodiscard]] Status add_callback(Callback& callback) override;

    /// `Poll(fd=5, READABLE|WRITABLE)`.
    std::string info() const override;

protected:
    PollEvent(Reactor* reactor, EventType type, int fd, PollMask events) noexcept;

    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    void on_destroy() noexcept override;
    void on_ready(PollMask what) noexcept override;
    void on_lost(Error& error) noexcept override;

    /// Adds to what has been triggered in this turn.
    void record(PollMask what) noexcept;

private:
    friend class PollProxyEvent;

    PollMask triggered_ = PollMask::None;
    std::uint64_t triggered_turn_ = 0;
};

/// One of several who want different things of one descriptor: fires only for its own `events`, with its own `triggered_events`. Proxies
/// share the registration of their poll, which need not be active itself.
///
/// All rules are those of `PollEvent`. Closing the poll does not close its proxies; they cannot be started any more.
///
/// @snippet unit/reactor/poll_test.cpp  poll_proxy
class TA_API PollProxyEvent final : public PollEvent {
public:
    static Ref<PollProxyEvent> create(PollEvent& poll, PollMask events);

    PollEvent& poll() const noexcept { return *poll_; }

    /// `PollProxy(fd=5, READABLE)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void on_ready(PollMask what) noexcept override;

private:
    PollProxyEvent(PollEvent& poll, PollMask events) noexcept;

    const Ref<PollEvent> poll_;
};

/// Suspends until something of `mask` is ready. May suspend. Allocates nothing and makes no system call, except for the first wait for
/// a descriptor and a new kind of readiness.
///
/// For who reads and writes by himself: try first, wait only after EAGAIN, and say so (`IoReactor::mark_drained`, or `mark_short`).
/// What nobody has found to be over counts as ready, so `Ready` means "try again", not "it will succeed".
/// The descriptor must be announced: `descriptor_opened` after it was made if its number may have been used before, `descriptor_closing`
/// before it is closed, which ends the wait with `Failed` and EBADF. Whoever cannot do that takes a `PollEvent`.
///
/// @snippet unit/reactor/poll_test.cpp  wait_ready
TA_INLINE WaitResult wait_ready(
    IoReactor& reactor,
    int fd,
    PollMask mask,
    const WaitLimit& limit = {},
    std::source_location where = std::source_location::current()
) noexcept {
    return reactor.park_ready(fd, mask, limit, where);
}

}  // namespace trueasync
