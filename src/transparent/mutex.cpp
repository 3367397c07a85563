#include <pthread.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <trueasync/runtime/runtime.hpp>

#include "hooks.hpp"
#include "waiting.hpp"

/// A mutex belongs to a thread. When one coroutine of it waits inside a library that holds one, another that wants it must wait as a coroutine:
/// the thread would wait for itself.

namespace trueasync::hooked {

namespace {

/// Held by this thread, and of a kind whose second lock by its owner never returns. Recursive mutexes and those that check for errors answer,
/// and what robust ones and those with priorities do with their owner is the kernel's to say.
bool is_held_here(const pthread_mutex_t& mutex) noexcept {
#if defined(__GLIBC__)
    constexpr int kKind = 127;  // without whether it is shared between processes, and how it spins
    const int kind = __atomic_load_n(&mutex.__data.__kind, __ATOMIC_RELAXED) & kKind;
    return (kind == PTHREAD_MUTEX_NORMAL || kind == PTHREAD_MUTEX_ADAPTIVE_NP) &&
           __atomic_load_n(&mutex.__data.__owner, __ATOMIC_RELAXED) == ::gettid();
#else
    static_cast<void>(mutex);
    return false;
#endif
}

/// Lies on the stack of the coroutine that waits.
class MutexWait final : public DirectWait {
public:
    MutexWait(const pthread_mutex_t& mutex, std::uint64_t ticket) noexcept
        : DirectWait([](const WaitGuard&) { return std::string("a mutex that another coroutine holds"); }),
          mutex_(mutex),
          ticket_(ticket) {}
    bool is_before(const pthread_mutex_t& mutex, std::uint64_t ticket) const noexcept {
        return &mutex_ == &mutex && ticket_ < ticket;
    }

private:
    const pthread_mutex_t& mutex_;
    std::uint64_t ticket_;
};

thread_local IntrusiveList<MutexWait> waits;
/// Of the last who came to wait on this thread; most never need to look at the list.
thread_local constinit std::uint64_t last_ticket __attribute__((tls_model("initial-exec"))) = 0;

/// Who comes before `ticket`; any of them, since that one knows who comes before him.
MutexWait* find_before(const pthread_mutex_t& mutex, std::uint64_t ticket) noexcept {
    for (MutexWait& one : waits) {
        if (one.is_before(mutex, ticket)) {
            return &one;
        }
    }
    return nullptr;
}

/// Suspends for a while. False: not here, or not any more.
bool pause_for(const pthread_mutex_t& mutex, std::uint64_t ticket, Duration length) noexcept {
    if (TransparentHost* host = state.host; host != nullptr && !host->may_wait_for_lock(*detail::hot.current)) {
        return false;
    }
    MutexWait wait(mutex, ticket);
    waits.push_back(wait);
    switch (wait.park(Deadline::after(length))) {
        case WaitResult::Ready:
        case WaitResult::TimedOut:
            return true;
        case WaitResult::Cancelled: {  // by a shutdown, which does not wait for us but for whoever holds the mutex
            Ref<Error> cancellation = Scheduler::take_wait_error();
            Scheduler* scheduler = Scheduler::current();
            if (scheduler->runtime().state() == Runtime::State::Final) {  // he will not go on
                return false;
            }
            scheduler->cancel(*detail::hot.current, std::move(cancellation));
            return true;
        }
        default:
            Scheduler::take_wait_error();
            return false;
    }
}

/// Tries with pauses, in the order in which all have come. A lock does not fail: whoever is cancelled gets it first.
TA_COLD int lock_in_turn(pthread_mutex_t& mutex) noexcept {
    constexpr unsigned kTurns = 2;  // that only let others run
    if (suspending_reactor() == nullptr) {
        return ::pthread_mutex_lock(&mutex);
    }
    const int before = errno;
    const ProtectGuard protect;
    const std::uint64_t ticket = ++last_ticket;
    Duration pause = std::chrono::milliseconds(1);
    for (unsigned tries = 0;; ++tries) {
        MutexWait* earlier = find_before(mutex, ticket);
        if (earlier != nullptr && !earlier->is_woken() && !is_held_here(mutex)) {
            earlier->wake();
        }
        if (!pause_for(mutex, ticket, tries < kTurns ? Duration{} : pause)) {
            break;
        }
        if (tries >= kTurns) {
            pause = std::min<Duration>(pause * 2, std::chrono::milliseconds(32));
        }
        if (find_before(mutex, ticket) != nullptr) {
            continue;
        }
        if (const int result = ::pthread_mutex_trylock(&mutex); result != EBUSY) {
            errno = before;
            return result;
        }
        if (!is_held_here(mutex)) {  // another thread was faster, and does not wait for this one
            break;
        }
    }
    errno = before;
    return ::pthread_mutex_lock(&mutex);
}

}  // namespace

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    if (TA_LIKELY(detail::hot.current == nullptr)) {
        return ::pthread_mutex_lock(mutex);
    }
    if (TA_UNLIKELY(last_ticket != 0) &&
        find_before(*mutex, last_ticket + 1) != nullptr) {  // who has it takes turns, too
        return lock_in_turn(*mutex);
    }
    const int result = ::pthread_mutex_trylock(mutex);
    if (TA_LIKELY(result != EBUSY)) {
        return result;
    }
    return is_held_here(*mutex) ? lock_in_turn(*mutex) : ::pthread_mutex_lock(mutex);
}

}  // namespace trueasync::hooked
