#include <trueasync/api/future.hpp>

#include <stdexcept>
#include <string>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

std::string message_of(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        return error.what();
    } catch (const Cancellation& cancellation) {
        return cancellation.message();
    }
}

template <typename F>
std::string thrown_by(F&& function) {
    try {
        function();
    } catch (...) {
        return message_of(std::current_exception());
    }
    return "nothing";
}

CORO_TEST(Futures, ValueComesLater) {
    /// [future]
    FutureState<int> state;
    spawn([state] {
        sleep_for(10ms);
        state.complete(42);
    });
    const Future<int> future = state.future();
    const int answer = future.await();
    /// [future]
    EXPECT_EQ(answer, 42);
    EXPECT_EQ(await(future), 42) << "everyone who asks gets it";
}

CORO_TEST(Futures, CompleteOneCostsNoSwitch) {
    FutureState<int> state;
    state.complete(1);
    const auto before = Scheduler::current()->stats().switches;
    EXPECT_EQ(await(state.future()), 1);
    EXPECT_EQ(Scheduler::current()->stats().switches, before);
}

CORO_TEST(Futures, SecondCompletionIsRefusedAndNamesTheFirst) {
    FutureState<int> state;
    state.future().ignore();
    state.complete(1);
    const std::string line = std::to_string(__LINE__ - 1);
    const std::string text = thrown_by([&] { state.complete(2); });
    EXPECT_TRUE(text.starts_with("FutureState is already completed at ")) << text;
    EXPECT_TRUE(text.ends_with("future_test.cpp:" + line)) << text;
    EXPECT_THROW(state.fail(std::runtime_error("late")), AsyncError);
    EXPECT_EQ(await(state.future()), 1);
}

CORO_TEST(Futures, ErrorGoesToEveryReader) {
    FutureState<int> state;
    auto one = spawn([&] { return thrown_by([&] { await(state.future()); }); });
    auto two = spawn([&] { return thrown_by([&] { await(state.future()); }); });
    suspend();
    state.fail(std::runtime_error("no"));
    EXPECT_EQ(await(one), "no");
    EXPECT_EQ(await(two), "no");
    EXPECT_EQ(thrown_by([&] { await(state.future()); }), "no") << "late ones too";
}

CORO_TEST(Futures, Nothing) {
    FutureState<void> state;
    spawn([&] { state.complete(); });
    await(state.future());
    EXPECT_TRUE(state.is_completed());
}

CORO_TEST(Futures, OnlyMovable) {
    FutureState<std::unique_ptr<int>> state;
    state.complete(std::make_unique<int>(3));
    EXPECT_EQ(*await(state.future()), 3);
}

CORO_TEST(Futures, CompletedAndFailedFromTheStart) {
    EXPECT_EQ(await(Future<std::string>::completed("now")), "now");
    await(Future<void>::completed());
    const auto failed = Future<int>::failed(std::make_exception_ptr(std::runtime_error("never")));
    EXPECT_TRUE(failed.is_completed());
    EXPECT_EQ(thrown_by([&] { await(failed); }), "never");
}

CORO_TEST(Futures, CancelRejects) {
    FutureState<int> state;
    auto waiter = spawn([&] { return thrown_by([&] { await(state.future()); }); });
    suspend();
    state.future().cancel();
    EXPECT_TRUE(state.future().is_cancelled());
    EXPECT_EQ(await(waiter), "Future has been cancelled");
    state.future().cancel("again");
    EXPECT_EQ(thrown_by([&] { await(state.future()); }), "Future has been cancelled");
}

CORO_TEST(Futures, LimitEndsTheWaitOnly) {
    FutureState<int> state;
    EXPECT_THROW(await(state.future(), 10ms), TimeoutError);
    state.complete(5);
    EXPECT_EQ(await(state.future()), 5);
}

CORO_TEST(Futures, HandleMayGoDuringTheWait) {
    auto state = std::make_unique<FutureState<std::string>>();
    auto future = std::make_unique<Future<std::string>>(state->future());
    auto waiter = spawn([&] { return await(*future); });
    suspend();
    state->complete(std::string(100, 'x'));
    future.reset();
    state.reset();
    EXPECT_EQ(await(waiter), std::string(100, 'x'));
}

// --- chains

CORO_TEST(FutureChains, MapRunsInACoroutineOfItsOwn) {
    FutureState<int> state;
    std::vector<std::string> steps;
    auto twice = state.future().map([&](int value) {
        steps.emplace_back("map");
        suspend();
        return std::to_string(value * 2);
    });
    state.complete(21);
    steps.emplace_back("completed");
    EXPECT_EQ(await(twice), "42");
    EXPECT_EQ(steps, (std::vector<std::string>{"completed", "map"}));
}

CORO_TEST(FutureChains, FailureSkipsMapAndSuccessSkipsRecover) {
    FutureState<int> good;
    FutureState<int> bad;
    const auto never = [](std::exception_ptr) -> int { throw std::logic_error("called"); };
    auto passed = good.future().recover(never);
    auto recovered = bad.future().map([](int) -> int { throw std::logic_error("called"); }).recover([](auto error) {
        return static_cast<int>(message_of(error).size());
    });
    good.complete(1);
    bad.fail(std::runtime_error("four"));
    EXPECT_EQ(await(passed), 1);
    EXPECT_EQ(await(recovered), 4);
}

