#include <trueasync/event/event.hpp>

#include <gtest/gtest.h>

#include <vector>

#include <support/allocation_counter.hpp>
#include <support/fake_events.hpp>

// The eight methods; firing is in event_firing_test.cpp, closing and the end in event_end_test.cpp.

namespace trueasync {
namespace {

using testing::AllocationCounter;
using testing::FakeLoop;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::ResultEvent;
using testing::says;
using testing::subscriber;

// --- birth

TEST(Event, IsBornWithOneReferenceAndNothingElse) {
    Life life;
    const auto event = PassiveEvent::create(life);
    EXPECT_EQ(event->ref_count(), 1u);
    EXPECT_EQ(event->state(), EventState::Created);
    EXPECT_EQ(event->type(), EventType::Event);
    EXPECT_EQ(event->extra_offset(), 0u);
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(event->callback_count(), 0u);
    EXPECT_EQ(event->notify_handler(), nullptr);
    EXPECT_EQ(event->descriptor(), -1);
    EXPECT_EQ(event->host_object(), nullptr);
    EXPECT_EQ(event->resolve(), event.get());
    EXPECT_FALSE(event->is_closed());
    EXPECT_FALSE(event->is_hidden());
    EXPECT_FALSE(event->is_in_loop());
    for (unsigned flag = 0; flag <= 10; ++flag) {
        EXPECT_FALSE(event->has(static_cast<EventFlag>(1U << flag))) << flag;
    }
}

TEST(Event, PacksItsFourWords) { EXPECT_EQ(sizeof(EventHeader), sizeof(void*) + 4 * sizeof(std::uint32_t)); }

TEST(Event, TypeFlagsAndStateShareAWordUnharmed) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    event->mark_result_used();
    event->set_hidden(true);
    ASSERT_TRUE(event->start());
    EXPECT_EQ(event->type(), EventType::Timer);
    EXPECT_EQ(event->state(), EventState::Active);
    EXPECT_TRUE(event->has(EventFlag::ResultUsed));
    event->close();
    EXPECT_EQ(event->type(), EventType::Timer);
    EXPECT_EQ(event->state(), EventState::Closed);
    EXPECT_TRUE(event->is_hidden());
    EXPECT_FALSE(event->has(EventFlag::HostObject));
}

TEST(Event, WarmBirthAndEndAllocateNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Life life;
    PassiveEvent::create(life).reset();
    const AllocationCounter allocations;
    PassiveEvent::create(life).reset();
    EXPECT_EQ(allocations.count(), 0u);
    EXPECT_EQ(life.destroyed, 2);
}

// --- add_callback, del_callback

TEST(Event, AddCallbackSubscribes) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    const auto callback = subscriber();
    EXPECT_TRUE(event->add_callback(*callback));
    EXPECT_EQ(event->callback_count(), 1u);
    EXPECT_EQ(callback->ref_count(), 2u);
    int value = 0;
    EXPECT_TRUE(event->notify(&value, nullptr));
    EXPECT_EQ(callback->calls, 1);
    EXPECT_EQ(callback->last_result, &value);
}

TEST(Event, AddCallbackToAClosedEventIsRefused) {
    Life life;
    const auto event = PassiveEvent::create(life);
    event->close();
    const auto callback = subscriber();
    const Status status = event->add_callback(*callback);
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    EXPECT_TRUE(says(status, event->info())) << status.error()->message();
    EXPECT_EQ(callback->ref_count(), 1u);
    EXPECT_EQ(event->callback_count(), 0u);
}

TEST(Event, DelCallbackUnsubscribesAndDisposes) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    EXPECT_TRUE(event->del_callback(*callback));
    EXPECT_EQ(callback->disposals, 1);
    EXPECT_EQ(callback->disposed_by, event.get());
    EXPECT_EQ(callback->ref_count(), 1u);
    EXPECT_EQ(event->callback_count(), 0u);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 0);
    EXPECT_FALSE(event->del_callback(*callback));
    EXPECT_EQ(callback->disposals, 1);
}

