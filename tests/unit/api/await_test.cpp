#include <trueasync/api/await.hpp>

#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

/// The message of the cancellation that `body` throws; fails the test when it throws none.
template <typename F>
std::string cancellation_of(F&& body) {
    try {
        body();
    } catch (const Cancellation& cancellation) {
        return cancellation.message();
    }
    ADD_FAILURE() << "no cancellation was thrown";
    return {};
}

Duration now() { return Scheduler::current()->reactor().now().time_since_epoch(); }

CORO_TEST(Await, FinishedCoroutineDoesNotSuspend) {
    auto handle = spawn([] { return 1; });
    settle();
    bool has_other_run = false;
    auto other = spawn([&] { has_other_run = true; });
    EXPECT_EQ(await(handle), 1);
    EXPECT_FALSE(has_other_run);
    await(other);
}

CORO_TEST(Await, EventByReferenceAndByRef) {
    ManualEvent event;
    auto counted = ManualEvent::create();
    auto first = spawn([&] { await(event); });
    auto second = spawn([&] { await(counted); });
    settle();
    EXPECT_FALSE(first.is_finished());
    event.notify();
    await(first);
    EXPECT_FALSE(second.is_finished());
    counted->notify();
    await(second);
}

CORO_TEST(Await, SeveralAwaitersGetTheSameResult) {
    auto handle = spawn([] {
        sleep_for(1ms);
        return std::string("shared");
    });
    std::vector<Handle<std::string>> awaiters;
    for (int i = 0; i < 3; ++i) {
        awaiters.push_back(spawn([&] { return await(handle); }));
    }
    for (const auto& awaiter : awaiters) {
        EXPECT_EQ(await(awaiter), "shared");
    }
}

CORO_TEST(Await, ManualEventRemembersNothing) {
    ManualEvent event;
    event.notify();
    auto waiter = spawn([&] { await(event); });
    settle();
    EXPECT_FALSE(waiter.is_finished());
    event.notify();
    await(waiter);
}

CORO_TEST(Await, CancelledWaiterDoesNotCancelWhatItWaitsFor) {
    auto work = spawn([] {
        sleep_for(10ms);
        return 9;
    });
    auto waiter = spawn([&] { return await(work); });
    settle();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_EQ(await(work), 9);
}

CORO_TEST(Await, EventsErrorIsThrown) {
    ManualEvent event;
    auto waiter = spawn([&] { return code_of([&] { await(event); }); });
    auto limited = spawn([&] { return code_of([&] { await(event, 1h); }); });
    settle();
    const auto error = Error::make(ErrorCode::System, "broken");
    ASSERT_TRUE(event.notify(nullptr, error.get()));
    EXPECT_EQ(await(waiter), ErrorCode::System);
    EXPECT_EQ(await(limited), ErrorCode::System);
}

CORO_TEST(Await, OneselfIsRefused) {
    Handle<ErrorCode> self;
    self = spawn([&] { return code_of([&] { await(self); }); });
    EXPECT_EQ(await(self), ErrorCode::AwaitSelf);
}

CORO_TEST(Await, ClosedEventIsRefusedWithAWarning) {
    ManualEvent event;
    event.close();
    EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::EventClosed);
    EXPECT_EQ(code_of([&] { await(event, 1ms); }), ErrorCode::EventClosed);
    EXPECT_TRUE(sink.has(Warning::ClosedEvent));
}

CORO_TEST(Await, EventClosedMeanwhileWakesWithAnError) {
    auto event = ManualEvent::create();
    auto waiter = spawn([&] { return code_of([&] { await(event); }); });
    settle();
    event->close();
    EXPECT_EQ(await(waiter), ErrorCode::EventClosed);
}

