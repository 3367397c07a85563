#include <trueasync/api/run_blocking.hpp>

#include <memory>
#include <stdexcept>
#include <support/coro_test.hpp>
#include <support/threads.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(RunBlocking, ReturnsTheResult) {
    // [run_blocking]
    const int sum = run_blocking([numbers = std::vector{1, 2, 3}] {  // on a thread of its own
        int total = 0;
        for (const int number : numbers) {
            total += number;
        }
        return total;
    });
    EXPECT_EQ(sum, 6);
    // [run_blocking]
}

CORO_TEST(RunBlocking, OfEveryKindOfResult) {
    run_blocking([] {});
    const auto moved = run_blocking([] { return std::make_unique<int>(4); });
    EXPECT_EQ(*moved, 4);
    static int place = 0;
    int& reference = run_blocking([]() -> int& { return place; });
    EXPECT_EQ(&reference, &place);
    const std::string text = run_blocking([]() -> const std::string { return "const"; });
    EXPECT_EQ(text, "const");
    auto owned = std::make_unique<int>(5);
    EXPECT_EQ(run_blocking([owned = std::move(owned)] { return *owned; }), 5);
}

CORO_TEST(RunBlocking, ThrowsWhatTheFunctionThrew) {
    EXPECT_THROW(run_blocking([] { throw std::domain_error("no"); }), std::domain_error);
    EXPECT_THROW(run_blocking([] { throw 7; }), int);
}

CORO_TEST(RunBlocking, OthersRunMeanwhile) {
    Gate gate;
    auto other = spawn([&] { gate.open(); });
    protect([&] { run_blocking([&] { gate.wait(); }); });
    EXPECT_TRUE(other.is_finished());
}

CORO_TEST(RunBlocking, ThereIsNoRuntimeOnTheThread) {
    EXPECT_EQ(
        code_of([] {
            run_blocking([] {
                suspend();
                sleep_for(1ms);
            });
        }),
        ErrorCode::NotInCoroutine
    );
    EXPECT_EQ(code_of([] { run_blocking([] { spawn([] {}); }); }), ErrorCode::NotRunning);
}

CORO_TEST(RunBlocking, ButOneCanBeMade) {
    EXPECT_EQ(run_blocking([] { return run([] { return await(spawn([] { return 3; })); }); }), 3);
}

CORO_TEST(RunBlocking, CallerLeavesAndTheFunctionGoesOn) {
    struct Shared {
        Gate begun;
        Gate gate;
        Gate over;
    };
    auto shared = std::make_shared<Shared>();
    auto function = [shared] {
        shared->begun.open();
        shared->gate.wait();
        shared->over.open();
    };
    auto waiter = spawn([&] { run_blocking(function); });
    settle();
    shared->begun.wait();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    shared->gate.open();
    shared->over.wait();
    while (scheduler().reactor().active().hidden != 0) {
        suspend();
    }
    EXPECT_EQ(shared.use_count(), 2);  // ours and that of `function`
}

CORO_TEST(RunBlocking, LimitsAreKept) {
    auto gate = std::make_shared<Gate>();
    EXPECT_THROW(run_blocking([gate] { gate->wait(); }, 1ms), TimeoutError);
    EXPECT_THROW(run_blocking([gate] { gate->wait(); }, timeout(1ms)), TimeoutError);
    auto token = ManualEvent::create();
    auto firing = spawn([&] { token->notify(nullptr, nullptr).ignore(); });
    EXPECT_THROW(run_blocking([gate] { gate->wait(); }, *token), Cancellation);
    gate->open();
    clock().set_auto_advance(false);
    EXPECT_EQ(run_blocking([] { return 1; }, 1h), 1);
    clock().set_auto_advance(true);
}

CORO_TEST(RunBlocking, NamesItselfInDumps) {
    Gate gate;
    auto unnamed = spawn([&] { run_blocking([&] { gate.wait(); }); });
    auto named = spawn([&] { run_blocking("resize", [&] { gate.wait(); }); });
    settle();
    const std::vector<std::string> first = unnamed.coroutine().awaiting();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].find("Task(run_blocking_test.cpp:"), 0U) << first[0];
    const std::vector<std::string> second = named.coroutine().awaiting();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].find("Task(resize, "), 0U) << second[0];
    gate.open();
    await(unnamed);
    await(named);
}

TEST(RunBlockingMisuse, NeedsARuntime) {
    EXPECT_EQ(code_of([] { run_blocking([] {}); }), ErrorCode::NotRunning);
}

}  // namespace
}  // namespace trueasync::testing