TEST(Event, OneWaiterAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    const auto callback = subscriber();
    const AllocationCounter allocations;
    const bool subscribed = event->add_callback(*callback).ok();
    const bool notified = event->notify(nullptr, nullptr).ok();
    event->del_callback(*callback);
    EXPECT_EQ(allocations.count(), 0u);
    EXPECT_TRUE(subscribed && notified);
}

// --- start, stop

TEST(Event, StartAndStopDoNothingForPassiveEvents) {
    Life life;
    const auto event = PassiveEvent::create(life);
    EXPECT_TRUE(event->is_passive());
    EXPECT_TRUE(event->stop()) << "there is nothing to undo";
    EXPECT_TRUE(event->start());
    EXPECT_EQ(event->state(), EventState::Created);
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_TRUE(event->stop());
    EXPECT_EQ(event->state(), EventState::Created);
}

TEST(Event, FirstStartEntersLastStopLeaves) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    EXPECT_FALSE(event->is_passive());
    EXPECT_TRUE(event->start());
    EXPECT_EQ(event->state(), EventState::Active);
    EXPECT_EQ(loop.active.visible, 1u);
    EXPECT_TRUE(event->start());
    EXPECT_TRUE(event->start());
    EXPECT_EQ(event->loop_ref_count(), 3u);
    EXPECT_EQ(event->entered, 1);
    EXPECT_EQ(loop.active.visible, 1u) << "one event, however often it was started";
    EXPECT_TRUE(event->stop());
    EXPECT_TRUE(event->stop());
    EXPECT_EQ(event->left, 0);
    EXPECT_EQ(event->state(), EventState::Active);
    EXPECT_TRUE(event->is_in_loop());
    EXPECT_TRUE(event->stop());
    EXPECT_EQ(event->left, 1);
    EXPECT_EQ(event->state(), EventState::Stopped);
    EXPECT_FALSE(event->is_in_loop());
    EXPECT_EQ(loop.active.visible, 0u);
}

TEST(Event, StoppedEventMayStartAgain) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->stop());
    EXPECT_TRUE(event->start());
    EXPECT_EQ(event->state(), EventState::Active);
    EXPECT_EQ(event->entered, 2);
    EXPECT_EQ(loop.active.visible, 1u);
}

TEST(Event, StartThatFailsChangesNothing) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    event->entering_fails_with = ErrorCode::System;
    EXPECT_TRUE(event->start().is(ErrorCode::System));
    EXPECT_EQ(event->state(), EventState::Created);
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(loop.active.visible, 0u);
    event->entering_fails_with = ErrorCode::Cancelled;
    EXPECT_TRUE(event->start());
    EXPECT_EQ(event->loop_ref_count(), 1u);
}

TEST(Event, StopOfANeverStartedEventIsRefused) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const Status status = event->stop();
    EXPECT_TRUE(status.is(ErrorCode::IllegalState));
    EXPECT_TRUE(says(status, "not started")) << status.error()->message();
    EXPECT_TRUE(says(status, event->info())) << status.error()->message();
    EXPECT_EQ(event->state(), EventState::Created);
    EXPECT_EQ(event->left, 0);
}

TEST(Event, OneStopTooManyIsRefused) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->stop());
    EXPECT_TRUE(event->stop().is(ErrorCode::IllegalState));
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(event->left, 1);
    EXPECT_EQ(loop.active.visible, 0u);
}

TEST(Event, StartAndStopOfAClosedEventAreRefused) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    event->close();
    EXPECT_TRUE(event->start().is(ErrorCode::EventClosed));
    EXPECT_TRUE(event->stop().is(ErrorCode::EventClosed));
    EXPECT_TRUE(says(event->start(), event->info()));
    EXPECT_TRUE(says(event->stop(), event->info()));
    EXPECT_EQ(event->entered, 1);
    EXPECT_EQ(event->left, 1);

    const auto passive = PassiveEvent::create(life);
    passive->close();
    EXPECT_TRUE(passive->start().is(ErrorCode::EventClosed));
    EXPECT_TRUE(passive->stop().is(ErrorCode::EventClosed));
}

// --- replay

