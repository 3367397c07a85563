#include <trueasync/api/await_many.hpp>

#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

Handle<int> after(std::chrono::milliseconds delay, int value) {
    return spawn([=] {
        sleep_for(delay);
        return value;
    });
}

Handle<int> fails_after(std::chrono::milliseconds delay, std::string message) {
    return spawn([=]() -> int {
        sleep_for(delay);
        throw std::runtime_error(message);
    });
}

CORO_TEST(AwaitMany, AllInTheOrderGiven) {
    /// [await_all]
    const std::vector<Handle<int>> handles{after(3ms, 1), after(1ms, 2), after(2ms, 3)};
    const std::vector<int> values = await_all(handles);
    /// [await_all]
    EXPECT_EQ(values, (std::vector{1, 2, 3}));
}

CORO_TEST(AwaitMany, AllOfDifferentTypes) {
    auto [number, text, nothing] = await_all(after(1ms, 7), spawn([] { return std::string("seven"); }), spawn([] {}));
    EXPECT_EQ(number, 7);
    EXPECT_EQ(text, "seven");
    static_cast<void>(nothing);
}

CORO_TEST(AwaitMany, AllOfNothing) { EXPECT_TRUE(await_all(std::vector<Handle<int>>{}).empty()); }

CORO_TEST(AwaitMany, FirstFailureOfAllIsThrownAtOnce) {
    const std::vector<Handle<int>> handles{after(1h, 1), fails_after(1ms, "early"), fails_after(2ms, "late")};
    EXPECT_THROW(
        try { await_all(handles); } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "early");
            throw;
        },
        std::runtime_error
    );
    handles[0].cancel();
    await_settled(handles);
}

CORO_TEST(AwaitMany, SettledSaysHowEachEnded) {
    const std::vector<Handle<int>> handles{after(1ms, 1), fails_after(1ms, "bad")};
    const auto outcomes = await_settled(handles);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(outcomes[0].value, 1);
    EXPECT_FALSE(outcomes[0].error);
    EXPECT_FALSE(outcomes[1].value.has_value());
    EXPECT_THROW(std::rethrow_exception(outcomes[1].error), std::runtime_error);
}

CORO_TEST(AwaitMany, AnyIsTheFirstToEnd) {
    const std::vector<Handle<int>> handles{after(2ms, 1), after(1ms, 2)};
    const auto winner = await_any(handles);
    ASSERT_TRUE(winner.has_value());
    EXPECT_EQ(winner->number, 1U);
    EXPECT_EQ(winner->value, 2);
    EXPECT_FALSE(await_any(std::vector<Handle<int>>{}).has_value());
}

CORO_TEST(AwaitMany, AnyOfThrowsTheFirstFailure) {
    const std::vector<Handle<int>> handles{fails_after(1ms, "bad"), after(2ms, 2)};
    EXPECT_THROW(await_any(handles), std::runtime_error);
}

CORO_TEST(AwaitMany, AnyOfSome) {
    const std::vector<Handle<int>> handles{after(3ms, 1), after(1ms, 2), after(2ms, 3)};
    EXPECT_TRUE(await_any_of(0, handles).empty());
    const auto winners = await_any_of(2, handles);
    ASSERT_EQ(winners.size(), 2U);
    EXPECT_EQ(winners[0].value, 2);
    EXPECT_EQ(winners[1].value, 3);
    EXPECT_EQ(await_any_of(10, handles).size(), 3U) << "more than there are: all";
}

CORO_TEST(AwaitMany, FirstSuccessSkipsFailures) {
    const std::vector<Handle<int>> handles{fails_after(1ms, "one"), after(2ms, 2), after(3ms, 3)};
    EXPECT_EQ(await_first_success(handles)->value, 2);
    const std::vector<Handle<int>> failing{fails_after(1ms, "one"), fails_after(2ms, "two")};
    try {
        await_first_success(failing);
        ADD_FAILURE() << "all have failed";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "two");
    }
}

CORO_TEST(AwaitMany, FuturesAndEvents) {
    FutureState<int> state;
    spawn([state] { state.complete(4); });
    EXPECT_EQ(await_all(std::vector{state.future()}), (std::vector{4}));
    const std::vector<Ref<TimerEvent>> timers{TimerEvent::create(Scheduler::current()->reactor(), 1ms)};
    EXPECT_EQ(await_all(timers).size(), 1U);
}

CORO_TEST(AwaitMany, DeadlineLeavesThemRunning) {
    const std::vector<Handle<int>> handles{after(10ms, 1)};
    EXPECT_THROW(await_all(handles, 1ms), TimeoutError);
    EXPECT_EQ(await_all(handles), (std::vector{1}));
}

}  // namespace
}  // namespace trueasync::testing
