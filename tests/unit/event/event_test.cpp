#include <trueasync/event/event.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <support/allocation_counter.hpp>
#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::AllocationCounter;
using testing::FakeLoop;
using testing::InPlace;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::ResultEvent;
using testing::SinkScope;
using testing::subscriber;

bool says(const Status& status, const std::string& text) {
    return !status.ok() && status.error()->message().find(text) != std::string::npos;
}

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

TEST(Event, PacksItsFourWords) {
    EXPECT_EQ(sizeof(EventHeader), sizeof(void*) + 4 * sizeof(std::uint32_t));
}

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

// --- firing

TEST(Event, OneShotFiresOnceAndCloses) {
    Life life;
    const auto event = PassiveEvent::create(life);
    EventState during = EventState::Created;
    const auto callback = subscriber([&](Event& fired, void*, Error*) {
        during = fired.state();
        EXPECT_FALSE(fired.is_closed());
    });
    ASSERT_TRUE(event->add_callback(*callback));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(during, EventState::Fired);
    EXPECT_EQ(event->state(), EventState::Closed);
    EXPECT_TRUE(event->is_closed());
    EXPECT_EQ(callback->disposals, 1) << "subscribers are let go";
    EXPECT_EQ(event->callback_count(), 0u);
}

TEST(Event, RepeatingLoopEventReturnsToActive) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life, Firing::Repeating);
    const auto callback = subscriber([](Event& fired, void*, Error*) { EXPECT_EQ(fired.state(), EventState::Fired); });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    for (int i = 1; i <= 3; ++i) {
        EXPECT_TRUE(event->notify(nullptr, nullptr));
        EXPECT_EQ(event->state(), EventState::Active);
        EXPECT_EQ(callback->calls, i);
    }
    EXPECT_EQ(callback->disposals, 0) << "subscribers stay";
    EXPECT_EQ(event->loop_ref_count(), 1u);
}

TEST(Event, OneShotLoopEventLeavesTheLoopWhenItHasFired) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life, Firing::OneShot);
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->start());
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Closed);
    EXPECT_EQ(event->left, 1);
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(loop.active.visible, 0u);
}

TEST(Event, RepeatingPassiveEventFiresFromCreated) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Created);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
}

TEST(Event, LoopEventThatIsNotActiveCannotFire) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    const Status created = event->notify(nullptr, nullptr);
    EXPECT_TRUE(created.is(ErrorCode::IllegalState));
    EXPECT_TRUE(says(created, "not active")) << created.error()->message();
    EXPECT_TRUE(says(created, event->info())) << created.error()->message();
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->stop());
    EXPECT_TRUE(event->notify(nullptr, nullptr).is(ErrorCode::IllegalState));
    EXPECT_EQ(event->state(), EventState::Stopped);
    EXPECT_EQ(callback->calls, 0);
}

TEST(Event, ClosedEventCannotFire) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    event->close();
    const Status status = event->notify(nullptr, nullptr);
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    EXPECT_TRUE(says(status, event->info())) << status.error()->message();
}

TEST(Event, CallbackMayStopTheEventThatFires) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber([](Event& fired, void*, Error*) { EXPECT_TRUE(fired.stop()); });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->start());
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Active) << "somebody else still wants it";
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Stopped);
    EXPECT_EQ(loop.active.visible, 0u);
}

TEST(Event, CallbackMayRestartTheEventThatFires) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber([](Event& fired, void*, Error*) {
        EXPECT_TRUE(fired.stop());
        EXPECT_TRUE(fired.start());
        EXPECT_EQ(fired.state(), EventState::Fired);
    });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Active);
    EXPECT_EQ(event->entered, 2);
    EXPECT_EQ(loop.active.visible, 1u);
}

TEST(Event, CallbackMayNotifyAgain) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    const auto second = subscriber();
    bool is_nested = false;
    const auto first = subscriber([&](Event& fired, void*, Error*) {
        if (!std::exchange(is_nested, true)) {
            EXPECT_TRUE(fired.notify(nullptr, nullptr));
        }
    });
    ASSERT_TRUE(event->add_callback(*first));
    ASSERT_TRUE(event->add_callback(*second));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(first->calls, 2);
    EXPECT_EQ(second->calls, 2);
    EXPECT_EQ(event->state(), EventState::Created);
}

