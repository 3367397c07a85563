#include <trueasync/reactor/timer.hpp>

#include <functional>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

/// Calls a function each time the event fires. Lies on the test's stack.
class Listener final : public Callback {
public:
    explicit Listener(std::function<void()> action = [] {}) : action_(std::move(action)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override {
        ++calls;
        action_();
    }
    int calls = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> action_;
};

/// One turn of a reactor without a runtime, which never sleeps.
void turn(VirtualReactor& reactor) { ASSERT_TRUE(reactor.execute(true)); }

CORO_TEST(TimerEvent, AwaitTakesTheDelay) {
    Reactor& reactor = scheduler().reactor();
    const Instant begin = reactor.now();
    /// [await_timer]
    auto timer = TimerEvent::create(reactor, 10ms);
    await(timer);  // the other coroutines run meanwhile
    /// [await_timer]
    EXPECT_EQ(reactor.now() - begin, 10ms);
    EXPECT_TRUE(timer->is_closed());
}

CORO_TEST(TimerEvent, CountsFromTheWaitNotFromTheCreation) {
    auto timer = TimerEvent::create(clock(), 10ms);
    sleep_for(25ms);
    const Instant begin = clock().now();
    await(timer);
    EXPECT_EQ(clock().now() - begin, 10ms);
}

RUNTIME_TEST(TimerEvent, OneShotFiresOnceAndCloses) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms);
    EXPECT_FALSE(timer->is_periodic());
    EXPECT_EQ(timer->state(), EventState::Created);
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(timer->state(), EventState::Active);
    EXPECT_EQ(timer->deadline(), reactor.now() + 10ms);
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(timer->state(), EventState::Closed);
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
    reactor.advance(1h);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_TRUE(timer->start().is(ErrorCode::EventClosed));
}

RUNTIME_TEST(TimerEvent, NeverFiresEarly) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms - 1ns);
    turn(reactor);
    EXPECT_EQ(listener.calls, 0);
    reactor.advance(1ns);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TimerEvent, NegativeAndZeroDelaysFireAtTheNextTurn) {
    VirtualReactor reactor;
    Listener listener;
    auto zero = TimerEvent::create(reactor, 0ms);
    auto negative = TimerEvent::create(reactor, -5ms);
    ASSERT_TRUE(zero->add_callback(listener));
    ASSERT_TRUE(negative->add_callback(listener));
    ASSERT_TRUE(zero->start());
    ASSERT_TRUE(negative->start());
    EXPECT_EQ(listener.calls, 0);
    EXPECT_EQ(negative->deadline(), reactor.now());
    turn(reactor);
    EXPECT_EQ(listener.calls, 2);
}

RUNTIME_TEST(TimerEvent, HugeDelayIsNeverInEffect) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, Duration::max());
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(timer->deadline(), Instant::max());
    reactor.advance(24h * 365 * 100);
    turn(reactor);
    EXPECT_TRUE(timer->is_in_loop());
}

RUNTIME_TEST(TimerEvent, HugePeriodIsNeverAgain) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms, Duration::max());
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(timer->deadline(), Instant::max());
    reactor.advance(1h);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TimerEvent, PeriodicFiresAgainWithoutDrift) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms, 5ms);
    EXPECT_TRUE(timer->is_periodic());
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(11ms);  // the loop comes a millisecond late
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(timer->state(), EventState::Active);
    EXPECT_EQ(timer->deadline(), begin + 15ms);
    reactor.advance(4ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 2);
    EXPECT_EQ(timer->deadline(), begin + 20ms);
}

RUNTIME_TEST(TimerEvent, MissedPeriodsFireOnce) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(57ms);
    turn(reactor);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(timer->deadline(), begin + 60ms) << "still a multiple of the period";
    reactor.advance(3ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 2);
    reactor.advance(20ms);  // exactly on a later deadline: that one is missed too, not due again at once
    turn(reactor);
    turn(reactor);
    EXPECT_EQ(listener.calls, 3);
    EXPECT_EQ(timer->deadline(), begin + 90ms);
}

