#include <trueasync/runtime/wait.hpp>

#include <support/runtime_fakes.hpp>
#include <thread>

namespace trueasync::testing {
namespace {

// --- the general way

CORO_TEST(WaitGuard, SeveralEventsOfDifferentTypes) {
    auto job = spawn([] { sleep_for(1h); });
    auto timer = TimerEvent::create(clock(), 20ms);
    auto trigger = TriggerEvent::create(clock());
    ManualEvent button;
    spawn([&] {
        sleep_for(5ms);
        button.notify();
    });
    /// [several_events]
    {
        WaitGuard guard;
        guard.add(*timer);
        guard.add(job.coroutine());
        guard.add(*trigger);
        guard.add(button);
        const WaitResult result = guard.park(Deadline::after(1s));  // nothing is started before this line
        EXPECT_EQ(result, WaitResult::Ready);
        EXPECT_EQ(guard.fired()->event(), &button);
    }  // all four are unsubscribed, timer and deadline are disarmed
    /// [several_events]
    expect_clean(*timer);
    expect_clean(*trigger);
    expect_clean(button);
    EXPECT_EQ(job.coroutine().callback_count(), 0U);
    EXPECT_EQ(clock().timer_count(), 1U);  // the job still sleeps
    job.cancel();
    settle();
    expect_clean(current());
}

CORO_TEST(WaitGuard, EachTypeCanBeTheOneThatFires) {
    for (int which = 0; which < 4; ++which) {
        auto timer = TimerEvent::create(clock(), 10ms);
        auto trigger = TriggerEvent::create(clock());
        ManualEvent manual;
        ManualEvent go;
        auto job = spawn([&] {
            await(go);
            return 5;
        });
        auto helper = spawn([&] {
            if (which == 1) {
                trigger->fire();
            } else if (which == 2) {
                manual.notify();
            } else if (which == 3) {
                go.notify();
            }
        });
        Event* const expected[] = {timer.get(), trigger.get(), &manual, &job.coroutine()};
        {
            WaitGuard guard;
            for (Event* event : expected) {
                EXPECT_EQ(guard.add(*event), WaitResult::Ready);
            }
            EXPECT_EQ(guard.park(), WaitResult::Ready);
            ASSERT_NE(guard.fired(), nullptr) << which;
            EXPECT_EQ(guard.fired()->event(), expected[which]) << which;
            EXPECT_EQ(guard.fired()->error(), nullptr);
            if (which == 3) {
                EXPECT_EQ(*static_cast<int*>(guard.fired()->result()), 5);
            }
        }
        for (Event* event : expected) {
            expect_clean(*event);
        }
        expect_clean(current());
        await(helper);
        go.notify();
        await(job);
    }
}

CORO_TEST(WaitGuard, EventsAreStartedOnlyBySuspending) {
    auto event = make_loop_event();
    auto other = make_loop_event();
    auto waiter = spawn([&] {
        WaitGuard guard;
        guard.add(*event);
        guard.add(*other);
        EXPECT_EQ(event->starts, 0);
        EXPECT_EQ(event->callback_count(), 1U);
        EXPECT_EQ(clock().active().visible, 0U);
        EXPECT_EQ(guard.park(), WaitResult::Ready);
        EXPECT_EQ(event->starts, 1);
        EXPECT_EQ(other->starts, 1);
    });
    suspend();
    EXPECT_EQ(event->loop_ref_count(), 1U);
    EXPECT_EQ(clock().active().visible, 2U);
    EXPECT_TRUE(event->notify(nullptr, nullptr).ok());
    await(waiter);
    EXPECT_EQ(event->entered, event->left);
    EXPECT_EQ(other->stops, 1);
    EXPECT_EQ(other->left, 1);
    expect_clean(*event);
    expect_clean(*other);
    expect_clean(waiter.coroutine());
}

CORO_TEST(WaitGuard, TimersBeginToCountWhenTheWaitBegins) {
    auto timer = TimerEvent::create(clock(), 10ms);
    WaitGuard guard;
    guard.add(*timer);
    clock().advance(1s);
    const Instant begun = clock().now();
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(clock().now() - begun, 10ms);
}

CORO_TEST(WaitGuard, OneThatHasFiredAlreadyReturnsAtOnce) {
    auto child = spawn([] { return 3; });
    await(child);
    auto event = make_loop_event();
    const SchedulerStats before = scheduler().stats();
    {
        WaitGuard guard;
        guard.add(*event);
        guard.add(child.coroutine());
        EXPECT_TRUE(guard.waker().has_fired());
        EXPECT_EQ(guard.park(), WaitResult::Ready);
        EXPECT_EQ(guard.fired()->event(), &child.coroutine());
        EXPECT_EQ(*static_cast<int*>(guard.fired()->result()), 3);
        EXPECT_EQ(event->starts, 0);  // nothing is started for a wait that is over
    }
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    EXPECT_EQ(scheduler().stats().fast_returns - before.fast_returns, 1U);
    expect_clean(*event);
    expect_clean(current());
}

CORO_TEST(WaitGuard, OneThatFiresBetweenAddAndParkReturnsAtOnce) {
    ManualEvent event;
    const SchedulerStats before = scheduler().stats();
    WaitGuard guard;
    guard.add(event);
    event.notify();
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(guard.fired()->event(), &event);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    EXPECT_EQ(scheduler().stats().fast_returns - before.fast_returns, 1U);
}

CORO_TEST(WaitGuard, OneThatFiresInsideStartReturnsAtOnce) {
    for (const Firing firing : {Firing::OneShot, Firing::Repeating}) {
        auto first = make_loop_event();
        auto second = make_loop_event(firing);
        auto third = make_loop_event();
        second->is_firing_in_start = true;
        const SchedulerStats before = scheduler().stats();
        {
            WaitGuard guard;
            guard.add(*first);
            guard.add(*second);
            guard.add(*third);
            EXPECT_EQ(guard.park(Deadline::after(1s)), WaitResult::Ready);
            EXPECT_EQ(guard.fired()->event(), second.get());
        }
        EXPECT_EQ(first->starts, 1);
        EXPECT_EQ(first->left, 1);
        EXPECT_EQ(second->entered, second->left);
        EXPECT_EQ(third->starts, 0);  // the wait was over before its turn
        EXPECT_EQ(scheduler().stats().switches, before.switches);
        EXPECT_EQ(scheduler().stats().fast_returns - before.fast_returns, 1U);
        expect_clean(*first);
        expect_clean(*second);
        expect_clean(*third);
        expect_clean(current());
    }
}

CORO_TEST(WaitGuard, SameEventTwiceInOneWait) {
    ManualEvent event;
    auto waiter = spawn([&] {
        WaitGuard guard;
        guard.add(event);
        guard.add(event);
        EXPECT_EQ(guard.park(), WaitResult::Ready);
    });
    suspend();
    EXPECT_EQ(event.callback_count(), 2U);
    event.notify();
    await(waiter);
    expect_clean(event);
}

CORO_TEST(WaitGuard, ManyEventsInOneWait) {
    std::vector<Ref<ManualEvent>> events;
    for (int i = 0; i < 100; ++i) {
        events.push_back(ManualEvent::create());
    }
    auto waiter = spawn([&] {
        WaitGuard guard;
        for (const auto& event : events) {
            guard.add(*event);
        }
        EXPECT_EQ(guard.waker().size(), 100U);
        EXPECT_EQ(guard.park(), WaitResult::Ready);
        EXPECT_EQ(guard.fired()->event(), events[77].get());
    });
    suspend();
    events[77]->notify();
    await(waiter);
    for (const auto& event : events) {
        expect_clean(*event);
        EXPECT_EQ(event->ref_count(), 1U);
    }
}

CORO_TEST(WaitGuard, WaitForNothingWithDeadlineIsASleep) {
    const Instant begun = clock().now();
    WaitGuard guard;
    EXPECT_EQ(guard.park(Deadline::after(3ms)), WaitResult::TimedOut);
    EXPECT_EQ(guard.fired(), nullptr);
    EXPECT_EQ(clock().now() - begun, 3ms);
}

// --- roles and deadlines

CORO_TEST(WaitGuard, DeadlineEndsTheWait) {
    auto event = make_loop_event();
    const Instant begun = clock().now();
    {
        WaitGuard guard;
        guard.add(*event);
        EXPECT_EQ(guard.park(Deadline::after(7ms)), WaitResult::TimedOut);
        EXPECT_EQ(guard.fired(), nullptr);
    }
    EXPECT_EQ(Scheduler::take_wait_error(), nullptr);  // a deadline makes no error
    EXPECT_EQ(clock().now() - begun, 7ms);
    expect_clean(*event);
    expect_clean(current());
}

CORO_TEST(WaitGuard, DeadlineAsAPointInTime) {
    ManualEvent event;
    const Instant when = clock().now() + 9ms;
    EXPECT_EQ(wait_for(event, Deadline::at(when)), WaitResult::TimedOut);
    EXPECT_EQ(clock().now(), when);
    EXPECT_EQ(wait_for(event, Deadline::at(when)), WaitResult::TimedOut);  // passed: over at once, nothing moves
    EXPECT_EQ(clock().now(), when);
    expect_clean(event);
    expect_clean(current());
}

CORO_TEST(WaitGuard, DeadlineOfAWaitThatIsOverIsDisarmed) {
    ManualEvent event;
    spawn([&] {
        EXPECT_EQ(clock().timer_count(), 1U);
        EXPECT_EQ(clock().active().visible, 1U);
        event.notify();
    });
    EXPECT_EQ(wait_for(event, Deadline::after(1h)), WaitResult::Ready);
    expect_clean(event);
    expect_clean(current());
}

CORO_TEST(WaitGuard, EventThatFiresWithTheDeadlineWins) {
    auto timer = TimerEvent::create(clock(), 5ms);
    WaitGuard guard;
    guard.add(*timer);
    EXPECT_EQ(guard.park(Deadline::after(5ms)), WaitResult::Ready);
    EXPECT_EQ(guard.fired()->event(), timer.get());
}

CORO_TEST(WaitGuard, TimeoutRoleEndsTheWait) {
    auto job = spawn([] { sleep_for(1h); });
    const Timeout limit = timeout(15ms);
    {
        WaitGuard guard;
        guard.add(job.coroutine());
        guard.add(limit.event(), WakeRole::Timeout);
        EXPECT_EQ(guard.park(), WaitResult::TimedOut);
        EXPECT_EQ(guard.fired()->role(), WakeRole::Timeout);
    }
    const Ref<Error> error = Scheduler::take_wait_error();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), ErrorCode::Timeout);
    EXPECT_TRUE(contains(error->message(), "15 milliseconds"));
    EXPECT_EQ(job.coroutine().callback_count(), 0U);
    expect_clean(limit.event());
    EXPECT_FALSE(job.is_finished());  // only the wait is over
    job.cancel();
}

