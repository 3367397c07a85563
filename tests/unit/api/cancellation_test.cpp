#include <trueasync/api/handle.hpp>

#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Cancellation, IsThrownAtTheSuspensionPoint) {
    std::vector<std::string> steps;
    auto worker = spawn([&] {
        steps.emplace_back("begin");
        try {
            sleep_for(1h);
            steps.emplace_back("not reached");
        } catch (const Cancellation& cancellation) {
            steps.push_back(cancellation.message());
            EXPECT_EQ(cancellation.reason(), CancelReason::UserRequest);
            throw;
        }
    });
    settle();
    worker.cancel("no longer needed");
    EXPECT_EQ(steps.size(), 1U) << "cancel never suspends";
    settle();
    EXPECT_EQ(steps, (std::vector<std::string>{"begin", "no longer needed"}));
    EXPECT_TRUE(worker.is_cancelled());
    EXPECT_EQ(clock().timer_count(), 0U);
}

CORO_TEST(Cancellation, HasADefaultMessage) {
    auto worker = spawn([] { sleep_for(1h); });
    settle();
    worker.cancel();
    try {
        await(worker);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "Coroutine cancelled");
    }
}

CORO_TEST(Cancellation, ReachesEveryKindOfWait) {
    ManualEvent event;
    auto trigger = TriggerEvent::create(clock());
    auto timer = TimerEvent::create(clock(), 1h);
    auto other = spawn([&] { sleep_for(2h); });
    const Timeout limit = timeout(1h);
    const std::vector<Handle<void>> waiters = {
        spawn([&] { await(event); }),
        spawn([&] { await(trigger); }),
        spawn([&] { await(timer); }),
        spawn([&] { await(other); }),
        spawn([&] { await(limit); }),
        spawn([&] { await(event, 1h); }),
        spawn([&] { await(other, limit); }),
        spawn([&] { sleep_for(1h); }),
        spawn([] {
            for (;;) {
                suspend();
            }
        }),
    };
    settle();
    for (const auto& waiter : waiters) {
        waiter.cancel();
    }
    settle();
    for (const auto& waiter : waiters) {
        EXPECT_TRUE(waiter.is_cancelled()) << waiter.coroutine().info();
    }
    EXPECT_EQ(event.callback_count(), 0U);
    EXPECT_EQ(trigger->callback_count(), 0U);
    EXPECT_EQ(timer->callback_count(), 0U);
    EXPECT_EQ(other.coroutine().callback_count(), 0U);
    other.cancel();
    settle();
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(clock().timer_count(), 0U);
}

CORO_TEST(Cancellation, UnwindsTheStack) {
    std::vector<int> destroyed;
    struct Guard {
        ~Guard() { list.push_back(number); }
        std::vector<int>& list;
        int number;
    };
    auto worker = spawn([&] {
        const Guard outer{destroyed, 1};
        const Guard inner{destroyed, 2};
        sleep_for(1h);
    });
    settle();
    worker.cancel();
    settle();
    EXPECT_EQ(destroyed, (std::vector{2, 1}));
}

CORO_TEST(Cancellation, BeforeTheStartTheBodyNeverRuns) {
    bool has_run = false;
    auto worker = spawn([&] { has_run = true; });
    worker.cancel();
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_FALSE(has_run);
    EXPECT_TRUE(worker.is_cancelled());
}

CORO_TEST(Cancellation, EndsACoroutineQuietly) {
    spawn([] { throw Cancellation(Error::cancellation(CancelReason::UserRequest, "by itself")); });
    auto dropped = spawn([] { sleep_for(1h); });
    settle();
    dropped.cancel();
    dropped = {};
    settle();
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Cancellation, AwaiterGetsIt) {
    auto worker = spawn([]() -> int {
        sleep_for(1h);
        return 1;
    });
    auto waiter = spawn([&] {
        try {
            await(worker);
        } catch (const Cancellation& cancellation) {
            return cancellation.message();
        }
        return std::string();
    });
    settle();
    worker.cancel("stop");
    EXPECT_EQ(await(waiter), "stop");
    EXPECT_FALSE(waiter.is_cancelled());
}

CORO_TEST(Cancellation, FirstRequestCountsUntilItIsDelivered) {
    auto worker = spawn([] {
        std::vector<std::string> messages;
        for (int i = 0; i < 2; ++i) {
            try {
                sleep_for(1h);
            } catch (const Cancellation& cancellation) {
                messages.push_back(cancellation.message());
            }
        }
        return messages;
    });
    settle();
    worker.cancel("first");
    worker.cancel("ignored");
    settle();
    worker.cancel("second");
    EXPECT_EQ(await(worker), (std::vector<std::string>{"first", "second"}));
    EXPECT_FALSE(worker.is_cancelled()) << "it went on and ended normally";
}

CORO_TEST(Cancellation, HandlerMayCleanUpAndSuspend) {
    bool is_clean = false;
    /// [cancel]
    auto worker = spawn([&] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            sleep_for(10ms);  // clean-up may suspend
            is_clean = true;
            throw;  // and lets the request pass on
        }
    });
    sleep_for(1ms);
    worker.cancel("no longer needed");
    EXPECT_THROW(await(worker), Cancellation);
    /// [cancel]
    EXPECT_TRUE(is_clean);
}

CORO_TEST(Cancellation, OfAFinishedCoroutineDoesNothing) {
    auto worker = spawn([] { return 1; });
    settle();
    worker.cancel();
    EXPECT_FALSE(worker.is_cancelled());
    EXPECT_EQ(await(worker), 1);
}

CORO_TEST(Cancellation, OfARunningCoroutineArrivesAtItsNextSuspensionPoint) {
    bool has_gone_on = false;
    Handle<void> self;
    self = spawn([&] {
        self.cancel();
        has_gone_on = true;
        suspend();
        FAIL();
    });
    EXPECT_THROW(await(self), Cancellation);
    EXPECT_TRUE(has_gone_on);
}

CORO_TEST(Cancellation, OfACoroutineThatIsAlreadyReadyArrivesToo) {
    ManualEvent event;
    auto worker = spawn([&] { await(event); });
    settle();
    event.notify();
    worker.cancel();
    EXPECT_THROW(await(worker), Cancellation);
}

CORO_TEST(Cancellation, ExceptionThrownInsteadIsWhatCounts) {
    auto worker = spawn([] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            throw std::runtime_error("clean-up failed");
        }
    });
    settle();
    worker.cancel();
    EXPECT_THROW(await(worker), std::runtime_error);
    EXPECT_FALSE(worker.is_cancelled());
}

CORO_TEST(Cancellation, MayBeCaughtWithDots) {
    bool was_caught = false;
    auto worker = spawn([&] {
        try {
            sleep_for(1h);
        } catch (...) {
            was_caught = true;
            throw;
        }
    });
    settle();
    worker.cancel();
    settle();
    EXPECT_TRUE(was_caught);
    EXPECT_TRUE(worker.is_cancelled());
}

CORO_TEST(Cancellation, IsRequestedBeforeItIsDelivered) {
    auto worker = spawn([] { sleep_for(1h); });
    settle();
    EXPECT_FALSE(worker.coroutine().is_cancel_requested());
    worker.cancel();
    EXPECT_TRUE(worker.coroutine().is_cancel_requested());
    EXPECT_FALSE(worker.is_cancelled());
    settle();
    EXPECT_TRUE(worker.is_cancelled());
}

}  // namespace
}  // namespace trueasync::testing