CORO_TEST(FutureChains, FinallyPassesTheOutcomeUnlessItThrows) {
    int calls = 0;
    EXPECT_EQ(await(Future<int>::completed(7).finally([&] { ++calls; })), 7);
    auto failed = Future<int>::failed(std::make_exception_ptr(std::runtime_error("bad")));
    EXPECT_EQ(thrown_by([&] { await(failed.finally([&] { ++calls; })); }), "bad");
    EXPECT_EQ(
        thrown_by([&] { await(Future<int>::completed(7).finally([] { throw std::runtime_error("own"); })); }), "own"
    );
    EXPECT_EQ(calls, 2);
    failed.ignore();
}

CORO_TEST(FutureChains, ThrowingCallbackRejectsTheNext) {
    auto next = Future<int>::completed(1).map([](int) -> int { throw std::runtime_error("mapped"); });
    EXPECT_EQ(thrown_by([&] { await(next); }), "mapped");
}

CORO_TEST(FutureChains, CancelledBeforeItBeginsALinkStillCompletesTheNext) {
    FutureState<int> state;
    auto next = state.future().map([](int value) {
        suspend();
        return value;
    });
    state.complete(1);
    cancel_youngest();
    EXPECT_EQ(thrown_by([&] { await(next); }), "youngest");
}

CORO_TEST(FutureChains, CallbacksRunInTheOrderTheyWereAddedBeforeTheFirstReaderGoesOn) {
    FutureState<int> state;
    std::vector<int> order;
    auto first = state.future().map([&](int) { order.push_back(1); });
    auto second = state.future().map([&](int) { order.push_back(2); });
    auto third = state.future().map([&](int) { order.push_back(3); });
    state.complete(0);
    await(first);
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    second.ignore();
    third.ignore();
}

CORO_TEST(FutureChains, LinksInBetweenNeedNoHolder) {
    FutureState<int> state;
    auto last = state.future().map([](int value) { return value + 1; }).map([](int value) { return value + 1; });
    spawn([state] { state.complete(1); });
    EXPECT_EQ(await(last), 3);
}

/// Counts how often it comes to its end.
class Counting final : public Continuation {
public:
    bool applies(const Error* /*error*/) const noexcept override { return false; }
    void pass(FutureEvent& /*source*/) noexcept override { ++passed; }
    Ref<Error> run() override { return {}; }

    inline static int passed = 0;
};

CORO_TEST(FutureChains, ShowWhoWaits) {
    const auto future = make_ref<FutureOf<int>>();
    std::vector<Continuation*> shown;
    const auto collect = [&] {
        shown.clear();
        future->each_continuation([&](Continuation& one) { shown.push_back(&one); });
    };
    collect();
    EXPECT_TRUE(shown.empty());
    auto first = std::make_unique<Counting>();
    auto second = std::make_unique<Counting>();
    const std::vector<Continuation*> expected{first.get(), second.get()};
    future->then(std::move(first));
    future->then(std::move(second));
    subscribe(*future, [] {});
    collect();
    EXPECT_EQ(shown, expected) << "and not the other callback";
    ASSERT_TRUE(future->complete(1).ok());
    collect();
    EXPECT_TRUE(shown.empty());
    EXPECT_EQ(Counting::passed, 2);
}

CORO_TEST(FutureChains, CancelledCallbackCoroutineRejectsTheNext) {
    FutureState<int> state;
    auto next = state.future().map([](int) {
        sleep_for(1h);
        return 1;
    });
    state.complete(1);
    suspend();
    for (Coroutine& coroutine : Scheduler::current()->alive()) {
        if (&coroutine != Scheduler::current_coroutine()) {
            Scheduler::current()->cancel(coroutine, {});
        }
    }
    EXPECT_EQ(thrown_by([&] { await(next); }), "Coroutine cancelled");
    EXPECT_TRUE(next.is_cancelled());
}

// --- warnings

TEST_F(CoroTest, FutureThatNobodyUsedIsWorthAWarning) {
    in_runtime([] {
        FutureState<int> state;
        state.complete(1);
    });
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_TRUE(
        sink.warnings[0].text.starts_with("Future was never used; call await(), map(), catch(), finally() or ignore() "
                                          "to suppress this warning. Created at ")
    ) << sink.warnings[0].text;
    EXPECT_NE(sink.warnings[0].text.find("future_test.cpp:"), std::string::npos);
}

TEST_F(CoroTest, FutureWhoseErrorNobodyTookIsWorthAWarning) {
    in_runtime([] {
        FutureState<int> state;
        auto next = state.future().finally([] {});
        next.ignore();
        state.fail(std::runtime_error("lost"));
        suspend();
    });
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::UnhandledFuture);
    EXPECT_TRUE(sink.warnings[0].text.starts_with(
        "Unhandled exception in Future: std::runtime_error: lost; use catch() or ignore() to handle. Created at "
    )) << sink.warnings[0].text;
    EXPECT_NE(sink.warnings[0].text.find(", completed at "), std::string::npos);
}

TEST_F(CoroTest, FutureThatWasUsedOrIgnoredWarnsOfNothing) {
    in_runtime([] {
        FutureState<int> ignored;
        ignored.ignore();
        FutureState<int> failed;
        failed.fail(std::runtime_error("seen"));
        EXPECT_EQ(thrown_by([&] { await(failed.future()); }), "seen");
        FutureState<int> token;
        FutureState<int> awaited;
        awaited.complete(1);
        token.complete(1);
        EXPECT_EQ(await(awaited.future()), 1);
        token.ignore();
        EXPECT_EQ(await(Future<int>::failed(std::make_exception_ptr(1)).recover([](auto) { return 2; })), 2);
    });
    for (const auto& warning : sink.warnings) {
        ADD_FAILURE() << warning.text;
    }
}

}  // namespace
}  // namespace trueasync::testing
