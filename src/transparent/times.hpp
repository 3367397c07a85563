#pragma once

#include <sys/time.h>
#include <time.h>
#include <chrono>
#include <trueasync/base/deadline.hpp>

namespace trueasync::hooked {

inline bool is_valid(const timespec* time) noexcept {
    return time != nullptr && time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1'000'000'000;
}

inline Duration to_duration(const timespec& time) noexcept {
    const Duration whole = Deadline::saturate(std::chrono::seconds(time.tv_sec));
    return whole > Duration::max() - std::chrono::nanoseconds(time.tv_nsec)
               ? Duration::max()
               : whole + std::chrono::nanoseconds(time.tv_nsec);
}

inline Duration to_duration(const timeval& time) noexcept {
    const Duration whole = Deadline::saturate(std::chrono::seconds(time.tv_sec));
    const Duration part = Deadline::saturate(std::chrono::microseconds(time.tv_usec));
    return whole > Duration::max() - part ? Duration::max() : whole + part;
}

inline timespec to_timespec(Duration duration) noexcept {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
    timespec time{};
    time.tv_sec = static_cast<time_t>(whole.count());
    time.tv_nsec = static_cast<long>((duration - whole).count());
    return time;
}

inline timespec to_timespec(const timeval& time) noexcept {
    timespec result{};
    result.tv_sec = time.tv_sec;
    result.tv_nsec = time.tv_usec * 1000;
    return result;
}

}  // namespace trueasync::hooked
