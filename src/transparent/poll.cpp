#include <sys/signalfd.h>
#include <algorithm>
#include <deque>
#include <string>
#include <trueasync/reactor/system_error.hpp>
#include <vector>

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
    if (TA_LIKELY(any(mask)) && (events & (POLLPRI | POLLRDBAND | POLLRDHUP)) == 0) {
        return mask;
    }
    mask |= (events & (POLLPRI | POLLRDBAND)) != 0 ? PollMask::Priority : PollMask::None;
    return mask | PollMask::Disconnect;  // errors and ends are told without being asked for
}

std::string describe(const WaitGuard& /*wait*/) { return "poll of several descriptors"; }

/// It will never say more than it has said: a regular file, the null device.
bool says_no_more(const IoReactor& reactor, int fd) noexcept {
    const Descriptor* descriptor = reactor.find(fd);
    return descriptor != nullptr && descriptor->state == Descriptor::State::AlwaysReady;
}

/// One descriptor of several that a coroutine waits for.
class Watch final : public DescriptorWatch {
public:
    Watch(IoReactor& reactor, DirectWait& wait, const pollfd& one, bool& has_misled) noexcept
        : DescriptorWatch(one.fd, to_mask(one.events)), reactor_(reactor), wait_(wait), has_misled_(has_misled) {}
    ~Watch() override { reactor_.unwatch(*this); }

    bool begin() noexcept {
        reactor_.mark_drained(watched_descriptor(), PollMask::None, files_of(watched_descriptor()));
        for (const bool is_again : {false, true}) {
            reactor_.introduce(*this);
            Status status = reactor_.watch(*this);
            if (status.ok()) {
                break;
            }
            if (is_again ||
                SystemError::number_of(status.take().get()) != EBADF) {  // once: the number has another file now
                return false;
            }
        }
        if (says_no_more(reactor_, watched_descriptor())) {
            reactor_.unwatch(*this);
        }
        return true;
    }
    void on_ready(PollMask what) noexcept override {
        // The half of an end, of which `poll` says nothing to who has not asked for it.
        constexpr PollMask kData = PollMask::Readable | PollMask::Writable | PollMask::Priority;
        has_misled_ = has_misled_ || !any(what & wanted() & kData);
        wait_.wake();
    }
    void on_lost(Error& /*error*/) noexcept override { wait_.wake(); }

private:
    IoReactor& reactor_;
    DirectWait& wait_;
    bool& has_misled_;
};

Waited tell_cut_off(Waited waited, std::span<const pollfd> descriptors) noexcept {
    for (const pollfd& one : descriptors) {
        tell_cut_off(waited, one.fd);
    }
    return waited;
}

/// For several descriptors.
class ManyWait {
public:
    ManyWait(IoReactor& reactor, std::span<const pollfd> descriptors, Deadline deadline) noexcept
        : reactor_(reactor), descriptors_(descriptors), deadline_(deadline) {}

    /// `Ready`: ask the kernel.
    Waited wait() noexcept {
        if (const Waited answer = before_wait(); answer != Waited::Ready) {
            return answer;
        }
        DirectWait wait(&describe);
        std::deque<Watch> watches;
        for (const pollfd& one : descriptors_) {
            if (one.fd >= 0 && !is_left_out(one) && !watches.emplace_back(reactor_, wait, one, has_misled_).begin()) {
                return Waited::Blocks;
            }
        }
        Deadline limit = deadline_;
        bool is_pause = false;
        if (TA_UNLIKELY(has_misled_)) {
            const Instant end = deadline_.resolve({});
            const Instant next = reactor_.now() + pause_;
            is_pause = next < end;
            limit = is_pause ? Deadline::at(next) : limit;
            pause_ = std::min<Duration>(pause_ * 2, std::chrono::milliseconds(32));
        }
        ++reactor_.active().visible;
        const WaitResult result = wait.park(limit);
        --reactor_.active().visible;
        const Waited waited = after_wait(result);
        return waited == Waited::TimedOut && is_pause ? Waited::Ready : waited;
    }

private:
    /// Reports about these were of no use, and would come all the time: they are asked about after pauses.
    bool is_left_out(const pollfd& one) const noexcept {
        return has_misled_ && (one.events & (kReadable | kWritable)) == 0;
    }

