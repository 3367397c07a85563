#include <trueasync/sync/multi_wait.hpp>

#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(MultiWaits, EnoughIsEnough) {
    /// [enough]
    FutureState<int> one;
    FutureState<int> two;
    FutureState<int> three;
    MultiWait wait(2);
    for (const FutureState<int>* state : {&one, &two, &three}) {
        EXPECT_TRUE(wait.add(state->future().state()));
    }
    spawn([&] {
        three.complete(3);
        sleep_for(1ms);
        one.complete(1);
    });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(wait.order(), (std::vector<std::size_t>{2, 0}));
    /// [enough]
    EXPECT_FALSE(wait.is_done(1));
}

CORO_TEST(MultiWaits, WhatHappensBeforeTheWaiterGoesOnIsNotedToo) {
    FutureState<int> one;
    FutureState<int> two;
    MultiWait wait(1);
    EXPECT_TRUE(wait.add(one.future().state()));
    EXPECT_TRUE(wait.add(two.future().state()));
    spawn([&] {
        two.complete(2);
        one.complete(1);
    });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(wait.order(), (std::vector<std::size_t>{1, 0}));
}

CORO_TEST(MultiWaits, EnoughAlreadyCostsNoSwitch) {
    FutureState<int> one;
    one.complete(1);
    MultiWait wait(1);
    EXPECT_TRUE(wait.add(one.future().state()));
    const auto before = Scheduler::current()->stats().switches;
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(Scheduler::current()->stats().switches, before);
}

CORO_TEST(MultiWaits, NothingIsAll) {
    MultiWait wait;
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(wait.first_error(), nullptr);
}

CORO_TEST(MultiWaits, SameEventTwice) {
    FutureState<int> one;
    MultiWait wait;
    EXPECT_TRUE(wait.add(one.future().state()));
    EXPECT_TRUE(wait.add(one.future().state()));
    spawn([&] { one.complete(1); });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(wait.order().size(), 2U);
}

CORO_TEST(MultiWaits, ErrorsCountAsThrough) {
    FutureState<int> one;
    MultiWait wait(1);
    EXPECT_TRUE(wait.add(one.future().state()));
    spawn([&] { one.fail(std::runtime_error("no")); });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    ASSERT_NE(wait.error(0), nullptr);
    EXPECT_EQ(wait.first_error(), wait.error(0));
}

CORO_TEST(MultiWaits, FirstErrorEndsItWhenAskedTo) {
    FutureState<int> one;
    FutureState<int> two;
    two.ignore();
    MultiWait wait(MultiWait::kAll, true);
    EXPECT_TRUE(wait.add(one.future().state()));
    EXPECT_TRUE(wait.add(two.future().state()));
    spawn([&] { one.fail(std::runtime_error("no")); });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_FALSE(wait.is_done(1));
}

CORO_TEST(MultiWaits, LoopEventsAreStartedAndStopped) {
    Reactor& reactor = Scheduler::current()->reactor();
    const Ref<TimerEvent> quick = TimerEvent::create(reactor, 5ms);
    const Ref<TimerEvent> slow = TimerEvent::create(reactor, 1h);
    {
        MultiWait wait(1);
        EXPECT_TRUE(wait.add(*quick));
        EXPECT_TRUE(wait.add(*slow));
        EXPECT_EQ(wait.wait(), WaitResult::Ready);
        EXPECT_EQ(wait.order(), (std::vector<std::size_t>{0}));
        EXPECT_TRUE(slow->is_in_loop());
    }
    EXPECT_FALSE(slow->is_in_loop());
    EXPECT_EQ(slow->callback_count(), 0U);
}

CORO_TEST(MultiWaits, OpenOneWaitsForMore) {
    FutureState<int> one;
    FutureState<int> two;
    one.complete(1);
    MultiWait wait;
    wait.keep_open();
    EXPECT_TRUE(wait.add(one.future().state()));
    spawn([&] {
        EXPECT_TRUE(wait.add(two.future().state()));
        two.complete(2);
        wait.seal();
    });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    EXPECT_EQ(wait.size(), 2U);
}