RUNTIME_TEST(Await, OutsideACoroutineIsRefused) {
    ManualEvent event;
    EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([&] { await(event, 1ms); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { suspend(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { sleep_for(1ms); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { sleep_for(0ms); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { current(); }), ErrorCode::NotInCoroutine);
}

CORO_TEST(Await, InACallbackIsRefused) {
    class Suspending final : public Callback {
    public:
        void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override {
            code = code_of([] { sleep_for(1ms); });
        }
        void destroy() noexcept override {}
        ErrorCode code = ErrorCode::System;
    };
    Suspending callback;
    auto timer = TimerEvent::create(clock(), 1ms);
    ASSERT_TRUE(timer->add_callback(callback));
    await(timer);
    EXPECT_EQ(callback.code, ErrorCode::SuspendRefused);
}

// --- limits

CORO_TEST(AwaitLimit, DurationEndsTheWaitAndNothingElse) {
    auto work = spawn([] {
        sleep_for(50ms);
        return 3;
    });
    const Duration begin = now();
    EXPECT_THROW(await(work, 10ms), TimeoutError);
    EXPECT_EQ(now() - begin, 10ms);
    EXPECT_FALSE(work.is_finished());
    EXPECT_EQ(await(work, 1h), 3);
    EXPECT_EQ(now() - begin, 50ms);
    EXPECT_EQ(clock().timer_count(), 0U) << "the rest of the hour is disarmed";
    EXPECT_EQ(clock().active().visible, 0U);
}

CORO_TEST(AwaitLimit, Deadline) {
    ManualEvent event;
    const Instant when = clock().now() + 10ms;
    sleep_for(4ms);
    EXPECT_EQ(code_of([&] { await(event, Deadline::at(when)); }), ErrorCode::Timeout);
    EXPECT_EQ(clock().now(), when);
    EXPECT_EQ(code_of([&] { await(event, Deadline::at(when - 5ms)); }), ErrorCode::Timeout) << "in the past";
    EXPECT_EQ(clock().now(), when);
    EXPECT_EQ(code_of([&] { await(event, Deadline::after(2ms)); }), ErrorCode::Timeout);
    EXPECT_EQ(clock().now(), when + 2ms);
}

CORO_TEST(AwaitLimit, NeverIsNoLimit) {
    auto handle = spawn([] {
        sleep_for(1h);
        return 1;
    });
    EXPECT_EQ(await(handle, Deadline::never()), 1);
}

CORO_TEST(AwaitLimit, ZeroLetsOthersRunOnce) {
    auto quick = spawn([] { return 1; });
    EXPECT_EQ(await(quick, 0ms), 1);
    auto slow = spawn([] { sleep_for(1ms); });
    EXPECT_THROW(await(slow, 0ms), TimeoutError);
}

CORO_TEST(AwaitLimit, HugeDurationIsNever) {
    auto handle = spawn([] { sleep_for(1ms); });
    await(handle, std::chrono::hours::max());
}

CORO_TEST(AwaitLimit, TimeoutAsLimit) {
    ManualEvent event;
    const Duration begin = now();
    EXPECT_THROW(await(event, timeout(10ms)), TimeoutError);
    EXPECT_EQ(now() - begin, 10ms);
    auto counted = ManualEvent::create();
    EXPECT_THROW(await(counted, timeout(5ms)), TimeoutError);
    EXPECT_EQ(event.callback_count(), 0U);
}

CORO_TEST(AwaitLimit, EventAsToken) {
    /// [token]
    ManualEvent event;
    ManualEvent token;
    auto waiter = spawn([&] { return cancellation_of([&] { await(event, token); }); });
    suspend();
    token.notify();
    EXPECT_EQ(await(waiter), "Operation has been cancelled");
    /// [token]
    EXPECT_FALSE(waiter.is_cancelled()) << "the wait was cancelled, not the coroutine";
    EXPECT_EQ(event.callback_count(), 0U);
    EXPECT_EQ(token.callback_count(), 0U);
}

CORO_TEST(AwaitLimit, HandleAsToken) {
    ManualEvent event;
    auto token = spawn([] { sleep_for(10ms); });
    const Duration begin = now();
    EXPECT_EQ(cancellation_of([&] { await(event, token); }), "Operation has been cancelled");
    EXPECT_EQ(now() - begin, 10ms);
}

CORO_TEST(AwaitLimit, TimerAsToken) {
    ManualEvent event;
    auto timer = TimerEvent::create(clock(), 10ms);
    EXPECT_EQ(cancellation_of([&] { await(event, *timer); }), "Operation has been cancelled");
}

CORO_TEST(AwaitLimit, TokenThatFailedIsThePreviousError) {
    ManualEvent event;
    auto token = spawn([] {
        suspend();
        throw std::runtime_error("why");
    });
    try {
        await(event, token);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "Operation has been cancelled");
        EXPECT_EQ(cancellation.reason(), CancelReason::Token);
        ASSERT_NE(cancellation.error()->previous(), nullptr);
        EXPECT_NE(cancellation.error()->previous()->message().find("why"), std::string::npos);
    }
    EXPECT_TRUE(sink.unhandled.empty()) << "whoever uses it as a token takes its error";
}

CORO_TEST(AwaitLimit, TokenThatHasEndedAlreadyEndsTheWaitAtOnce) {
    ManualEvent event;
    auto token = spawn([] {});
    settle();
    const auto before = scheduler().stats().switches;
    EXPECT_EQ(cancellation_of([&] { await(event, token); }), "Operation has been cancelled");
    EXPECT_EQ(scheduler().stats().switches, before);
    EXPECT_EQ(event.callback_count(), 0U);
}

CORO_TEST(AwaitLimit, ExpiredTimeoutEndsTheWaitAtOnce) {
    ManualEvent event;
    const Timeout limit = timeout(10ms);
    EXPECT_THROW(await(event, limit), TimeoutError);
    const Duration begin = now();
    EXPECT_THROW(await(event, limit), TimeoutError);
    EXPECT_EQ(now(), begin);
}

CORO_TEST(AwaitLimit, WhatIsAwaitedWinsWhenItComesFirst) {
    ManualEvent token;
    auto work = spawn([] {
        sleep_for(1ms);
        return 8;
    });
    EXPECT_EQ(await(work, token), 8);
    EXPECT_EQ(token.callback_count(), 0U);
    auto failing = spawn([] {
        sleep_for(1ms);
        throw std::runtime_error("own error");
    });
    EXPECT_THROW(await(failing, timeout(1h)), std::runtime_error);
    EXPECT_EQ(clock().timer_count(), 0U);
}

CORO_TEST(AwaitLimit, TokenOnlyEndsTheWait) {
    ManualEvent token;
    auto work = spawn([] {
        sleep_for(10ms);
        return 4;
    });
    auto waiter = spawn([&] { return cancellation_of([&] { await(work, token); }); });
    settle();
    token.notify();
    await(waiter);
    EXPECT_EQ(await(work), 4);
}

CORO_TEST(AwaitLimit, OneTokenEndsManyWaits) {
    ManualEvent token;
    ManualEvent event;
    std::vector<Handle<std::string>> waiters;
    for (int i = 0; i < 5; ++i) {
        waiters.push_back(spawn([&] { return cancellation_of([&] { await(event, token); }); }));
    }
    settle();
    token.notify();
    for (const auto& waiter : waiters) {
        EXPECT_EQ(await(waiter), "Operation has been cancelled");
    }
}

CORO_TEST(AwaitLimit, CancellationOfTheCoroutineWinsOverALimit) {
    ManualEvent event;
    auto waiter = spawn([&] { return cancellation_of([&] { await(event, 1h); }); });
    settle();
    waiter.cancel("enough");
    settle();
    EXPECT_TRUE(waiter.is_finished());
    EXPECT_EQ(await(waiter), "enough");
    EXPECT_EQ(clock().timer_count(), 0U);
}

// --- suspend and sleep

CORO_TEST(Suspend, LetsEverybodyElseRunFirst) {
    std::vector<int> order;
    for (int i = 0; i < 3; ++i) {
        spawn([&, i] {
            order.push_back(i);
            suspend();
            order.push_back(10 + i);
        });
    }
    suspend();
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
    suspend();
    EXPECT_EQ(order, (std::vector{0, 1, 2, 10, 11, 12}));
}

CORO_TEST(Suspend, AloneReturnsAtOnce) {
    const Duration begin = now();
    settle();
    EXPECT_EQ(now(), begin);
}

CORO_TEST(SleepFor, ZeroLetsOthersRun) {
    bool has_run = false;
    spawn([&] { has_run = true; });
    const Duration begin = now();
    sleep_for(0ms);
    EXPECT_TRUE(has_run);
    EXPECT_EQ(now(), begin);
    has_run = false;
    spawn([&] { has_run = true; });
    sleep_for(-5ms);
    EXPECT_TRUE(has_run);
    EXPECT_EQ(now(), begin);
}

CORO_TEST(SleepFor, TakesAnyDurationAndRoundsUp) {
    const Duration begin = now();
    sleep_for(std::chrono::duration<double, std::nano>(1.5));
    EXPECT_EQ(now() - begin, 2ns);
    sleep_for(std::chrono::duration<double>(0.5));
    EXPECT_EQ(now() - begin, 500ms + 2ns);
}

CORO_TEST(SleepFor, SleepsOverlap) {
    const Duration begin = now();
    std::vector<Handle<void>> sleepers;
    for (int i = 0; i < 100; ++i) {
        sleepers.push_back(spawn([] { sleep_for(10ms); }));
    }
    for (const auto& sleeper : sleepers) {
        await(sleeper);
    }
    EXPECT_EQ(now() - begin, 10ms);
}

CORO_TEST(Current, IsTheRunningCoroutine) {
    EXPECT_EQ(&current(), &scheduler().main());
    auto handle = spawn([] { return current().id(); });
    EXPECT_EQ(await(handle), handle.id());
    EXPECT_EQ(&current(), &scheduler().main());
}

}  // namespace
}  // namespace trueasync::testing