CORO_TEST(WaitGuard, AnyEventCanHaveTheTimeoutRole) {
    ManualEvent event;
    ManualEvent limit;
    spawn([&] { limit.notify(); });
    WaitGuard guard;
    guard.add(event);
    guard.add(limit, WakeRole::Timeout);
    EXPECT_EQ(guard.park(), WaitResult::TimedOut);
    EXPECT_EQ(Scheduler::take_wait_error(), nullptr);
}

CORO_TEST(WaitGuard, CancelRoleCancelsTheWaitNotTheCoroutine) {
    ManualEvent event;
    ManualEvent token;
    spawn([&] { token.notify(); });
    {
        WaitGuard guard;
        guard.add(event);
        guard.add(token, WakeRole::Cancel);
        EXPECT_EQ(guard.park(), WaitResult::Cancelled);
        EXPECT_EQ(guard.fired()->event(), &token);
    }
    const Ref<Error> error = Scheduler::take_wait_error();
    ASSERT_NE(error, nullptr);
    EXPECT_TRUE(error->is_cancellation());
    EXPECT_FALSE(current().is_cancel_requested());
    expect_clean(event);
    expect_clean(token);
    suspend();  // this coroutine was not cancelled
}

CORO_TEST(WaitGuard, TokenWithAnErrorIsTheCause) {
    ManualEvent event;
    auto token = spawn([] { throw std::runtime_error("operator pressed stop"); });
    try {
        await(event, token);
        FAIL();
    } catch (const Cancellation& cancellation) {
        ASSERT_NE(cancellation.error()->previous(), nullptr);
        EXPECT_TRUE(contains(cancellation.error()->previous()->message(), "operator pressed stop"));
    }
}

