#include <trueasync/runtime/waker.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- the five states

CORO_TEST(Waker, StatesOfAWait) {
    ManualEvent event;
    auto child = make_coroutine([&] {
        EXPECT_EQ(current().waker_state(), WakerState::NoStatus);  // running
        WaitGuard guard;
        guard.add(event);
        EXPECT_EQ(current().waker_state(), WakerState::NoStatus);  // prepared
        EXPECT_EQ(guard.park(), WaitResult::Ready);
        EXPECT_EQ(current().waker_state(), WakerState::Result);  // what fired can be read
        EXPECT_EQ(guard.fired()->event(), &event);
    });
    EXPECT_EQ(child->waker_state(), WakerState::NoStatus);  // not spawned
    ASSERT_TRUE(scheduler().spawn(*child).ok());
    EXPECT_EQ(child->waker_state(), WakerState::Queued);
    suspend();
    EXPECT_EQ(child->waker_state(), WakerState::Waiting);
    event.notify();
    EXPECT_EQ(child->waker_state(), WakerState::Queued);
    event.notify();
    EXPECT_EQ(child->waker_state(), WakerState::Queued);
    await(*child);
    EXPECT_EQ(child->waker_state(), WakerState::NoStatus);
}

CORO_TEST(Waker, StatesOfAYield) {
    auto child = spawn([] { suspend(); });
    suspend();
    EXPECT_EQ(child.coroutine().waker_state(), WakerState::Queued);
    EXPECT_EQ(scheduler().main().waker_state(), WakerState::NoStatus);
    await(child);
}

CORO_TEST(Waker, StatesOfACancellation) {
    ManualEvent event;
    auto unstarted = spawn([] {});
    unstarted.cancel();
    EXPECT_EQ(unstarted.coroutine().waker_state(), WakerState::Ignored);
    EXPECT_TRUE(unstarted.coroutine().is_queued());
    auto waiting = spawn([&] {
        EXPECT_EQ(wait_for(event), WaitResult::Cancelled);
        EXPECT_EQ(current().waker_state(), WakerState::NoStatus);
    });
    suspend();
    EXPECT_EQ(unstarted.coroutine().waker_state(), WakerState::NoStatus);
    EXPECT_TRUE(unstarted.is_finished());
    EXPECT_EQ(waiting.coroutine().waker_state(), WakerState::Waiting);
    waiting.cancel();
    EXPECT_EQ(waiting.coroutine().waker_state(), WakerState::Queued);
    await(waiting);
}

CORO_TEST(Waker, StatesOfAFastReturn) {
    auto child = spawn([] {});
    await(child);
    WaitGuard guard;
    guard.add(child.coroutine());
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(current().waker_state(), WakerState::Result);
}

CORO_TEST(Waker, StatesOfADeadline) {
    ManualEvent event;
    auto child = spawn([&] { EXPECT_EQ(wait_for(event, Deadline::after(1ms)), WaitResult::TimedOut); });
    suspend();
    EXPECT_EQ(child.coroutine().waker_state(), WakerState::Waiting);
    await(child);
    EXPECT_EQ(child.coroutine().waker_state(), WakerState::NoStatus);
}

CORO_TEST(Waker, OneWaiterTakesNoFurtherReference) {
    auto event = ManualEvent::create();
    auto child = spawn([&] { await(event); });
    suspend();
    EXPECT_EQ(event->ref_count(), 2U);  // the wait keeps what it waits for
    EXPECT_EQ(event->callback_count(), 1U);
    event->notify();
    await(child);
    EXPECT_EQ(event->ref_count(), 1U);
    EXPECT_EQ(event->callback_count(), 0U);
}

// --- results

CORO_TEST(Waker, ResultPointerOfWhatFired) {
    ManualEvent event;
    int value = 17;
    spawn([&] { EXPECT_TRUE(event.notify(&value, nullptr).ok()); });
    WaitGuard guard;
    guard.add(event);
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(guard.fired()->result(), &value);
    EXPECT_TRUE(guard.fired()->has_fired());
    EXPECT_EQ(guard.fired()->role(), WakeRole::Wake);
    EXPECT_EQ(guard.waker().size(), 1U);
}

CORO_TEST(Waker, ErrorOfWhatFired) {
    ManualEvent event;
    spawn([&] {
        const Ref<Error> error = Error::make(ErrorCode::System, "broken");
        EXPECT_TRUE(event.notify(nullptr, error.get()).ok());
    });
    WaitGuard guard;
    guard.add(event);
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    ASSERT_NE(guard.fired()->error(), nullptr);  // kept beyond the notification
    EXPECT_EQ(guard.fired()->error()->message(), "broken");
    EXPECT_EQ(guard.fired()->error()->code(), ErrorCode::System);
}

CORO_TEST(Waker, ErrorOfACoroutineHasNoResult) {
    auto child = spawn([]() -> int { throw std::runtime_error("no"); });
    WaitGuard guard;
    guard.add(child.coroutine());
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    ASSERT_NE(guard.fired()->error(), nullptr);
    EXPECT_TRUE(contains(guard.fired()->error()->message(), "no"));
    EXPECT_EQ(guard.fired()->result(), nullptr);
}

CORO_TEST(Waker, FirstToFireWinsWhenSeveralDo) {
    ManualEvent a;
    ManualEvent b;
    ManualEvent c;
    spawn([&] {
        b.notify();
        a.notify();
        b.notify();
    });
    WaitGuard guard;
    guard.add(a);
    guard.add(b);
    guard.add(c);
    EXPECT_EQ(guard.park(), WaitResult::Ready);
    EXPECT_EQ(guard.fired()->event(), &b);
    EXPECT_TRUE(guard.waker().at(0).has_fired());
    EXPECT_TRUE(guard.waker().at(1).has_fired());
    EXPECT_FALSE(guard.waker().at(2).has_fired());
}