TEST(Event, NotifyingAOneShotAgainEndsIt) {
    Life life;
    const auto event = PassiveEvent::create(life);
    const auto second = subscriber();
    bool is_nested = false;
    const auto first = subscriber([&](Event& fired, void*, Error*) {
        if (!std::exchange(is_nested, true)) {
            EXPECT_TRUE(fired.notify(nullptr, nullptr));
            EXPECT_TRUE(fired.is_closed());
        }
    });
    ASSERT_TRUE(event->add_callback(*first));
    ASSERT_TRUE(event->add_callback(*second));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(second->calls, 1) << "the inner notification called it, then the event was closed";
    EXPECT_EQ(event->state(), EventState::Closed);
}

TEST(Event, LoopEventThatFiresIsNotFiredAgainFromWithin) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber(
        [](Event& fired, void*, Error*) { EXPECT_TRUE(fired.notify(nullptr, nullptr).is(ErrorCode::IllegalState)); });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 1);
    EXPECT_EQ(event->state(), EventState::Active);
}

TEST(Event, CallbackMaySubscribeAndUnsubscribeOthers) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    const auto leaving = subscriber();
    const auto coming = subscriber();
    const auto first = subscriber([&](Event& fired, void*, Error*) {
        if (fired.del_callback(*leaving)) {
            EXPECT_TRUE(fired.add_callback(*coming));
        }
    });
    ASSERT_TRUE(event->add_callback(*first));
    ASSERT_TRUE(event->add_callback(*leaving));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(leaving->calls, 0);
    EXPECT_EQ(coming->calls, 0);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(coming->calls, 1);
}

TEST(Event, CallbackMayCloseTheEvent) {
    for (const Firing firing : {Firing::OneShot, Firing::Repeating}) {
        Life life;
        FakeLoop loop;
        const auto event = LoopEvent::create(loop, life, firing);
        const auto second = subscriber();
        const auto first = subscriber([](Event& fired, void*, Error*) { fired.close(); });
        ASSERT_TRUE(event->add_callback(*first));
        ASSERT_TRUE(event->add_callback(*second));
        ASSERT_TRUE(event->start());
        EXPECT_TRUE(event->notify(nullptr, nullptr));
        EXPECT_EQ(second->calls, 0) << "let go before its turn";
        EXPECT_EQ(second->disposals, 1);
        EXPECT_EQ(first->disposals, 1);
        EXPECT_EQ(event->state(), EventState::Closed);
        EXPECT_EQ(event->left, 1);
    }
}

TEST(Event, CallbackMayDropTheLastReference) {
    for (const Firing firing : {Firing::OneShot, Firing::Repeating}) {
        Life life;
        auto event = PassiveEvent::create(life, firing);
        Event* const raw = event.get();
        const auto second = subscriber([&](Event&, void*, Error*) { EXPECT_EQ(life.destroyed, 0); });
        const auto first = subscriber([&](Event&, void*, Error*) {
            event.reset();
            EXPECT_EQ(raw->ref_count(), 1u) << "a notifying event holds a reference to itself";
        });
        ASSERT_TRUE(raw->add_callback(*first));
        ASSERT_TRUE(raw->add_callback(*second));
        EXPECT_TRUE(raw->notify(nullptr, nullptr));
        EXPECT_EQ(second->calls, 1) << "the others are still called";
        EXPECT_EQ(life.destroyed, 1);
        EXPECT_EQ(second->disposals, 1);
    }
}

TEST(Event, ThrowingCallbackHarmsNobody) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    const auto event = PassiveEvent::create(life);
    const auto first = subscriber([](Event&, void*, Error*) { throw std::runtime_error("boom"); });
    const auto second = subscriber();
    ASSERT_TRUE(event->add_callback(*first));
    ASSERT_TRUE(event->add_callback(*second));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(second->calls, 1);
    EXPECT_TRUE(sink.has(Warning::CallbackThrew));
    EXPECT_EQ(event->state(), EventState::Closed);
}

// --- notify_handler

