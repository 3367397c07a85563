#pragma once

/// @file trueasync/base/deadline.hpp
/// One type for "never", "after a duration" and "at a point in time".

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>
#include <utility>

namespace trueasync {

using Duration = std::chrono::nanoseconds;

/// A point on the clock of the running reactor (monotonic; virtual in tests).
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// When a wait has to end. Every wait takes one.
///
/// A relative deadline is resolved against the reactor's clock when the wait begins, so that it means the same on
/// a virtual clock.
class Deadline {
public:
    constexpr Deadline() noexcept = default;

    static constexpr Deadline never() noexcept { return {}; }
    static constexpr Deadline at(Instant instant) noexcept { return Deadline(Kind::At, instant.time_since_epoch()); }

    template <typename Rep, typename Period>
    static constexpr Deadline after(std::chrono::duration<Rep, Period> delay) noexcept {
        return Deadline(Kind::After, saturate(delay));
    }

    constexpr bool is_never() const noexcept { return kind_ == Kind::Never; }
    /// Not a point in time yet.
    constexpr bool is_delay() const noexcept { return kind_ == Kind::After; }

    /// The instant meant, seen from `now`. Saturates instead of overflowing; a negative delay is now.
    constexpr Instant resolve(Instant now) const noexcept {
        switch (kind_) {
            case Kind::Never:
                return Instant::max();
            case Kind::At:
                return Instant(value_);
            case Kind::After:
                break;
        }
        if (value_ <= Duration::zero()) {
            return now;
        }
        const bool fits = now < Instant() || value_ <= Instant::max() - now;
        return fits ? now + value_ : Instant::max();
    }

    /// Rounds up to nanoseconds and clamps, so that `hours::max()` is "never" in effect and not an overflow.
    template <typename Rep, typename Period>
    static constexpr Duration saturate(std::chrono::duration<Rep, Period> delay) noexcept {
        if constexpr (std::is_integral_v<Rep> && std::ratio_greater_equal_v<Period, std::nano>) {
            constexpr auto kMost =
                std::chrono::duration_cast<std::chrono::duration<std::intmax_t, Period>>(Duration::max()).count();
            if (delay.count() <= 0) {
                return Duration::zero();
            }
            return std::cmp_greater(delay.count(), kMost) ? Duration::max() : std::chrono::ceil<Duration>(delay);
        }
        using Seconds = std::chrono::duration<long double>;
        if (Seconds(delay) >= Seconds(Duration::max())) {
            return Duration::max();
        }
        return Seconds(delay) > Seconds::zero() ? std::chrono::ceil<Duration>(delay) : Duration::zero();  // NaN: zero
    }

private:
    enum class Kind : unsigned char { Never, After, At };

    constexpr Deadline(Kind kind, Duration value) noexcept : value_(value), kind_(kind) {}

    Duration value_{};
    Kind kind_ = Kind::Never;
};

}  // namespace trueasync
