#pragma once

/// How a hooked call waits.

#include <algorithm>
#include <cerrno>
#include <trueasync/reactor/poll.hpp>

#include "state.hpp"

namespace trueasync::hooked {

/// errno is not touched by a call that succeeds.
class KeepErrno {
public:
    template <typename T>
    T operator()(T result) const noexcept {
        if (TA_LIKELY(result >= 0)) {
            errno = before_;
        }
        return result;
    }

private:
    int before_ = errno;
};

enum class Waited : std::uint8_t {
    Ready,     ///< try again
    TimedOut,  ///< the limit came first
    Failed,    ///< errno says why
    Blocks,    ///< suspending is impossible here: call the original
};

IoReactor* find_reactor() noexcept;

/// Of the running coroutine. Null: this is not a coroutine that can suspend, so the original is called.
TA_INLINE IoReactor* suspending_reactor() noexcept {
    return TA_LIKELY(detail::hot.current == nullptr) ? nullptr : find_reactor();
}

/// Whether the running coroutine may suspend in here; asked right before it does.
Waited before_wait() noexcept;

/// The running coroutine was cancelled inside a library that has not come back since. What it took now nobody would get, and "later" could
/// keep it trying for ever: errno is ECANCELED then.
TA_COLD bool is_cut_off_slow() noexcept;
TA_INLINE bool is_cut_off() noexcept {
    const TransparentHost* host = state.host;
    return TA_UNLIKELY(host != nullptr && host->cut_offs.load(std::memory_order_relaxed) != 0) && is_cut_off_slow();
}

/// Whether the running coroutine is inside a call on a handle that several use at once.
bool is_in_shared() noexcept;

/// What the end of a wait means to the caller of a C function.
Waited after_wait(WaitResult result) noexcept;

/// The host hears of a wait for `fd` that was cut off.
TA_COLD Waited tell_cut_off(Waited waited, int fd) noexcept;

/// Suspends until something of `mask` is ready. The descriptor has just said "later".
Waited wait_descriptor(IoReactor& reactor, int fd, PollMask mask, Deadline deadline) noexcept;

/// Suspends until `deadline`, also when that has passed: others run first.
Waited wait_time(Deadline deadline) noexcept;

/// Suspends for a turn, also who is cancelled. False: not here.
TA_COLD bool let_others_on() noexcept;

/// Before the answer that a descriptor is being closed. Who leaves gets it at once, and is out of his library before the descriptor goes; who asks
/// again and again lets the closer get on.
TA_COLD void refuse_closing() noexcept;
/// From now on, for those who wait for another descriptor.
void begin_refusing() noexcept;

/// For what the kernel has no event for: pauses that grow.
class Backoff {
public:
    Waited wait() noexcept {
        const Waited waited = wait_time(Deadline::after(pause_));
        pause_ = std::min<Duration>(pause_ * 2, std::chrono::milliseconds(32));
        return waited;
    }

private:
    Duration pause_ = std::chrono::milliseconds(1);
};

}  // namespace trueasync::hooked
