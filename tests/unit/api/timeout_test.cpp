#include <trueasync/api/await.hpp>

#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

Instant now() { return Scheduler::current()->reactor().now(); }

CORO_TEST(Timeout, EndsTheWaitWithATimeoutError) {
    auto slow = spawn([] { sleep_for(1h); });
    /// [timeout]
    try {
        await(slow, timeout(10ms));
    } catch (const TimeoutError& error) {
        EXPECT_STREQ(error.what(), "Timeout occurred after 10 milliseconds");
    }
    /// [timeout]
    EXPECT_FALSE(slow.is_finished()) << "only the wait has ended";
    EXPECT_THROW(await(slow, timeout(10ms)), TimeoutError);
    slow.cancel();
}

CORO_TEST(Timeout, TellsMillisecondsRoundedUp) {
    ManualEvent never;
    const auto text_of = [&](auto limit) -> std::string {
        try {
            await(never, timeout(limit));
        } catch (const TimeoutError& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(text_of(2s), "Timeout occurred after 2000 milliseconds");
    EXPECT_EQ(text_of(1500us), "Timeout occurred after 2 milliseconds");
}

CORO_TEST(Timeout, BeginsToCountWithTheWait) {
    ManualEvent never;
    const Timeout limit = timeout(10ms);
    sleep_for(1h);
    const Instant begin = now();
    EXPECT_THROW(await(never, limit), TimeoutError);
    EXPECT_EQ(now() - begin, 10ms);
}

CORO_TEST(Timeout, CountsAnewForEachWait) {
    auto first = spawn([] { sleep_for(8ms); });
    auto second = spawn([] { sleep_for(16ms); });
    const Timeout limit = timeout(10ms);
    await(first, limit);
    await(second, limit);
    EXPECT_EQ(clock().timer_count(), 0U);
}

CORO_TEST(Timeout, SharedByTwoWaitsEndsBothAtOnce) {
    ManualEvent never;
    const Timeout limit = timeout(10ms);
    const auto wait = [&] {
        EXPECT_THROW(await(never, limit), TimeoutError);
        return now();
    };
    const Instant begin = now();
    auto first = spawn(wait);
    auto second = spawn([&] {
        sleep_for(4ms);
        return wait();
    });
    EXPECT_EQ(await(first), begin + 10ms);
    EXPECT_EQ(await(second), begin + 10ms) << "the second one has joined a limit that was counting";
}

CORO_TEST(Timeout, AwaitedItselfThrowsWhenItPasses) {
    const Instant begin = now();
    EXPECT_THROW(await(timeout(10ms)), TimeoutError);
    EXPECT_EQ(now() - begin, 10ms);
}

CORO_TEST(Timeout, AsAnEventOfItsOwnCanBeAToken) {
    ManualEvent never;
    const Timeout limit = timeout(10ms);
    try {
        await(never, limit.event());  // as any event: a token, whose error is the cause
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "Operation has been cancelled");
        ASSERT_NE(cancellation.error()->previous(), nullptr);
        EXPECT_EQ(cancellation.error()->previous()->message(), "Timeout occurred after 10 milliseconds");
    }
}

CORO_TEST(Timeout, DroppedUnusedDoesNothing) {
    { const Timeout unused = timeout(10ms); }
    EXPECT_EQ(clock().timer_count(), 0U);
    sleep_for(20ms);
}

CORO_TEST(Timeout, ZeroPassesAtOnce) {
    ManualEvent never;
    const Instant begin = now();
    EXPECT_THROW(await(never, timeout(0ms)), TimeoutError);
    EXPECT_EQ(now(), begin);
}

CORO_TEST(Timeout, HugeOneNeverPasses) {
    auto work = spawn([] {
        sleep_for(1h);
        return 2;
    });
    EXPECT_EQ(await(work, timeout(std::chrono::hours::max())), 2);
}

CORO_TEST(Timeout, ErrorsOfDifferentOnesDoNotMix) {
    ManualEvent never;
    std::vector<Handle<std::string>> waiters;
    for (int i = 1; i <= 3; ++i) {
        waiters.push_back(spawn([&, i]() -> std::string {
            try {
                await(never, timeout(i * 10ms));
            } catch (const TimeoutError& error) {
                sleep_for(1h);
                return error.what();
            }
            return {};
        }));
    }
    EXPECT_EQ(await(waiters[0]), "Timeout occurred after 10 milliseconds");
    EXPECT_EQ(await(waiters[1]), "Timeout occurred after 20 milliseconds");
    EXPECT_EQ(await(waiters[2]), "Timeout occurred after 30 milliseconds");
}

CORO_TEST(Timeout, ADeadlineSaysThatItPassed) {
    ManualEvent never;
    try {
        await(never, 10ms);
        FAIL();
    } catch (const TimeoutError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Timeout);
        EXPECT_STREQ(error.what(), "the deadline passed");
    }
}

RUNTIME_TEST(Timeout, OutsideARunIsRefused) {
    EXPECT_EQ(code_of([] { timeout(10ms); }), ErrorCode::NotRunning);
}

}  // namespace
}  // namespace trueasync::testing