TEST(Event, ReplayServesLateSubscribers) {
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    const auto late = subscriber();
    /// [late_subscriber]
    event->complete(42);  // one-shot: fires, then closes

    Status status = event->add_callback(*late);
    if (status.is(ErrorCode::EventClosed)) {
        event->replay(late.get(), nullptr, nullptr);  // calls it at once
    }
    /// [late_subscriber]
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    EXPECT_EQ(late->calls, 1);
    EXPECT_EQ(*static_cast<int*>(late->last_result), 42);
    EXPECT_EQ(event->callback_count(), 0u) << "called, not subscribed";
    event->mark_result_used();
}

TEST(Event, ReplayCopiesResultAndError) {
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    event->complete(7);
    void* result = nullptr;
    Ref<Error> error = Error::make(ErrorCode::System);
    EXPECT_TRUE(event->replay(nullptr, &result, &error));
    EXPECT_EQ(*static_cast<int*>(result), 7);
    EXPECT_EQ(error, nullptr);

    const auto failed = make_ref<ResultEvent>(life);
    failed->fail(Error::make(ErrorCode::Timeout));
    EXPECT_TRUE(failed->replay(nullptr, &result, &error));
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(error->code(), ErrorCode::Timeout);
    const auto late = subscriber();
    EXPECT_TRUE(failed->replay(late.get(), nullptr, nullptr));
    EXPECT_EQ(late->last_code, ErrorCode::Timeout);
}

TEST(Event, ReplayHasNothingBeforeTheEnd) {
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    const auto callback = subscriber();
    EXPECT_FALSE(event->replay(callback.get(), nullptr, nullptr));
    EXPECT_EQ(callback->calls, 0);
}

TEST(Event, ReplayIsOnlyForTypesThatKeepAResult) {
    Life life;
    const auto event = PassiveEvent::create(life);
    event->notify(nullptr, nullptr).ignore();
    const auto callback = subscriber();
    void* result = &life;
    EXPECT_FALSE(event->replay(callback.get(), &result, nullptr));
    EXPECT_EQ(callback->calls, 0);
    EXPECT_EQ(result, &life) << "untouched";
}

// --- info

TEST(Event, InfoNamesTypeAndState) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    EXPECT_EQ(event->info(), "Timer(created)");
    ASSERT_TRUE(event->start());
    EXPECT_EQ(event->info(), "Timer(active)");
    const auto callback = subscriber([](Event& fired, void*, Error*) { EXPECT_EQ(fired.info(), "Timer(fired)"); });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 1);
    ASSERT_TRUE(event->stop());
    EXPECT_EQ(event->info(), "Timer(stopped)");
    event->close();
    EXPECT_EQ(event->info(), "Timer(closed)");
}

TEST(Event, InfoIsTheTypesOwn) {
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    EXPECT_EQ(event->info(), "FutureState(pending)");
    event->complete(1);
    event->mark_result_used();
    EXPECT_EQ(event->info(), "FutureState(completed)");
}

// --- what it is

TEST(Event, SimpleEventsAreOpenPassiveAndPlain) {
    class OwnSubscription final : public PassiveEvent {
    public:
        explicit OwnSubscription(Life& life) : PassiveEvent(life) { use_own_subscription(); }
    };
    Life life;
    FakeLoop loop;
    const auto event = PassiveEvent::create(life);
    EXPECT_TRUE(event->is_simple());
    event->close();
    EXPECT_FALSE(event->is_simple());
    EXPECT_FALSE(LoopEvent::create(loop, life)->is_simple());
    const auto own = make_ref<OwnSubscription>(life);
    EXPECT_FALSE(own->is_simple());
    EXPECT_TRUE(own->is_passive());
}

TEST(Event, ShowsItsCallbacksToADump) {
    Life life;
    const auto event = PassiveEvent::create(life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    std::vector<Callback*> seen;
    event->callbacks().each([&](Callback& each) { seen.push_back(&each); });
    EXPECT_EQ(seen, std::vector<Callback*>{callback.get()});
}

}  // namespace
}  // namespace trueasync