CORO_TEST(MultiWaits, AbortEndsIt) {
    MultiWait wait;
    wait.keep_open();
    spawn([&] { wait.abort(Error::make(ErrorCode::InvalidArgument, "the iterator failed")); });
    EXPECT_EQ(wait.wait(), WaitResult::Failed);
    EXPECT_EQ(Scheduler::take_wait_error()->message(), "the iterator failed");
}

CORO_TEST(MultiWaits, TokenGoesBeforeEverything) {
    FutureState<int> one;
    FutureState<int> token;
    one.complete(1);
    token.complete(1);
    MultiWait wait;
    EXPECT_TRUE(wait.add(one.future().state()));
    EXPECT_EQ(wait.wait(Limit(static_cast<Event&>(token.future().state()))), WaitResult::Cancelled);
    token.ignore();
}

CORO_TEST(MultiWaits, TokenAmongTheTriggersStillCancels) {
    FutureState<int> token;
    MultiWait wait;
    EXPECT_TRUE(wait.add(token.future().state()));
    spawn([&] { token.complete(1); });
    EXPECT_EQ(wait.wait(Limit(static_cast<Event&>(token.future().state()))), WaitResult::Cancelled);
}

CORO_TEST(MultiWaits, TokenAfterEnoughComesTooLate) {
    FutureState<int> one;
    FutureState<int> token;
    MultiWait wait;
    EXPECT_TRUE(wait.add(one.future().state()));
    spawn([&] {
        one.complete(1);
        token.complete(1);
    });
    EXPECT_EQ(wait.wait(Limit(static_cast<Event&>(token.future().state()))), WaitResult::Ready);
}

CORO_TEST(MultiWaits, DeadlineAndCancellationLeaveNothingBehind) {
    FutureState<int> one;
    one.ignore();
    {
        MultiWait wait;
        EXPECT_TRUE(wait.add(one.future().state()));
        EXPECT_EQ(wait.wait(Deadline::after(1ms)), WaitResult::TimedOut);
        auto waiter = spawn([&] { return wait.wait(); });
        suspend();
        waiter.cancel();
        EXPECT_EQ(await(waiter), WaitResult::Cancelled);
        EXPECT_EQ(one.future().state().callback_count(), 1U);
    }
    EXPECT_EQ(one.future().state().callback_count(), 0U);
}

CORO_TEST(MultiWaits, ClosedEventThatCannotFireIsRefused) {
    const Ref<ManualEvent> event = ManualEvent::create();
    event->close();
    MultiWait wait;
    const Status status = wait.add(*event);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error()->code(), ErrorCode::EventClosed);
    EXPECT_EQ(wait.size(), 0U);
}

CORO_TEST(MultiWaits, EventThatClosesMeanwhileIsAnError) {
    const Ref<ManualEvent> event = ManualEvent::create();
    MultiWait wait;
    EXPECT_TRUE(wait.add(*event));
    spawn([event] { event->close(); });
    EXPECT_EQ(wait.wait(), WaitResult::Ready);
    ASSERT_NE(wait.error(0), nullptr);
    EXPECT_EQ(wait.error(0)->code(), ErrorCode::EventClosed);
}

CORO_TEST(MultiWaits, DumpNamesWhatIsMissing) {
    FutureState<int> one;
    auto waiter = spawn([&] {
        MultiWait wait;
        EXPECT_TRUE(wait.add(one.future().state()));
        EXPECT_EQ(wait.wait(), WaitResult::Ready);
    });
    suspend();
    EXPECT_EQ(waiter.coroutine().awaiting(), (std::vector<std::string>{"FutureState(pending)"}));
    one.complete(1);
    await(waiter);
}

}  // namespace
}  // namespace trueasync::testing