CORO_TEST(WaitGuard, CompletedTokenCancelsAtOnce) {
    ManualEvent event;
    auto token = spawn([] {});
    await(token);
    const SchedulerStats before = scheduler().stats();
    EXPECT_THROW(await(event, token), Cancellation);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    expect_clean(event);
}

// --- closed events

CORO_TEST(WaitGuard, ClosedEventWithoutReplayIsRefusedWithAWarning) {
    auto event = ManualEvent::create();
    event->close();
    {
        WaitGuard guard;
        EXPECT_EQ(guard.add(*event), WaitResult::Refused);
        EXPECT_EQ(guard.park(), WaitResult::Refused);
    }
    const Ref<Error> error = Scheduler::take_wait_error();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), ErrorCode::EventClosed);
    EXPECT_TRUE(sink.has(Warning::ClosedEvent));
    EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::EventClosed);
    EXPECT_EQ(sink.warnings.size(), 2U);
    expect_clean(*event);
    expect_clean(current());
    EXPECT_EQ(event->ref_count(), 1U);
}

CORO_TEST(WaitGuard, FiredTimerIsClosedToLateWaiters) {
    auto timer = TimerEvent::create(clock(), 1ms);
    await(timer);
    EXPECT_EQ(code_of([&] { await(timer); }), ErrorCode::EventClosed);
    EXPECT_TRUE(sink.has(Warning::ClosedEvent));
}

