#pragma once

/// Trying without blocking, then waiting, then trying again.

#include <sys/socket.h>
#include <utility>

#include "kind.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

/// One call on a descriptor by a coroutine that can suspend.
class DescriptorCall {
public:
    DescriptorCall(IoReactor& reactor, int fd, Kind kind) noexcept : reactor_(reactor), fd_(fd), kind_(kind) {}

    Kind kind() const noexcept { return kind_; }
    IoReactor& reactor() const noexcept { return reactor_; }

    /// Calls `attempt`, which must not block, until its answer is not "later". `block` is the original call, for where it turns out to be
    /// impossible to suspend.
    template <typename Attempt, typename Block>
    auto until_done(PollMask mask, Attempt&& attempt, Block&& block) noexcept -> decltype(attempt()) {
        for (;;) {
            const auto result = attempt();
            if (TA_LIKELY(result >= 0 || errno != EAGAIN)) {
                return result;
            }
            if (is_non_blocking(fd_)) {
                errno = is_cut_off() ? ECANCELED : EAGAIN;
                return -1;
            }
            switch (wait(mask)) {
                case Waited::Ready:
                    break;
                case Waited::TimedOut:
                    errno = EAGAIN;
                    return -1;
                case Waited::Failed:
                    return -1;
                case Waited::Blocks:
                    return block();
            }
        }
    }

    /// Suspends; no longer than the socket's own limit for this direction, counted from the first wait.
    Waited wait(PollMask mask) noexcept;
    /// Until when.
    Deadline limit(PollMask mask) noexcept;

private:
    IoReactor& reactor_;
    int fd_;
    Kind kind_;
    bool has_deadline_ = false;
    Deadline deadline_;
};

/// Whether this process has sent descriptors through a unix socket: a plain read gets no more than the message they came with.
extern std::atomic<bool> are_descriptors_sent;

Descriptor::ShortRead ask_short_read(int fd) noexcept;

/// After a read from a stream that did not fill its buffer: the next wait need not ask whether there is more, unless reads of this one also end
/// where a message does.
inline void note_short_read(IoReactor& reactor, int fd) noexcept {
    using ShortRead = Descriptor::ShortRead;
    const Descriptor* descriptor = reactor.find(fd);
    if (descriptor == nullptr || !any(descriptor->ready & PollMask::Readable)) {
        return;
    }
    if (TA_UNLIKELY(descriptor->short_read == ShortRead::Unknown)) {
        reactor.set_short_read(fd, ask_short_read(fd));
    }
    if (descriptor->short_read == ShortRead::Drained ||
        (descriptor->short_read == ShortRead::Local && !are_descriptors_sent.load(std::memory_order_relaxed))) {
        reactor.mark_short(fd, PollMask::Readable);
    }
}

/// Nothing of `mask` is there, and the kernel will say when it is.
inline bool is_known_drained(IoReactor& reactor, int fd, PollMask mask) noexcept {
    const Descriptor* descriptor = reactor.find(fd);
    return descriptor != nullptr && descriptor->covers(mask) && !any(descriptor->ready & mask) &&
           descriptor->state == Descriptor::State::Registered;
}

/// The frame of every hook with a descriptor: `original()` where nothing can suspend, else `body(call)`.
template <typename Original, typename Body>
auto on_descriptor(int fd, Original&& original, Body&& body) noexcept -> decltype(original()) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return original();
    }
    const KeepErrno keep;
    const Kind kind = kind_of(fd);
    if (TA_UNLIKELY(is_closing(kind) || kind == Kind::Unknown)) {
        if (is_closing(kind)) {
            refuse_closing();
        }
        errno = EBADF;
        return -1;
    }
    DescriptorCall call(*reactor, fd, kind);
    Scheduler::look_on();
    const auto result = body(call);
    if (TA_UNLIKELY(result < 0 && errno == ENOTSOCK && is_socket(kind))) {  // was closed behind our back
        set_kind(fd, Kind::Unknown);
        DescriptorCall again(*reactor, fd, kind_of(fd));
        return is_socket(again.kind()) ? result : keep(body(again));
    }
    return keep(result);
}

}  // namespace trueasync::hooked