CORO_TEST(TimerEvent, PeriodicCanBeAwaitedAgain) {
    Reactor& reactor = scheduler().reactor();
    const Instant begin = reactor.now();
    /// [periodic]
    auto timer = TimerEvent::create(reactor, 10ms, 10ms);
    ASSERT_TRUE(timer->start());  // keeps it armed between the waits
    for (int i = 1; i <= 3; ++i) {
        await(timer);
        EXPECT_EQ(reactor.now() - begin, i * 10ms);
    }
    ASSERT_TRUE(timer->stop());
    /// [periodic]
    EXPECT_EQ(clock().timer_count(), 0U);
}

RUNTIME_TEST(TimerEvent, PeriodicStoppedByItsOwnCallbackIsQuiet) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms, 10ms);
    Listener listener([&] { ASSERT_TRUE(timer->stop()); });
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(timer->state(), EventState::Stopped);
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
    reactor.advance(1h);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    timer->del_callback(listener);
}

RUNTIME_TEST(TimerEvent, RearmCountsAnewFromNow) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(8ms);
    ASSERT_TRUE(timer->rearm(10ms));
    EXPECT_EQ(timer->deadline(), reactor.now() + 10ms);
    EXPECT_EQ(timer->loop_ref_count(), 1U);
    reactor.advance(9ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 0);
    ASSERT_TRUE(timer->rearm(1ms));  // also to an earlier time
    EXPECT_EQ(timer->delay(), 1ms);
    reactor.advance(1ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TimerEvent, RearmOfAClosedOneIsRefused) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    turn(reactor);
    ASSERT_TRUE(timer->is_closed());
    const Status status = timer->rearm(20ms);
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    EXPECT_EQ(status.error()->message(), "cannot arm a closed timer again: Timer(timeout=10ms, once)");
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
}

RUNTIME_TEST(TimerEvent, RearmOfOneThatIsFiringIsRefused) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    Listener listener([&] { EXPECT_TRUE(timer->rearm(10ms).is(ErrorCode::IllegalState)); });
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_TRUE(timer->is_closed());
}

RUNTIME_TEST(TimerEvent, AMillionAtOnce) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    constexpr std::size_t kTimers = 50'000;
#else
    constexpr std::size_t kTimers = 1'000'000;
#endif
    VirtualReactor reactor;
    Listener listener;
    std::vector<Ref<TimerEvent>> timers;
    timers.reserve(kTimers);
    for (std::size_t i = 0; i < kTimers; ++i) {
        timers.push_back(TimerEvent::create(reactor, 1ms * static_cast<int>(i * 7919 % 1000 + 1)));
        ASSERT_TRUE(timers.back()->add_callback(listener));
        ASSERT_TRUE(timers.back()->start());
    }
    EXPECT_EQ(reactor.timer_count(), kTimers);
    EXPECT_EQ(reactor.active().visible, kTimers);
    for (std::size_t i = 0; i < kTimers; i += 2) {
        ASSERT_TRUE(timers[i]->rearm(2s));
    }
    for (std::size_t i = 0; i < kTimers; i += 4) {
        timers[i]->del_callback(listener);
        timers[i].reset();
    }
    reactor.advance(1s);
    turn(reactor);
    EXPECT_EQ(static_cast<std::size_t>(listener.calls), kTimers / 2);
    reactor.advance(1s);
    turn(reactor);
    EXPECT_EQ(static_cast<std::size_t>(listener.calls), kTimers / 2 + kTimers / 4);
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
}

RUNTIME_TEST(TimerEvent, RearmBeforeTheStartSetsTheDelay) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->rearm(20ms));
    EXPECT_EQ(reactor.timer_count(), 0U);
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(timer->deadline(), reactor.now() + 20ms);
}

RUNTIME_TEST(TimerEvent, PeriodicRearmedByItsOwnCallbackFollowsTheNewDelay) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms, 10ms);
    Listener listener([&] { ASSERT_TRUE(timer->rearm(3ms)); });
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(timer->deadline(), reactor.now() + 3ms);
    EXPECT_EQ(reactor.timer_count(), 1U);
    timer->del_callback(listener);
}