CORO_TEST(WaitGuard, EventClosedWhileWaitedForWakesItsWaiters) {
    auto event = ManualEvent::create();
    int woken = 0;
    std::vector<Handle<void>> waiters;
    for (int i = 0; i < 3; ++i) {
        waiters.push_back(spawn([&] {
            EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::EventClosed);
            ++woken;
        }));
    }
    suspend();
    event->close();
    settle();
    EXPECT_EQ(woken, 3);
    EXPECT_FALSE(sink.has(Warning::ClosedEvent));  // they came in time
    expect_clean(*event);
}

CORO_TEST(WaitGuard, EventOnAStackMayGoWhileItIsWaitedFor) {
    auto event = std::make_unique<ManualEvent>();
    auto waiter = spawn([&] { EXPECT_EQ(code_of([&] { await(*event); }), ErrorCode::EventClosed); });
    suspend();
    event.reset();
    await(waiter);
    expect_clean(waiter.coroutine());
}

CORO_TEST(WaitGuard, DroppedEventLivesAsLongAsItIsWaitedFor) {
    auto timer = TimerEvent::create(clock(), 3ms);
    Event* raw = timer.get();
    WaitGuard guard;
    guard.add(*timer);
    timer.reset();
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(guard.fired()->event(), raw);
}

// --- the direct way

/// What a channel does: values, and those who wait for one.
class Mailbox final : public Event {
public:
    Mailbox() noexcept : Event(EventType::Channel) { mark_no_free_memory(); }

    /// [direct_wait]
    WaitResult take(int& value, Deadline deadline = Deadline::never()) {
        if (values.empty()) {
            DirectWait wait(*this);
            waiters.push_back(wait);
            const WaitResult result = wait.park(deadline);
            if (result != WaitResult::Ready) {
                if (wait.is_woken()) {
                    hand_on();  // a value was put aside for this waiter, which does not want it any more
                }
                return result;
            }
        }
        value = values.front();
        values.erase(values.begin());
        return WaitResult::Ready;
    }

    void put(int value) {
        values.push_back(value);
        hand_on();
    }

    void hand_on() {
        if (DirectWait* next = waiters.pop_front()) {
            next->wake();
        }
    }
    /// [direct_wait]

    std::string info() const override { return "Mailbox(" + std::to_string(values.size()) + ")"; }

    std::vector<int> values;
    IntrusiveList<DirectWait> waiters;
};

