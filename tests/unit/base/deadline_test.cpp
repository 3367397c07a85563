#include <trueasync/base/deadline.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ratio>

namespace trueasync {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{Duration(1'000'000)};

// Not a constant for the compiler: overflow is to be seen by the sanitizer.
Instant resolve(const Deadline& deadline, Instant now) {
    volatile std::int64_t ticks = now.time_since_epoch().count();
    return deadline.resolve(Instant(Duration(ticks)));
}

TEST(Deadline, DefaultIsNever) {
    EXPECT_TRUE(Deadline().is_never());
    EXPECT_TRUE(Deadline::never().is_never());
    EXPECT_EQ(Deadline::never().resolve(kNow), Instant::max());
}

TEST(Deadline, AfterCountsFromNow) {
    constexpr Deadline deadline = Deadline::after(5ms);
    EXPECT_FALSE(deadline.is_never());
    EXPECT_EQ(deadline.resolve(kNow), kNow + 5ms);
    EXPECT_EQ(deadline.resolve(kNow + 1s), kNow + 1s + 5ms) << "relative until it is resolved";
}

TEST(Deadline, AtIsAPointInTime) {
    const Deadline deadline = Deadline::at(kNow + 7s);
    EXPECT_FALSE(deadline.is_never());
    EXPECT_EQ(deadline.resolve(kNow), kNow + 7s);
    EXPECT_EQ(deadline.resolve(kNow + 1h), kNow + 7s) << "also when it has passed";
    EXPECT_FALSE(Deadline::at(Instant::max()).is_never());
}

TEST(Deadline, NegativeDelayIsNow) {
    EXPECT_EQ(Deadline::after(-1ns).resolve(kNow), kNow);
    EXPECT_EQ(Deadline::after(0s).resolve(kNow), kNow);
    EXPECT_EQ(Deadline::after(std::chrono::hours::min()).resolve(kNow), kNow);
    EXPECT_EQ(Deadline::after(Duration::min()).resolve(kNow), kNow);
}

TEST(Deadline, LargestDelaysSaturate) {
    EXPECT_EQ(resolve(Deadline::after(std::chrono::hours::max()), kNow), Instant::max());
    EXPECT_EQ(resolve(Deadline::after(Duration::max()), kNow), Instant::max());
    EXPECT_EQ(resolve(Deadline::after(Duration::max() - 1us), kNow), Instant::max());
    EXPECT_EQ(resolve(Deadline::after(Duration::max() - 1ms), kNow), Instant::max());
    EXPECT_EQ(resolve(Deadline::after(Duration::max() - 2ms), kNow), Instant::max() - 1ms);
    EXPECT_EQ(resolve(Deadline::after(1ns), Instant::max()), Instant::max());
}

TEST(Deadline, SaturatesSeenFromAClockBelowZero) {
    const Instant early{Duration(-5)};
    EXPECT_EQ(resolve(Deadline::after(1ns), early), Instant(Duration(-4)));
    EXPECT_EQ(resolve(Deadline::after(Duration::max()), early), Instant(Duration::max() - 5ns));
}

TEST(Deadline, FractionsRoundUp) {
    using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
    EXPECT_EQ(Deadline::saturate(Picoseconds(1)), 1ns);
    EXPECT_EQ(Deadline::saturate(Picoseconds(1000)), 1ns);
    EXPECT_EQ(Deadline::saturate(Picoseconds(1001)), 2ns);
    EXPECT_EQ(Deadline::saturate(std::chrono::duration<double>(0.5)), 500ms);
    EXPECT_EQ(Deadline::saturate(std::chrono::duration<double, std::nano>(0.25)), 1ns);
}

TEST(Deadline, FloatingPointDelaysSaturate) {
    using Seconds = std::chrono::duration<double>;
    EXPECT_EQ(Deadline::saturate(Seconds(1e300)), Duration::max());
    EXPECT_EQ(Deadline::saturate(Seconds(std::numeric_limits<double>::infinity())), Duration::max());
    EXPECT_EQ(Deadline::saturate(Seconds(-1e300)), Duration::zero());
    EXPECT_EQ(Deadline::saturate(Seconds(-std::numeric_limits<double>::infinity())), Duration::zero());
}

TEST(Deadline, NoNumberIsNow) {
    volatile double number = std::numeric_limits<double>::quiet_NaN();  // not a constant for the compiler
    const std::chrono::duration<double> none(number);
    EXPECT_EQ(Deadline::saturate(none), Duration::zero());
    EXPECT_EQ(Deadline::after(none).resolve(kNow), kNow);
}

TEST(Deadline, SaturateKeepsWhatFits) {
    EXPECT_EQ(Deadline::saturate(1h), 1h);
    EXPECT_EQ(Deadline::saturate(Duration::max() - 1ns), Duration::max() - 1ns);
    EXPECT_EQ(Deadline::saturate(std::chrono::hours(2'562'047)), std::chrono::hours(2'562'047));
    EXPECT_EQ(Deadline::saturate(std::chrono::hours(2'562'048)), Duration::max());
}

}  // namespace
}  // namespace trueasync
