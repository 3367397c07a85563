#include <algorithm>
#include <deque>
#include <string>

#include "attempt.hpp"
#include "hooks.hpp"
#include "poll.hpp"
#include "times.hpp"

extern "C" {
int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, size_t room);
int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room);
}

namespace trueasync::hooked {

namespace {

constexpr short kReadable = POLLIN | POLLRDNORM;
constexpr short kWritable = POLLOUT | POLLWRNORM;

PollMask to_mask(short events) noexcept {
    PollMask mask = PollMask::None;
    mask |= (events & kReadable) != 0 ? PollMask::Readable : PollMask::None;
    mask |= (events & kWritable) != 0 ? PollMask::Writable : PollMask::None;
    mask |= (events & (POLLPRI | POLLRDBAND)) != 0 ? PollMask::Priority : PollMask::None;
    mask |= (events & POLLRDHUP) != 0 ? PollMask::Disconnect : PollMask::None;
    return any(mask) ? mask : PollMask::Disconnect;  // errors and ends are told without being asked for
}

std::string describe(const WaitGuard& /*wait*/) { return "poll of several descriptors"; }

/// One descriptor of several that a coroutine waits for.
class Watch final : public DescriptorWatch {
public:
    Watch(IoReactor& reactor, DirectWait& wait, int fd, PollMask mask) noexcept
        : DescriptorWatch(fd, mask), reactor_(reactor), wait_(wait) {}
    ~Watch() override { reactor_.unwatch(*this); }

    bool begin() noexcept {
        reactor_.introduce(*this);
        return reactor_.watch(*this).ok();
    }
    void on_ready(PollMask /*what*/) noexcept override { wait_.wake(); }
    void on_lost(Error& /*error*/) noexcept override { wait_.wake(); }

private:
    IoReactor& reactor_;
    DirectWait& wait_;
};

Waited tell_cut_off(Waited waited, std::span<const pollfd> descriptors) noexcept {
    for (const pollfd& one : descriptors) {
        tell_cut_off(waited, one.fd);
    }
    return waited;
}

Waited wait_many(IoReactor& reactor, std::span<const pollfd> descriptors, Deadline deadline) noexcept {
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    DirectWait wait(&describe);
    std::deque<Watch> watches;
    for (const pollfd& one : descriptors) {
        if (one.fd >= 0 && !watches.emplace_back(reactor, wait, one.fd, to_mask(one.events)).begin()) {
            return Waited::Blocks;
        }
    }
    ++reactor.active().visible;
    const WaitResult result = wait.park(deadline);
    --reactor.active().visible;
    return after_wait(result);
}

/// Where there is only one, what the reactor was told is the answer, unless it is more than "there is something".
bool answer_from_report(IoReactor& reactor, pollfd& one) noexcept {
    const PollMask ready = reactor.readiness(one.fd);
    if (any(ready & (PollMask::Disconnect | PollMask::Priority)) || !any(ready & to_mask(one.events))) {
        return false;
    }
    one.revents = static_cast<short>(
        one.events &
        ((any(ready & PollMask::Readable) ? kReadable : 0) | (any(ready & PollMask::Writable) ? kWritable : 0))
    );
    return true;
}

/// Nobody begins to wait for what is being closed.
int mark_closing(std::span<pollfd> descriptors) noexcept {
    int count = 0;
    for (pollfd& one : descriptors) {
        if (TA_UNLIKELY(is_closing(one.fd))) {
            one.revents = POLLNVAL;
            ++count;
        }
    }
    return count;
}

int block(IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline) noexcept {
    int rest = -1;
    if (!deadline.is_never()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.resolve({}) - reactor.now());
        rest = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT32_MAX));
    }
    return ::poll(descriptors.data(), descriptors.size(), rest);
}

int poll_one(IoReactor& reactor, pollfd& one, Deadline deadline) noexcept {
    const PollMask mask = to_mask(one.events);
    // Of which the end was seen needs not be asked about.
    bool is_drained = is_known_drained(reactor, one.fd, mask);
    for (bool is_first = true;; is_first = is_drained = false) {
        if (const int closing = mark_closing({&one, 1}); closing != 0) {
            return closing;
        }
        if (const int ready = is_drained ? 0 : ::poll(&one, 1, 0); ready != 0) {
            return ready;
        }
        if (!is_first && is_in_shared()) {
            return 0;
        }
        switch (wait_descriptor(reactor, one.fd, mask, deadline)) {
            case Waited::Ready:
                if (TA_LIKELY(answer_from_report(reactor, one))) {
                    return 1;
                }
                break;
            case Waited::TimedOut:
                return ::poll(&one, 1, 0);
            case Waited::Failed:
                if (errno == EBADF) {  // closed meanwhile
                    one.revents = POLLNVAL;
                    return 1;
                }
                return -1;
            case Waited::Blocks:
                return block(reactor, {&one, 1}, deadline);
        }
    }
}

}  // namespace

