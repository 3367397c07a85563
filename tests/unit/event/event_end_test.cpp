#include <trueasync/event/event.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::FakeLoop;
using testing::InPlace;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::SinkScope;
using testing::subscriber;

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
        ::testing::ExitedWithCode(0), ""
    );
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

TEST(Event, ReleaseOfTheLikelyLastReferenceCounts) {
    Life life;
    auto event = PassiveEvent::create(life);
    event->add_ref();
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
        ::testing::ExitedWithCode(0), ""
    );
}

TEST(Event, OverriddenDisposeIsAskedAtTheEnd) {
    class Disposing final : public PassiveEvent {
    public:
        explicit Disposing(Life& life) : PassiveEvent(life) { use_own_dispose(); }
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

}  // namespace
}  // namespace trueasync