    IoReactor& reactor_;
    std::span<const pollfd> descriptors_;
    Deadline deadline_;
    bool has_misled_ = false;
    Duration pause_ = std::chrono::milliseconds(1);
};

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
    if (TA_UNLIKELY(count != 0)) {
        refuse_closing();
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
        Waited waited = Waited::Ready;
        if (TA_UNLIKELY(!is_first && says_no_more(reactor, one.fd))) {
            waited = wait_time(deadline);
            waited = waited == Waited::Ready ? Waited::TimedOut : waited;
        } else {
            waited = wait_descriptor(reactor, one.fd, mask, deadline);
        }
        switch (waited) {
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
    ManyWait many(reactor, descriptors, deadline);
    for (bool is_first = true;; is_first = false) {
        const int ready = ::poll(descriptors.data(), count, 0);
        if (mark_closing(descriptors) != 0 && ready >= 0) {
            return static_cast<int>(std::ranges::count_if(descriptors, [](const pollfd& one) {
                return one.revents != 0;
            }));
        }
        if (ready != 0) {
            return ready;
        }
        if (!is_first && is_in_shared()) {
            return 0;
        }
        Waited waited = Waited::Ready;
        if (count == 0) {
            waited = wait_time(deadline);
            waited = waited == Waited::Ready ? Waited::TimedOut : waited;
        } else {
            waited = tell_cut_off(many.wait(), descriptors);
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
    IoReactor* reactor =
        timeout != 0 && TA_LIKELY(descriptors != nullptr || count == 0) ? suspending_reactor() : nullptr;
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

namespace {

/// The signals that the mask of a call lets in. The thread's own mask stays, since others run meanwhile: a descriptor says that one is pending.
class LetIn {
public:
    LetIn(IoReactor& reactor, const sigset_t& mask) noexcept : reactor_(reactor) {
        sigset_t blocked;
        sigset_t let_in;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        sigemptyset(&let_in);
        bool is_any = false;
        for (int number = 1; number < NSIG; ++number) {
            if (::sigismember(&blocked, number) == 1 && ::sigismember(&mask, number) == 0) {
                ::sigaddset(&let_in, number);
                is_any = true;
            }
        }
        fd_ = is_any ? ::signalfd(-1, &let_in, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
    }
    LetIn(const LetIn&) = delete;
    LetIn& operator=(const LetIn&) = delete;
    ~LetIn() {
        if (fd_ >= 0) {
            const int error = errno;
            reactor_.descriptor_closing(fd_);
            forget_file(fd_);
            ::close(fd_);
            errno = error;
        }
    }

    /// Negative: none that could be.
    int descriptor() const noexcept { return fd_; }

private:
    IoReactor& reactor_;
    int fd_ = -1;
};

}  // namespace

int poll_suspending(
    IoReactor& reactor, std::span<pollfd> descriptors, Deadline deadline, const sigset_t* mask
) noexcept {
    if (TA_LIKELY(mask == nullptr)) {
        return poll_suspending(reactor, descriptors, deadline);
    }
    const timespec zero{};
    if (const int ready = ::ppoll(descriptors.data(), descriptors.size(), &zero, mask); ready != 0) {
        return ready;
    }
    const LetIn signals(reactor, *mask);
    if (signals.descriptor() < 0) {
        return poll_suspending(reactor, descriptors, deadline);
    }
    deadline = reactor.fixed(deadline);
    std::vector<pollfd> all(descriptors.begin(), descriptors.end());
    all.push_back({signals.descriptor(), POLLIN, 0});
    for (;;) {
        const int ready = poll_suspending(reactor, all, deadline);
        std::copy(all.begin(), all.end() - 1, descriptors.begin());
        const int count = ready > 0 && all.back().revents != 0 ? ready - 1 : ready;
        if (ready <= 0 || count != 0) {
            return count;
        }
        if (::ppoll(nullptr, 0, &zero, mask) != 0) {  // its handler runs
            return -1;
        }
    }
}

int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    const bool is_zero = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    const bool is_wrong = (timeout != nullptr && !is_valid(timeout)) || (descriptors == nullptr && count != 0);
    IoReactor* reactor = is_zero || is_wrong ? nullptr : suspending_reactor();
    if (reactor == nullptr) {
        return ::ppoll(descriptors, count, timeout, mask);
    }
    const KeepErrno keep;
    const Deadline deadline = timeout == nullptr ? Deadline::never() : Deadline::after(to_duration(*timeout));
    return keep(poll_suspending(*reactor, {descriptors, count}, deadline, mask));
}

int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, size_t room) {
    return room / sizeof(pollfd) < count ? ::__poll_chk(descriptors, count, timeout, room)
                                         : hooked::poll(descriptors, count, timeout);
}

int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room) {
    return room / sizeof(pollfd) < count ? ::__ppoll_chk(descriptors, count, timeout, mask, room)
                                         : hooked::ppoll(descriptors, count, timeout, mask);
}

namespace {

int wait_for_set(
    IoReactor& reactor, int set, epoll_event* events, int count, Deadline deadline, const sigset_t* mask
) noexcept {
    const KeepErrno keep;
    deadline = reactor.fixed(deadline);
    for (;;) {
        pollfd one{set, POLLIN, 0};
        if (mark_closing({&one, 1}) == 0) {
            if (const int ready = ::epoll_wait(set, events, count, 0); ready != 0) {
                return keep(ready);
            }
            if (const int ready = poll_suspending(reactor, {&one, 1}, deadline, mask); ready <= 0) {
                return keep(ready);
            }
        }
        if ((one.revents & POLLNVAL) != 0) {
            errno = EBADF;
            return -1;
        }
    }
}

}  // namespace

int epoll_pwait(int set, epoll_event* events, int count, int timeout, const sigset_t* mask) {
    IoReactor* reactor = timeout != 0 ? suspending_reactor() : nullptr;
    if (reactor == nullptr) {
        return ::epoll_pwait(set, events, count, timeout, mask);
    }
    const Deadline deadline = timeout < 0 ? Deadline::never() : Deadline::after(std::chrono::milliseconds(timeout));
    return wait_for_set(*reactor, set, events, count, deadline, mask);
}

#if TA_HAS_EPOLL_PWAIT2
int epoll_pwait2(int set, epoll_event* events, int count, const timespec* timeout, const sigset_t* mask) {
    const bool is_zero = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    IoReactor* reactor = is_zero || (timeout != nullptr && !is_valid(timeout)) ? nullptr : suspending_reactor();
    if (reactor == nullptr) {
        return ::epoll_pwait2(set, events, count, timeout, mask);
    }
    const Deadline deadline = timeout == nullptr ? Deadline::never() : Deadline::after(to_duration(*timeout));
    return wait_for_set(*reactor, set, events, count, deadline, mask);
}
#endif

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