TEST(Event, NotifyHandlerComesBeforeTheCallbacks) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    static int replacement = 0;
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    event->set_notify_handler([](Event& fired, void*& result, Error*& error) {
        EXPECT_NE(fired.state(), EventState::Fired);
        EXPECT_EQ(error, nullptr);
        result = &replacement;
        return Event::Notify::Continue;
    });
    EXPECT_NE(event->notify_handler(), nullptr);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->last_result, &replacement);
    event->set_notify_handler(nullptr);
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->last_result, nullptr);
}

TEST(Event, NotifyHandlerMayTurnAResultIntoAnError) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    static Ref<Error> timeout;
    timeout = Error::make(ErrorCode::Timeout);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    event->set_notify_handler([](Event&, void*& result, Error*& error) {  // what Async\Timeout does
        result = nullptr;
        error = timeout.get();
        return Event::Notify::Continue;
    });
    int value = 0;
    EXPECT_TRUE(event->notify(&value, nullptr));
    EXPECT_EQ(callback->last_result, nullptr);
    EXPECT_EQ(callback->last_code, ErrorCode::Timeout);
    timeout.reset();
}

TEST(Event, NotifyHandlerMayStopTheNotification) {
    Life life;
    const auto event = PassiveEvent::create(life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    event->set_notify_handler([](Event&, void*&, Error*&) { return Event::Notify::Stop; });
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 0);
    EXPECT_EQ(event->state(), EventState::Created) << "it has not fired";
    EXPECT_EQ(event->ref_count(), 1u);
}

TEST(Event, NotifyHandlerIsNotAskedAboutWhatIsRefused) {
    Life life;
    const auto event = PassiveEvent::create(life);
    event->set_notify_handler([](Event&, void*&, Error*&) {
        ADD_FAILURE() << "asked";
        return Event::Notify::Continue;
    });
    event->close();
    EXPECT_TRUE(event->notify(nullptr, nullptr).is(ErrorCode::EventClosed));
}

TEST(Event, NotifyHandlerMayCloseTheEvent) {
    for (const Firing firing : {Firing::OneShot, Firing::Repeating}) {
        Life life;
        const auto event = PassiveEvent::create(life, firing);
        const auto callback = subscriber();
        ASSERT_TRUE(event->add_callback(*callback));
        event->set_notify_handler([](Event& fired, void*&, Error*&) {
            fired.close();
            return Event::Notify::Continue;
        });
        event->notify(nullptr, nullptr).ignore();
        EXPECT_EQ(callback->calls, 0);
        EXPECT_EQ(event->state(), EventState::Closed) << "closed is the end";
        EXPECT_TRUE(event->notify(nullptr, nullptr).is(ErrorCode::EventClosed));
    }
}

TEST(Event, NotifyHandlerMayStopTheEventThatFires) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    event->set_notify_handler([](Event& fired, void*&, Error*&) {
        EXPECT_TRUE(fired.stop());
        return Event::Notify::Continue;
    });
    ASSERT_TRUE(event->start());
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(event->state(), EventState::Stopped);
}