CORO_TEST(DirectWait, WaitersAreServedInOrder) {
    Mailbox box;
    std::string trace;
    std::vector<Handle<void>> takers;
    for (int i = 0; i < 3; ++i) {
        takers.push_back(spawn([&, i] {
            int value = 0;
            EXPECT_EQ(box.take(value), WaitResult::Ready);
            trace += std::to_string(i) + "=" + std::to_string(value) + " ";
        }));
    }
    suspend();
    box.put(10);
    box.put(20);
    box.put(30);
    settle();
    EXPECT_EQ(trace, "0=10 1=20 2=30 ");
    EXPECT_TRUE(box.waiters.empty());
    expect_clean(current());
}

CORO_TEST(DirectWait, ParkIsOneSwitchEachWay) {
    Mailbox box;
    auto taker = spawn([&] {
        int value = 0;
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(box.take(value), WaitResult::Ready);
            EXPECT_EQ(value, i);
        }
    });
    suspend();
    const SchedulerStats before = scheduler().stats();
    for (int i = 0; i < 99; ++i) {
        box.put(i);
        suspend();
    }
    const SchedulerStats after = scheduler().stats();
    EXPECT_EQ(after.switches - before.switches, 198U);
    EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
    box.put(99);
    await(taker);
}

CORO_TEST(DirectWait, WokenBeforeParkReturnsAtOnce) {
    ManualEvent source;
    const SchedulerStats before = scheduler().stats();
    DirectWait wait(source);
    EXPECT_FALSE(wait.is_woken());
    wait.wake();
    EXPECT_TRUE(wait.is_woken());
    EXPECT_EQ(wait.park(), WaitResult::Ready);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    EXPECT_EQ(scheduler().stats().fast_returns - before.fast_returns, 1U);
}

CORO_TEST(DirectWait, CancelledWaiterLeavesTheList) {
    Mailbox box;
    auto first = spawn([&] {
        int value = 0;
        EXPECT_EQ(box.take(value), WaitResult::Cancelled);
    });
    int got = 0;
    auto second = spawn([&] { EXPECT_EQ(box.take(got), WaitResult::Ready); });
    suspend();
    first.cancel();
    await(first);
    box.put(5);
    await(second);
    EXPECT_EQ(got, 5);
    EXPECT_TRUE(box.waiters.empty());
}

CORO_TEST(DirectWait, CancelAfterWakeHandsOn) {
    Mailbox box;
    auto first = spawn([&] {
        int value = 0;
        EXPECT_EQ(box.take(value), WaitResult::Cancelled);
    });
    int got = 0;
    auto second = spawn([&] { EXPECT_EQ(box.take(got), WaitResult::Ready); });
    suspend();
    box.put(5);      // for the first one,
    first.cancel();  // which is cancelled before it gets to it
    await(second);
    EXPECT_EQ(got, 5);
    EXPECT_TRUE(first.is_finished());
    EXPECT_TRUE(box.waiters.empty());
    EXPECT_TRUE(box.values.empty());
}

CORO_TEST(DirectWait, DeadlineLeavesTheList) {
    Mailbox box;
    int value = 0;
    const Instant begun = clock().now();
    EXPECT_EQ(box.take(value, Deadline::after(4ms)), WaitResult::TimedOut);
    EXPECT_EQ(clock().now() - begun, 4ms);
    EXPECT_TRUE(box.waiters.empty());
    expect_clean(current());
    auto taker = spawn([&] { EXPECT_EQ(box.take(value, Deadline::after(1h)), WaitResult::Ready); });
    suspend();
    box.put(8);
    await(taker);
    EXPECT_EQ(value, 8);
    expect_clean(current());
}

CORO_TEST(DirectWait, ExceptionUnlinksThroughTheDestructor) {
    Mailbox box;
    auto waiter = spawn([&] {
        DirectWait wait(box);
        box.waiters.push_back(wait);
        throw std::runtime_error("changed my mind");
    });
    EXPECT_THROW(await(waiter), std::runtime_error);
    EXPECT_TRUE(box.waiters.empty());
    expect_clean(waiter.coroutine());
}

CORO_TEST(DirectWait, WaitThatCouldNotBeginUnlinksToo) {
    Mailbox box;
    auto waiter = spawn([&] {
        scheduler().cancel(current(), {});  // pending: the wait is over before it begins
        int value = 0;
        EXPECT_EQ(box.take(value), WaitResult::Cancelled);
        EXPECT_TRUE(box.waiters.empty()) << "a dead waiter is left in the list";
    });
    await(waiter);
    EXPECT_TRUE(box.waiters.empty());
}

