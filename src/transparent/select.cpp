#include <cstdlib>
#include <string_view>
#include <vector>

#include "hooks.hpp"
#include "poll.hpp"
#include "times.hpp"

namespace trueasync::hooked {

namespace {

/// Sets may be larger than the type says: programs allocate as many bits as they have descriptors.
class Set {
public:
    explicit Set(fd_set* bits) noexcept : words_(reinterpret_cast<fd_mask*>(bits)) {}
    bool has(int fd) const noexcept { return words_ != nullptr && (word(fd) & bit(fd)) != 0; }
    void remove(int fd) noexcept { word(fd) &= ~bit(fd); }
    /// Of the last word the kernel writes all bits.
    void end_at(int count) noexcept {
        if (words_ != nullptr && count % NFDBITS != 0) {
            word(count) &= bit(count) - 1;
        }
    }

private:
    static fd_mask bit(int fd) noexcept { return static_cast<fd_mask>(1UL << (static_cast<unsigned>(fd) % NFDBITS)); }
    fd_mask& word(int fd) const noexcept { return words_[fd / NFDBITS]; }
    fd_mask* words_;
};

/// How many numbers this process has places for; the kernel does not look at the bits beyond. `otherwise` when it does not say.
int places(int otherwise) noexcept {
    constexpr std::string_view kName = "\nFDSize:";
    char text[2048];
    const int file = ::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file >= 0 ? ::read(file, text, sizeof(text) - 1) : -1;
    if (file >= 0) {
        ::close(file);
    }
    const std::string_view status(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    const std::size_t place = status.find(kName);
    if (place == std::string_view::npos) {
        return otherwise;
    }
    text[status.size()] = '\0';
    return static_cast<int>(std::strtol(text + place + kName.size(), nullptr, 10));
}

/// What `select` counts as each of the three.
constexpr short kReads = POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR;
constexpr short kWrites = POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR;

int keep_if(Set& set, const pollfd& one, short asked, short what) noexcept {
    if ((one.events & asked) == 0) {
        return 0;
    }
    if ((one.revents & what) != 0) {
        return 1;
    }
    set.remove(one.fd);
    return 0;
}

int select_suspending(
    IoReactor& reactor, int count, Set readable, Set writable, Set urgent, Deadline deadline, const sigset_t* mask
) {
    if (TA_UNLIKELY(count > FD_SETSIZE)) {
        count = std::min(count, places(count));
    }
    std::vector<pollfd> all;
    for (int fd = 0; fd < count; ++fd) {
        const int events =
            (readable.has(fd) ? POLLIN : 0) | (writable.has(fd) ? POLLOUT : 0) | (urgent.has(fd) ? POLLPRI : 0);
        if (events != 0) {
            all.push_back({fd, static_cast<short>(events), 0});
        }
    }
    int result = 0;
    for (;;) {
        result = poll_suspending(reactor, all, deadline, mask);
        if (result < 0) {
            return result;
        }
        bool has_counted = false;
        for (const pollfd& one : all) {
            if ((one.revents & POLLNVAL) != 0) {
                if (const int size = places(count); one.fd >= size) {
                    return select_suspending(reactor, size, readable, writable, urgent, deadline, mask);
                }
                errno = EBADF;
                return -1;
            }
            has_counted = has_counted || ((one.events & POLLIN) != 0 && (one.revents & kReads) != 0) ||
                          ((one.events & POLLOUT) != 0 && (one.revents & kWrites) != 0) || (one.revents & POLLPRI) != 0;
        }
        if (result == 0 || has_counted) {
            break;
        }
        // An end that nobody asked for, which `poll` tells and `select` does not.
        if (wait_time(Deadline::after(std::chrono::milliseconds(1))) == Waited::Failed) {
            return -1;
        }
        if (reactor.now() >= deadline.resolve(reactor.now())) {
            break;
        }
    }
    int ready = 0;
    for (const pollfd& one : all) {
        ready += keep_if(readable, one, POLLIN, kReads);
        ready += keep_if(writable, one, POLLOUT, kWrites);
        ready += keep_if(urgent, one, POLLPRI, POLLPRI);
    }
    for (Set* set : {&readable, &writable, &urgent}) {
        set->end_at(count);
    }
    return ready;
}

}  // namespace

int pselect(
    int count, fd_set* readable, fd_set* writable, fd_set* urgent, const timespec* timeout, const sigset_t* mask
) {
    const bool is_zero = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    IoReactor* reactor =
        is_zero || count < 0 || (timeout != nullptr && !is_valid(timeout)) ? nullptr : suspending_reactor();
    if (reactor == nullptr) {
        return ::pselect(count, readable, writable, urgent, timeout, mask);
    }
    const KeepErrno keep;
    const Deadline deadline = timeout == nullptr
                                  ? Deadline::never()
                                  : Deadline::at(Deadline::after(to_duration(*timeout)).resolve(reactor->now()));
    return keep(select_suspending(*reactor, count, Set(readable), Set(writable), Set(urgent), deadline, mask));
}

int select(int count, fd_set* readable, fd_set* writable, fd_set* urgent, timeval* timeout) {
    const bool is_wrong = timeout != nullptr && (timeout->tv_sec < 0 || timeout->tv_usec < 0);
    IoReactor* reactor = is_wrong ? nullptr : suspending_reactor();
    if (reactor == nullptr || (timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_usec == 0)) {
        return ::select(count, readable, writable, urgent, timeout);
    }
    if (timeout == nullptr) {
        return hooked::pselect(count, readable, writable, urgent, nullptr, nullptr);
    }
    const timespec limit = to_timespec(to_duration(*timeout));  // there may be more microseconds than make a second
    const Instant begin = reactor->now();
    const int result = hooked::pselect(count, readable, writable, urgent, &limit, nullptr);
    const Duration rest = std::max(Duration::zero(), to_duration(limit) - (reactor->now() - begin));
    timeout->tv_sec = to_timespec(rest).tv_sec;  // Linux says what was left
    timeout->tv_usec = to_timespec(rest).tv_nsec / 1000;
    return result;
}

}  // namespace trueasync::hooked