RUNTIME_TEST(TimerEvent, StartAndStopAreCounted) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    EXPECT_TRUE(timer->stop().is(ErrorCode::IllegalState));
    ASSERT_TRUE(timer->start());
    const Instant deadline = timer->deadline();
    reactor.advance(3ms);
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(timer->deadline(), deadline) << "a second start does not count anew";
    EXPECT_EQ(timer->loop_ref_count(), 2U);
    EXPECT_EQ(reactor.active().visible, 1U);
    ASSERT_TRUE(timer->stop());
    EXPECT_EQ(reactor.timer_count(), 1U);
    ASSERT_TRUE(timer->stop());
    EXPECT_EQ(timer->state(), EventState::Stopped);
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
    ASSERT_TRUE(timer->start());  // and from the beginning
    EXPECT_EQ(timer->deadline(), reactor.now() + 10ms);
}

RUNTIME_TEST(TimerEvent, DroppedWhileArmedLeavesTheReactor) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    auto hidden = TimerEvent::create(reactor, 10ms, 10ms);
    hidden->set_hidden(true);
    ASSERT_TRUE(timer->start());
    ASSERT_TRUE(hidden->start());
    EXPECT_EQ(reactor.timer_count(), 2U);
    timer.reset();
    hidden.reset();
    EXPECT_EQ(reactor.timer_count(), 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
    EXPECT_EQ(reactor.active().hidden, 0U);
    EXPECT_FALSE(reactor.is_alive());
}

RUNTIME_TEST(TimerEvent, DroppedByItsOwnCallback) {
    VirtualReactor reactor;
    for (const Duration period : {Duration::zero(), Duration(10ms)}) {
        auto timer = TimerEvent::create(reactor, 10ms, period);
        Listener listener([&] { timer.reset(); });
        ASSERT_TRUE(timer->add_callback(listener));
        ASSERT_TRUE(timer->start());
        reactor.advance(10ms);
        turn(reactor);
        EXPECT_EQ(listener.calls, 1);
        EXPECT_EQ(reactor.timer_count(), 0U);
        EXPECT_EQ(reactor.active().visible, 0U);
    }
}

RUNTIME_TEST(TimerEvent, DroppedByTheCallbackOfAnother) {
    VirtualReactor reactor;
    auto first = TimerEvent::create(reactor, 10ms);
    auto second = TimerEvent::create(reactor, 10ms);
    Listener listener([&] { second.reset(); });
    Listener never;
    ASSERT_TRUE(first->add_callback(listener));
    ASSERT_TRUE(second->add_callback(never));
    ASSERT_TRUE(first->start());
    ASSERT_TRUE(second->start());
    reactor.advance(10ms);
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(never.calls, 0);
}

CORO_TEST(TimerEvent, CancelledWaiterLeavesTheTimerArmedForTheOthers) {
    auto timer = TimerEvent::create(clock(), 10ms);
    const Instant begin = clock().now();
    bool was_cancelled = false;
    auto first = spawn([&] {
        try {
            await(timer);
        } catch (const Cancellation&) {
            was_cancelled = true;
        }
    });
    auto second = spawn([&] {
        await(timer);
        return clock().now() - begin;
    });
    settle();
    EXPECT_EQ(timer->loop_ref_count(), 2U);
    first.cancel();
    settle();
    EXPECT_TRUE(was_cancelled);
    EXPECT_EQ(timer->loop_ref_count(), 1U);
    EXPECT_EQ(clock().timer_count(), 1U);
    EXPECT_EQ(await(second), 10ms);
}

CORO_TEST(TimerEvent, LastCancelledWaiterDisarmsIt) {
    auto timer = TimerEvent::create(clock(), 10ms);
    auto waiter = spawn([&] { await(timer); });
    settle();
    EXPECT_EQ(clock().timer_count(), 1U);
    waiter.cancel();
    settle();
    EXPECT_EQ(clock().timer_count(), 0U);
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(timer->callback_count(), 0U);
    const Instant begin = clock().now();
    await(timer);  // usable as before
    EXPECT_EQ(clock().now() - begin, 10ms);
}