TEST(DirectWaitOutside, WaitOutsideACoroutineUnlinksToo) {
    Mailbox box;
    {
        DirectWait wait(box);
        box.waiters.push_back(wait);
        EXPECT_EQ(wait.park(), WaitResult::Refused);
    }
    EXPECT_TRUE(box.waiters.empty()) << "a dead waiter is left in the list";
    const Ref<Error> error = Scheduler::take_wait_error();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), ErrorCode::NotInCoroutine);
}

CORO_TEST(DirectWait, DumpNamesTheSource) {
    Mailbox box;
    auto waiter = spawn([&] {
        int value = 0;
        EXPECT_EQ(box.take(value, Deadline::after(20ms)), WaitResult::Ready);
    });
    suspend();
    const std::string text = describe(waiter.coroutine());
    EXPECT_TRUE(contains(text, "(waiting)")) << text;
    EXPECT_TRUE(contains(text, "    - Mailbox(0)\n")) << text;
    EXPECT_TRUE(contains(text, "    - Deadline(in 20ms)\n")) << text;
    EXPECT_TRUE(contains(dump(), "Mailbox(0)"));
    EXPECT_EQ(waiter.coroutine().awaiting(), (std::vector<std::string>{"Mailbox(0)", "Deadline(in 20ms)"}));
    box.put(1);
    await(waiter);
}

// --- sleeping

CORO_TEST(SleepUntil, SleepsExactlyOnAVirtualClock) {
    const Instant begun = clock().now();
    sleep_for(25ms);
    EXPECT_EQ(clock().now() - begun, 25ms);
    EXPECT_EQ(sleep_until(Deadline::at(begun + 30ms)), WaitResult::Ready);
    EXPECT_EQ(clock().now() - begun, 30ms);
    expect_clean(current());
}

CORO_TEST(SleepUntil, SleepersWakeInOrderOfTheirDeadlines) {
    std::string trace;
    std::vector<Handle<void>> sleepers;
    for (const int delay : {30, 10, 20, 10}) {
        sleepers.push_back(spawn([&trace, delay] {
            sleep_for(std::chrono::milliseconds(delay));
            trace += std::to_string(delay) + " ";
        }));
    }
    sleep_for(1s);
    EXPECT_EQ(trace, "10 10 20 30 ");
}

CORO_TEST(SleepUntil, ZeroLetsTheOthersRun) {
    bool has_run = false;
    auto other = spawn([&] { has_run = true; });
    const Instant begun = clock().now();
    sleep_for(0ms);
    EXPECT_TRUE(has_run);
    EXPECT_EQ(clock().now(), begun);
    sleep_for(-5ms);
    EXPECT_EQ(clock().now(), begun);
}

CORO_TEST(SleepUntil, CancelledSleepIsDisarmed) {
    auto sleeper = spawn([] { sleep_for(1h); });
    suspend();
    EXPECT_EQ(clock().timer_count(), 1U);
    const Instant begun = clock().now();
    sleeper.cancel();
    EXPECT_THROW(await(sleeper), Cancellation);
    EXPECT_EQ(clock().now(), begun);
    expect_clean(sleeper.coroutine());
}

CORO_TEST(SleepUntil, NeverIsAWaitForCancellation) {
    auto sleeper = spawn([] { EXPECT_EQ(sleep_until(Deadline::never()), WaitResult::Cancelled); });
    suspend();
    sleeper.cancel();
    await(sleeper);
}

// --- triggers from elsewhere

CORO_TEST(WaitGuard, TriggerFromAThreadWakesABlockedLoop) {
    auto trigger = TriggerEvent::create(clock());
    std::thread thread;
    subscribe(*trigger, [] {});
    auto waiter = spawn([&] { await(trigger); });
    suspend();
    thread = std::thread([&] { trigger->fire(); });
    await(waiter);
    thread.join();
    EXPECT_EQ(trigger->loop_ref_count(), 0U);
}

}  // namespace
}  // namespace trueasync::testing
