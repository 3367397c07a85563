#include <algorithm>
#include <vector>

#include "hooks.hpp"
#include "limited_backoff.hpp"
#include "times.hpp"

namespace trueasync::hooked {

namespace {

/// Tries with pauses: none of these has an event. `attempt` does not wait and says `later`, `block` does.
template <typename Attempt, typename Block>
auto try_later(IoReactor& reactor, int later, Deadline limit, Attempt&& attempt, Block&& block) noexcept
    -> decltype(attempt()) {
    const KeepErrno keep;
    for (LimitedBackoff backoff(reactor, limit);;) {
        const auto result = attempt();
        if (result >= 0 || errno != later) {
            return keep(result);
        }
        switch (backoff.wait()) {
            case Waited::TimedOut:
                errno = EAGAIN;
                return -1;
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return keep(block());
            default:
                break;
        }
    }
}

/// Who sleeps in the kernel is told that what he waits for was removed. Who comes again is told that he has never been right.
template <typename Attempt>
auto or_removed(Attempt attempt) noexcept {
    return [attempt, is_known = false]() mutable {
        const auto result = attempt();
        if (result < 0 && errno == EINVAL && is_known) {
            errno = EIDRM;
        }
        is_known = true;
        return result;
    };
}

Deadline limit_of(const timespec* timeout) noexcept {
    return timeout != nullptr ? Deadline::after(to_duration(*timeout)) : Deadline::never();
}

constexpr timespec kNoTime{};

/// `block` for where nothing can suspend.
template <typename Block>
int signal_later(const sigset_t* set, siginfo_t* info, const timespec* timeout, Block&& block) noexcept {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr || (timeout != nullptr && !is_valid(timeout))) {
        return block();
    }
    return try_later(
        *reactor, EAGAIN, limit_of(timeout), [&] { return ::sigtimedwait(set, info, &kNoTime); }, block
    );
}

}  // namespace

int semtimedop(int set, sembuf* operations, size_t count, const timespec* timeout) {
    constexpr std::size_t kMost = 500;  // SEMOPM: more are refused
    const auto original = [&] { return ::semtimedop(set, operations, count, timeout); };
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr || count > kMost || operations == nullptr || (timeout != nullptr && !is_valid(timeout))) {
        return original();
    }
    std::vector<sembuf> now(operations, operations + count);
    for (sembuf& one : now) {
        if ((one.sem_flg & IPC_NOWAIT) != 0) {  // "later" would be an answer, and nobody knows to which of them
            return original();
        }
        one.sem_flg = static_cast<short>(one.sem_flg | IPC_NOWAIT);
    }
    return try_later(
        *reactor, EAGAIN, limit_of(timeout), or_removed([&] { return ::semop(set, now.data(), count); }), original
    );
}

int semop(int set, sembuf* operations, size_t count) { return hooked::semtimedop(set, operations, count, nullptr); }

ssize_t msgrcv(int queue, void* message, size_t size, long type, int flags) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr || (flags & IPC_NOWAIT) != 0) {
        return ::msgrcv(queue, message, size, type, flags);
    }
    return try_later(
        *reactor, ENOMSG, Deadline::never(),
        or_removed([&] { return ::msgrcv(queue, message, size, type, flags | IPC_NOWAIT); }),
        [&] { return ::msgrcv(queue, message, size, type, flags); }
    );
}

int msgsnd(int queue, const void* message, size_t size, int flags) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr || (flags & IPC_NOWAIT) != 0) {
        return ::msgsnd(queue, message, size, flags);
    }
    return try_later(
        *reactor, EAGAIN, Deadline::never(),
        or_removed([&] { return ::msgsnd(queue, message, size, flags | IPC_NOWAIT); }),
        [&] { return ::msgsnd(queue, message, size, flags); }
    );
}

int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
    return signal_later(set, info, timeout, [&] { return ::sigtimedwait(set, info, timeout); });
}

int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    return signal_later(set, info, nullptr, [&] { return ::sigwaitinfo(set, info); });
}

int sigwait(const sigset_t* set, int* number) {
    if (suspending_reactor() == nullptr) {
        return ::sigwait(set, number);
    }
    const int before = errno;
    const int found = signal_later(set, nullptr, nullptr, [&] { return ::sigwaitinfo(set, nullptr); });
    const int error = found < 0 ? errno : 0;
    errno = before;
    if (error == 0) {
        *number = found;
    }
    return error;
}

}  // namespace trueasync::hooked
