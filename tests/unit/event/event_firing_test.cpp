#include <trueasync/event/event.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::FakeLoop;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::ResultEvent;
using testing::says;
using testing::SinkScope;
using testing::subscriber;

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

TEST(Event, NestedNotificationReturnsToWhereItWas) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    bool is_nested = false;
    const auto first = subscriber([&](Event& fired, void*, Error*) {
        if (!std::exchange(is_nested, true)) {
            EXPECT_TRUE(fired.notify(nullptr, nullptr));
            EXPECT_EQ(fired.state(), EventState::Fired) << "the outer notification is still under way";
        }
    });
    ASSERT_TRUE(event->add_callback(*first));
    EXPECT_TRUE(event->notify(nullptr, nullptr));
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
    const auto callback = subscriber([](Event& fired, void*, Error*) {
        EXPECT_TRUE(fired.notify(nullptr, nullptr).is(ErrorCode::IllegalState));
    });
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

TEST(Event, ReplayContainsWhatACallbackThrows) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    event->complete(8);
    const auto late = subscriber([](Event&, void*, Error*) { throw std::runtime_error("boom"); });
    EXPECT_TRUE(event->replay(late.get(), nullptr, nullptr));
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::CallbackThrew);
}

TEST(Event, ThrowingNotifyHandlerHarmsNobody) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    const auto event = PassiveEvent::create(life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    event->set_notify_handler([](Event&, void*&, Error*&) -> Event::Notify { throw std::runtime_error("boom"); });
    EXPECT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 1);
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
        ::testing::ExitedWithCode(0), ""
    );
}

}  // namespace
}  // namespace trueasync