CORO_TEST(TimerEvent, WakesAllWaitersInTheOrderTheyCame) {
    auto timer = TimerEvent::create(clock(), 10ms);
    std::vector<int> order;
    std::vector<Handle<void>> waiters;
    for (int i = 0; i < 5; ++i) {
        waiters.push_back(spawn([&, i] {
            await(timer);
            order.push_back(i);
        }));
    }
    for (const auto& waiter : waiters) {
        await(waiter);
    }
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

CORO_TEST(TimerEvent, AwaitingOneThatHasFiredIsRefused) {
    auto timer = TimerEvent::create(clock(), 10ms);
    await(timer);
    EXPECT_EQ(code_of([&] { await(timer); }), ErrorCode::EventClosed);
    EXPECT_TRUE(sink.has(Warning::ClosedEvent));
}

CORO_TEST(TimerEvent, ClosedWhileAwaitedWakesTheWaiterWithAnError) {
    auto timer = TimerEvent::create(clock(), 10ms);
    auto waiter = spawn([&] { return code_of([&] { await(timer); }); });
    settle();
    timer->close();
    EXPECT_EQ(clock().timer_count(), 0U);
    EXPECT_EQ(await(waiter), ErrorCode::EventClosed);
}

RUNTIME_TEST(TimerEvent, VisibleOneKeepsTheLoopAlive) {
    Ref<TimerEvent> timer;
    Listener listener([&] { timer.reset(); });
    in_runtime([&] {
        timer = TimerEvent::create(clock(), 10ms);
        ASSERT_TRUE(timer->add_callback(listener));
        ASSERT_TRUE(timer->start());
    });
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TimerEvent, HiddenOneDoesNotKeepTheLoopAlive) {
    Listener listener;
    in_runtime([&] {
        auto timer = TimerEvent::create(clock(), 10ms);
        timer->set_hidden(true);
        ASSERT_TRUE(timer->add_callback(listener));
        spawn([timer] {
            ASSERT_TRUE(timer->start());
            suspend();
        });
    });
    EXPECT_EQ(listener.calls, 0);
    EXPECT_TRUE(sink.deadlocks.empty());
}

RUNTIME_TEST(TimerEvent, HiddenOneDoesNotCountAgainstADeadlock) {
    EXPECT_THROW(
        in_runtime([&] {
            auto timer = TimerEvent::create(clock(), 10ms);
            timer->set_hidden(true);
            await(timer);
        }),
        DeadlockError
    );
    EXPECT_EQ(sink.deadlocks.size(), 1U);
}

CORO_TEST(TimerEvent, HiddenOneFiresWhileOthersKeepTheLoopAlive) {
    Listener listener;
    auto timer = TimerEvent::create(clock(), 10ms);
    timer->set_hidden(true);
    ASSERT_TRUE(timer->add_callback(listener));
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(clock().active().hidden, 1U);
    sleep_for(20ms);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(clock().active().hidden, 0U);
}

RUNTIME_TEST(TimerEvent, HidingAnArmedOneCorrectsTheCount) {
    VirtualReactor reactor;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->start());
    EXPECT_EQ(reactor.active().visible, 1U);
    timer->set_hidden(true);
    EXPECT_EQ(reactor.active().visible, 0U);
    EXPECT_EQ(reactor.active().hidden, 1U);
    timer->set_hidden(false);
    EXPECT_EQ(reactor.active().visible, 1U);
    ASSERT_TRUE(timer->stop());
    EXPECT_EQ(reactor.active().visible, 0U);
    EXPECT_EQ(reactor.active().hidden, 0U);
}

RUNTIME_TEST(TimerEvent, InfoTellsDelayAndPeriod) {
    VirtualReactor reactor;
    EXPECT_EQ(TimerEvent::create(reactor, 10ms)->info(), "Timer(timeout=10ms, once)");
    EXPECT_EQ(TimerEvent::create(reactor, 2s, 5ms)->info(), "Timer(timeout=2000ms, every 5ms)");
    EXPECT_EQ(TimerEvent::create(reactor, 1500us)->info(), "Timer(timeout=1500us, once)");
    auto timer = TimerEvent::create(reactor, 10ms);
    EXPECT_EQ(timer->type(), EventType::Timer);
    ASSERT_TRUE(timer->rearm(7ms));
    EXPECT_EQ(timer->info(), "Timer(timeout=7ms, once)");
}

}  // namespace
}  // namespace trueasync::testing
