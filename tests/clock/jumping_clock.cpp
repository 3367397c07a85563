/// Preloaded into a program: a wall clock that is set by a day, forth or back, at every look, and a steady one that a test can push forward,
/// as a virtual machine does that has been asleep.

#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
std::atomic<std::int64_t> steady_offset = 0;
std::atomic<bool> is_late = false;

time_t jump() { return is_late.exchange(!is_late.load()) ? 86'400 : -86'400; }

int real_time(clockid_t clock, timespec* time) {
    static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
    return real(clock, time);
}

}  // namespace

extern "C" {

void push_steady_clock(std::int64_t nanoseconds) { steady_offset += nanoseconds; }

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const int status = real_time(clock, time);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        time->tv_sec += jump();
    } else if (status == 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
        const std::int64_t sum = time->tv_sec * kSecond + time->tv_nsec + steady_offset;
        *time = {sum / kSecond, sum % kSecond};
    }
    return status;
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
    timespec now{};
    const int status = clock_gettime(CLOCK_REALTIME, &now);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return status;
}

time_t time(time_t* result) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != nullptr) {
        *result = now.tv_sec;
    }
    return now.tv_sec;
}

}  // extern "C"