CORO_TEST(Waker, GuardsCanFollowEachOther) {
    ManualEvent event;
    auto waiter = spawn([&] {
        for (int i = 0; i < 3; ++i) {
            WaitGuard guard;
            guard.add(event);
            EXPECT_EQ(guard.park(Deadline::after(1s)), WaitResult::Ready);
        }
    });
    for (int i = 0; i < 3; ++i) {
        suspend();
        event.notify();
    }
    await(waiter);
    expect_clean(event);
    expect_clean(current());
}

// --- every way out leaves nothing behind

struct Everything {
    Ref<TimerEvent> timer = TimerEvent::create(Scheduler::current()->reactor(), std::chrono::seconds(50));
    Ref<TriggerEvent> trigger = TriggerEvent::create(Scheduler::current()->reactor());
    Ref<FakeLoopEvent> loop_event = make_loop_event();
    Ref<ManualEvent> manual = ManualEvent::create();
    ManualEvent gate;
    Handle<void> job = spawn([this] { await(gate); });

    void add_all(WaitGuard& guard) const {
        guard.add(*timer);
        guard.add(*trigger);
        guard.add(*loop_event);
        guard.add(job.coroutine());
        guard.add(*manual);
    }

    void expect_left() const {
        for (const Event* event :
             {static_cast<const Event*>(timer.get()), static_cast<const Event*>(trigger.get()),
              static_cast<const Event*>(loop_event.get()), static_cast<const Event*>(manual.get())}) {
            expect_clean(*event);
            EXPECT_EQ(event->ref_count(), 1U) << event->info();
        }
        EXPECT_EQ(job.coroutine().callback_count(), 0U);
        EXPECT_EQ(loop_event->entered, loop_event->left);
    }

    void open() {
        gate.notify();
        await(job);
    }
};

CORO_TEST(WaitLeaves, NothingBehindAfterSuccess) {
    Everything all;
    auto waiter = spawn([&] {
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(guard.park(Deadline::after(1h)), WaitResult::Ready);
    });
    settle(3);
    EXPECT_EQ(clock().active().visible, 4U);
    EXPECT_EQ(clock().timer_count(), 2U);
    all.manual->notify();
    await(waiter);
    all.expect_left();
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterCancel) {
    Everything all;
    auto waiter = spawn([&] {
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(guard.park(Deadline::after(1h)), WaitResult::Cancelled);
    });
    settle(3);
    waiter.cancel();
    await(waiter);
    all.expect_left();
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterTimeout) {
    Everything all;
    auto waiter = spawn([&] {
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(guard.park(Deadline::after(1ms)), WaitResult::TimedOut);
    });
    await(waiter);
    all.expect_left();
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterAnEventClosed) {
    Everything all;
    auto waiter = spawn([&] {
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(guard.park(Deadline::after(1h)), WaitResult::Refused);
    });
    settle(3);
    all.trigger->close();
    await(waiter);
    all.expect_left();
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterAnExceptionBeforePark) {
    Everything all;
    auto waiter = spawn([&] {
        WaitGuard guard;
        all.add_all(guard);
        throw std::runtime_error("changed my mind");
    });
    EXPECT_THROW(await(waiter), std::runtime_error);
    all.expect_left();
    EXPECT_EQ(all.loop_event->starts, 0);
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindWhenNeverParked) {
    Everything all;
    {
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(current().wait(), &guard);
    }
    all.expect_left();
    expect_clean(current());
    settle(3);
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterAFailedStart) {
    Everything all;
    auto waiter = spawn([&] {
        auto failing = make_loop_event();
        failing->is_start_failing = true;
        {
            WaitGuard guard;
            all.add_all(guard);
            guard.add(*failing);
            EXPECT_EQ(guard.park(Deadline::after(1h)), WaitResult::Refused);
        }
        const Ref<Error> error = Scheduler::take_wait_error();
        ASSERT_NE(error, nullptr);
        EXPECT_EQ(error->message(), "this event does not start");
        EXPECT_EQ(failing->stops, 0);
        expect_clean(*failing);
        expect_clean(current());
    });
    await(waiter);
    EXPECT_EQ(all.loop_event->starts, 1);
    all.expect_left();
    all.open();
}

CORO_TEST(WaitLeaves, NothingBehindAfterARefusedAdd) {
    Everything all;
    auto waiter = spawn([&] {
        auto closed = ManualEvent::create();
        closed->close();
        WaitGuard guard;
        all.add_all(guard);
        EXPECT_EQ(guard.add(*closed), WaitResult::Refused);
        EXPECT_EQ(guard.park(Deadline::after(1h)), WaitResult::Refused);
    });
    await(waiter);
    EXPECT_EQ(all.loop_event->starts, 0);
    all.expect_left();
    expect_clean(waiter.coroutine());
    all.open();
}

CORO_TEST(WaitLeaves, ToOthersWhatTheyStillNeed) {
    auto timer = TimerEvent::create(clock(), 10ms);
    auto first = spawn([&] { await(timer); });
    auto second = spawn([&] { await(timer); });
    suspend();
    EXPECT_EQ(timer->loop_ref_count(), 2U);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(timer->loop_ref_count(), 1U);
    EXPECT_EQ(clock().timer_count(), 1U);
    await(second);
    expect_clean(*timer);
}

}  // namespace
}  // namespace trueasync::testing
