#include <algorithm>
#include <chrono>

#include "hooks.hpp"
#include "times.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

namespace {

using std::chrono::seconds;

/// What is left of `duration`, which began at `begin`.
Duration rest_of(Duration duration, Instant begin, IoReactor& reactor) noexcept {
    return std::max(Duration::zero(), duration - (reactor.now() - begin));
}

}  // namespace

unsigned sleep(unsigned count) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::sleep(count);
    }
    const KeepErrno keep;
    const Instant begin = reactor->now();
    switch (wait_time(Deadline::after(seconds(count)))) {
        case Waited::Blocks:
            return ::sleep(count);
        case Waited::Failed:  // errno stays: there is no other way to say why
            return static_cast<unsigned>(std::chrono::ceil<seconds>(rest_of(seconds(count), begin, *reactor)).count());
        default:
            return keep(0);
    }
}

int usleep(useconds_t microseconds) {
    if (suspending_reactor() == nullptr) {
        return ::usleep(microseconds);
    }
    const KeepErrno keep;
    switch (wait_time(Deadline::after(std::chrono::microseconds(microseconds)))) {
        case Waited::Blocks:
            return ::usleep(microseconds);
        case Waited::Failed:
            return -1;
        default:
            return keep(0);
    }
}

int nanosleep(const timespec* duration, timespec* rest) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr || !is_valid(duration)) {
        return ::nanosleep(duration, rest);
    }
    const KeepErrno keep;
    const Instant begin = reactor->now();
    switch (wait_time(Deadline::after(to_duration(*duration)))) {
        case Waited::Blocks:
            return ::nanosleep(duration, rest);
        case Waited::Failed:
            if (rest != nullptr) {
                *rest = to_timespec(rest_of(to_duration(*duration), begin, *reactor));
            }
            return -1;
        default:
            return keep(0);
    }
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* when, timespec* rest) {
    IoReactor* reactor = suspending_reactor();
    timespec now{};
    const bool is_known =
        clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
    if (reactor == nullptr || !is_valid(when) || !is_known || ::clock_gettime(clock, &now) != 0) {
        return ::clock_nanosleep(clock, flags, when, rest);
    }
    const int before = errno;
    const bool is_absolute = (flags & TIMER_ABSTIME) != 0;
    const Duration whole = to_duration(*when);
    const Duration delay = is_absolute ? std::max(Duration::zero(), whole - to_duration(now)) : whole;
    const Instant begin = reactor->now();
    const Waited waited = wait_time(Deadline::after(delay));
    const int error = waited == Waited::Failed ? errno : 0;
    errno = before;
    if (waited == Waited::Blocks) {
        return ::clock_nanosleep(clock, flags, when, rest);
    }
    if (error != 0 && rest != nullptr && !is_absolute) {
        *rest = to_timespec(rest_of(delay, begin, *reactor));
    }
    return error;
}

}  // namespace trueasync::hooked