int poll_suspending(IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline) noexcept {
    const std::size_t count = descriptors.size();
    deadline = reactor.fixed(deadline);
    if (TA_LIKELY(count == 1 && descriptors[0].fd >= 0)) {
        return poll_one(reactor, descriptors[0], deadline);
    }
    for (bool is_first = true;; is_first = false) {
        const int ready = ::poll(descriptors.data(), count, 0);
        if (const int closing = mark_closing(descriptors); closing != 0 || ready != 0) {
            return std::max(ready, closing);
        }
        if (!is_first && is_in_shared()) {
            return 0;
        }
        Waited waited = Waited::Ready;
        if (count == 0) {
            waited = wait_time(deadline);
            waited = waited == Waited::Ready ? Waited::TimedOut : waited;
        } else {
            waited = tell_cut_off(wait_many(reactor, descriptors, deadline), descriptors);
        }
        switch (waited) {
            case Waited::Ready:
                break;
            case Waited::TimedOut:
                return ::poll(descriptors.data(), count, 0);
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return block(reactor, descriptors, deadline);
        }
    }
}

int poll(pollfd* descriptors, nfds_t count, int timeout) {
    IoReactor* reactor = timeout != 0 ? suspending_reactor() : nullptr;
    if (reactor == nullptr) {
        return ::poll(descriptors, count, timeout);
    }
    const KeepErrno keep;
    const Deadline deadline = timeout < 0 ? Deadline::never() : Deadline::after(std::chrono::milliseconds(timeout));
    return keep(
        TA_LIKELY(count == 1 && descriptors->fd >= 0) ? poll_one(*reactor, *descriptors, reactor->fixed(deadline))
                                                      : poll_suspending(*reactor, {descriptors, count}, deadline)
    );
}

int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    const bool is_zero = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    IoReactor* reactor = is_zero || (timeout != nullptr && !is_valid(timeout)) ? nullptr : suspending_reactor();
    if (reactor == nullptr) {
        return ::ppoll(descriptors, count, timeout, mask);
    }
    const KeepErrno keep;
    if (mask != nullptr) {  // signals that are let in come now; while it sleeps they come as ever
        const timespec zero{};
        if (const int ready = ::ppoll(descriptors, count, &zero, mask); ready != 0) {
            return keep(ready);
        }
    }
    const Deadline deadline = timeout == nullptr ? Deadline::never() : Deadline::after(to_duration(*timeout));
    return keep(poll_suspending(*reactor, {descriptors, count}, deadline));
}

int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, size_t room) {
    return room / sizeof(pollfd) < count ? ::__poll_chk(descriptors, count, timeout, room)
                                         : hooked::poll(descriptors, count, timeout);
}

int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room) {
    return room / sizeof(pollfd) < count ? ::__ppoll_chk(descriptors, count, timeout, mask, room)
                                         : hooked::ppoll(descriptors, count, timeout, mask);
}

int epoll_pwait(int set, epoll_event* events, int count, int timeout, const sigset_t* mask) {
    IoReactor* reactor = timeout != 0 ? suspending_reactor() : nullptr;
    if (reactor == nullptr) {
        return ::epoll_pwait(set, events, count, timeout, mask);
    }
    const KeepErrno keep;
    int ready = ::epoll_pwait(set, events, count, 0, mask);
    if (ready == 0) {
        pollfd one{set, POLLIN, 0};
        const Deadline deadline = timeout < 0 ? Deadline::never() : Deadline::after(std::chrono::milliseconds(timeout));
        ready = poll_suspending(*reactor, {&one, 1}, deadline);
        ready = ready > 0 ? ::epoll_pwait(set, events, count, 0, mask) : ready;
    }
    return keep(ready);
}

int epoll_wait(int set, epoll_event* events, int count, int timeout) {
    return hooked::epoll_pwait(set, events, count, timeout, nullptr);
}

}  // namespace trueasync::hooked

namespace trueasync {

bool await_readable(int fd, Duration limit) noexcept {
    pollfd one{fd, POLLIN, 0};
    const timespec timeout = hooked::to_timespec(limit);
    return hooked::is_non_blocking(fd) || hooked::ppoll(&one, 1, &timeout, nullptr) != 0;
}

}  // namespace trueasync