TEST(Event, NotifyHandlerMayDropTheLastReference) {
    EXPECT_EXIT(
        {
            static Life life;
            static Ref<PassiveEvent> event;
            static int destroyed_in_handler = 0;
            event = PassiveEvent::create(life, Firing::Repeating);
            PassiveEvent* const raw = event.get();
            raw->set_notify_handler([](Event&, void*&, Error*&) {
                event.reset();
                destroyed_in_handler = life.destroyed;
                return Event::Notify::Continue;
            });
            raw->notify(nullptr, nullptr).ignore();
            std::_Exit(destroyed_in_handler == 0 && life.destroyed == 1 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
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

// --- close

TEST(Event, CloseLetsEverybodyGo) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber();
    callback->on_dispose = [](Event* closed) {
        EXPECT_TRUE(closed->is_closed());
        EXPECT_FALSE(closed->is_in_loop());
    };
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->start());
    event->close();
    EXPECT_EQ(event->state(), EventState::Closed);
    EXPECT_TRUE(event->has(EventFlag::Closed));
    EXPECT_EQ(event->left, 1);
    EXPECT_EQ(event->loop_ref_count(), 0u);
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(callback->disposals, 1);
    EXPECT_EQ(callback->calls, 0) << "closing is not firing";
}

TEST(Event, ClosingTwiceDoesNothing) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    event->close();
    event->close();
    EXPECT_EQ(event->left, 1);
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(event->ref_count(), 1u);
}

TEST(Event, ClosesFromEveryState) {
    Life life;
    FakeLoop loop;
    for (int steps = 0; steps < 3; ++steps) {
        const auto event = LoopEvent::create(loop, life);
        if (steps > 0) {
            ASSERT_TRUE(event->start());
        }
        if (steps > 1) {
            ASSERT_TRUE(event->stop());
        }
        event->close();
        EXPECT_EQ(event->state(), EventState::Closed);
        EXPECT_EQ(loop.active.visible, 0u);
    }
}

TEST(Event, SubscriberLetGoMayDropTheLastReference) {
    EXPECT_EXIT(
        {
            static Life life;
            static Ref<PassiveEvent> event;
            event = PassiveEvent::create(life);
            PassiveEvent* const raw = event.get();
            const auto first = subscriber();
            const auto second = subscriber();
            second->on_dispose = [](Event*) { event.reset(); };
            raw->add_callback(*first).ignore();
            raw->add_callback(*second).ignore();
            raw->close();  // somebody who holds no reference, a loop for example
            std::_Exit(life.destroyed == 1 && first->disposals == 1 && second->disposals == 1 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Event, UnsubscribingMayDropTheLastReference) {
    Life life;
    auto event = PassiveEvent::create(life);
    PassiveEvent* const raw = event.get();
    for (int others = 0; others < 2; ++others) {
        const auto callback = subscriber();
        ASSERT_TRUE(raw->add_callback(*callback));
        if (others == 1) {
            ASSERT_TRUE(raw->add_callback(*subscriber()));
            callback->on_dispose = [&](Event*) { event.reset(); };
        }
        EXPECT_TRUE(raw->del_callback(*callback));
    }
    EXPECT_EQ(life.destroyed, 1);
}

// --- counting and the end

TEST(Event, LastReferenceEndsIt) {
    Life life;
    auto event = PassiveEvent::create(life);
    event->add_ref();
    EXPECT_EQ(event->ref_count(), 2u);
    event->release();
    EXPECT_EQ(life.destroyed, 0);
    const Ref<Event> second = event;
    event->dispose();
    EXPECT_EQ(second->ref_count(), 1u) << "dispose gives up one reference";
    EXPECT_EQ(life.destroyed, 0);
    EXPECT_NE(event.detach(), nullptr);  // the reference that was disposed
}

TEST(Event, SecondReferenceMayBeTakenWithoutCounting) {
    Life life;
    auto event = PassiveEvent::create(life);
    event->add_second_ref();
    EXPECT_EQ(event->ref_count(), 2u);
    event->release_last();
    EXPECT_EQ(event->ref_count(), 1u) << "likely the last, but it was not";
    EXPECT_EQ(life.destroyed, 0);
    event.detach()->release_last();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, DisposeOfTheLastReferenceEndsIt) {
    Life life;
    PassiveEvent* const event = PassiveEvent::create(life).detach();
    event->dispose();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, ClosedTakenEventEndsWithItsLastReference) {
    Life life;
    auto event = PassiveEvent::create(life);
    event->mark_result_used();
    event->mark_exception_caught();
    Ref<Event> second = event;
    event->close();
    event.reset();
    EXPECT_EQ(life.destroyed, 0);
    second.reset();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, EndOfAnOpenEventClosesItFirst) {
    Life life;
    FakeLoop loop;
    auto event = LoopEvent::create(loop, life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->start());
    event.reset();
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(callback->disposals, 1);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, LoopEventSpeaksItsLastWordsWhole) {
    Life life;
    FakeLoop loop;
    auto event = LoopEvent::create(loop, life);
    LoopEvent* const raw = event.get();
    bool was_whole = false;
    raw->last_words = [&] { was_whole = raw->is_in_loop() && !raw->is_closed() && life.destroyed == 0; };
    ASSERT_TRUE(raw->start());
    event.reset();
    EXPECT_TRUE(was_whole);
    EXPECT_EQ(life.last_words, 1);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, LastWordsMayNotify) {
    Life life;
    FakeLoop loop;
    auto event = LoopEvent::create(loop, life);
    LoopEvent* const raw = event.get();
    raw->closes_later = true;
    bool was_told = false;
    const auto callback = subscriber([&](Event&, void*, Error*) { was_told = true; });
    raw->last_words = [&] {
        if (life.last_words == 1) {
            raw->notify(nullptr, nullptr).ignore();
        }
    };
    ASSERT_TRUE(raw->add_callback(*callback));
    ASSERT_TRUE(raw->start());
    event.reset();
    EXPECT_TRUE(was_told);
    EXPECT_EQ(life.last_words, 1) << "the end began a second time";
    ASSERT_EQ(loop.closing(), 1u) << "the end was reached twice";
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, SubscriberLetGoAtTheEndMayBorrowAReference) {
    EXPECT_EXIT(
        {
            Life life;
            auto event = PassiveEvent::create(life);
            const auto callback = subscriber();
            callback->on_dispose = [](Event* ending) { const Ref<Event> borrowed(ending); };
            event->add_callback(*callback).ignore();
            event.reset();
            std::_Exit(life.destroyed == 1 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Event, OverriddenDisposeIsAskedAtTheEnd) {
    class Disposing final : public PassiveEvent {
    public:
        using PassiveEvent::PassiveEvent;
        void dispose() noexcept override {
            ++life_.disposed;
            PassiveEvent::dispose();
        }
    };
    for (const bool is_taken : {false, true}) {
        Life life;
        Ref<Event> event = make_ref<Disposing>(life);
        if (is_taken) {
            event->mark_result_used();
            event->mark_exception_caught();
        }
        event->close();
        event.reset();
        EXPECT_EQ(life.disposed, 1) << (is_taken ? "closed, its result taken" : "closed");
        EXPECT_EQ(life.destroyed, 1);
    }
}

// --- asynchronous end

TEST(Event, LoopMayKeepTheMemoryUntilItHasLetGo) {
    Life life;
    FakeLoop loop;
    auto event = LoopEvent::create(loop, life);
    LoopEvent* const raw = event.get();
    raw->closes_later = true;
    ASSERT_TRUE(raw->start());
    event.reset();
    EXPECT_EQ(life.destroyed, 0);
    EXPECT_EQ(raw->state(), EventState::Closed);
    EXPECT_EQ(raw->left, 1);
    EXPECT_EQ(loop.active.visible, 0u);
    ASSERT_EQ(loop.closing(), 1u);
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, AsynchronousEndLeavesForeignMemoryAlone) {
    Life life;
    FakeLoop loop;
    InPlace<LoopEvent> event(loop, life);
    event->closes_later = true;
    event->release();
    EXPECT_EQ(life.destroyed, 0);
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, EndingEventMayBeBorrowed) {
    Life life;
    FakeLoop loop;
    auto event = LoopEvent::create(loop, life);
    LoopEvent* const raw = event.get();
    raw->closes_later = true;
    event.reset();
    { const Ref<Event> borrowed(raw); }
    ASSERT_EQ(loop.closing(), 1u) << "ended twice";
    EXPECT_EQ(life.last_words, 1);
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

// --- released once too often

TEST(Event, ReleasePastZeroIsReported) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    FakeLoop loop;
    InPlace<LoopEvent> event(loop, life);
    event->closes_later = true;  // the end is not reached yet: the object is there
    event->release();
    EXPECT_TRUE(sink.warnings.empty());
    event->release();
    ASSERT_EQ(sink.warnings.size(), 1u);
    EXPECT_EQ(sink.warnings[0].kind, Warning::ReleasedPastZero);
    EXPECT_NE(sink.warnings[0].text.find(event->info()), std::string::npos) << sink.warnings[0].text;
    event->dispose();
    EXPECT_EQ(sink.warnings.size(), 2u);
    EXPECT_EQ(event->ref_count(), 0u);
    EXPECT_EQ(loop.closing(), 1u);
    EXPECT_EQ(life.last_words, 1);
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(Event, ReleasePastZeroWhileItEndsIsReported) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    InPlace<PassiveEvent> event(life);
    const auto callback = subscriber();
    callback->on_dispose = [](Event* ending) { ending->release(); };
    ASSERT_TRUE(event->add_callback(*callback));
    event->release();
    EXPECT_TRUE(sink.has(Warning::ReleasedPastZero));
    EXPECT_EQ(life.destroyed, 1);
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
