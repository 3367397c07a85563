#include <trueasync/event/host_objects.hpp>

#include <gtest/gtest.h>

#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::FakeCollector;
using testing::Life;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::ResultEvent;
using testing::SinkScope;
using testing::subscriber;

TEST(HostObjects, NobodyCountsWhereThereIsNoHost) {
    int object = 0;
    HostObjects& none = host_objects();
    none.add_ref(&object);
    none.release(&object);
    EXPECT_EQ(none.ref_count(&object), 0u);
}

TEST(HostObjects, HostIsSetAndTakenAway) {
    HostObjects& none = host_objects();
    {
        FakeCollector host;
        EXPECT_EQ(&host_objects(), &host);
    }
    EXPECT_EQ(&host_objects(), &none);
}

TEST(HostObjects, SweepFreesWhatNobodyHolds) {
    Life life;
    FakeCollector host;
    auto& kept = host.make<PassiveEvent>(life);
    auto& dropped = host.make<PassiveEvent>(life);
    dropped.release();
    EXPECT_EQ(life.destroyed, 0) << "not before the sweep";
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
    EXPECT_EQ(host.live(), 1u);
    EXPECT_EQ(kept.ref_count(), 1u);
    kept.release();
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 2);
}

TEST(HostObjects, HostFreeEndsAnEventProperly) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    FakeCollector host;
    auto& event = host.make<ResultEvent>(life);
    event.complete(5);
    event.release();
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
    EXPECT_TRUE(sink.has(Warning::UnusedResult));
}

TEST(HostObjects, HostFreeClosesAndLetsSubscribersGo) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life);
    const auto callback = subscriber();
    callback->on_dispose = [](Event* ended) { EXPECT_TRUE(ended->is_closed()); };
    ASSERT_TRUE(event.add_callback(*callback));
    event.release();
    host.sweep();
    EXPECT_EQ(callback->disposals, 1);
    EXPECT_EQ(callback->ref_count(), 1u);
}

TEST(HostObjects, RefKeepsAnObjectFromTheSweep) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life);
    {
        const Ref<PassiveEvent> ref(&event);
        event.release();
        EXPECT_EQ(host.sweep(), 0u);
        EXPECT_EQ(ref->state(), EventState::Created);
    }
    EXPECT_EQ(host.sweep(), 1u);
}

TEST(HostObjects, NotifyingEventIsHeldAgainstTheSweep) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life, Firing::Repeating);
    const auto callback = subscriber([&](Event& fired, void*, Error*) {
        fired.release();  // the host's own, the last one outside
        EXPECT_EQ(host.sweep(), 0u);
        EXPECT_EQ(life.destroyed, 0);
    });
    ASSERT_TRUE(event.add_callback(*callback));
    EXPECT_TRUE(event.notify(nullptr, nullptr));
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(HostObjects, ClosedTakenObjectStillBelongsToTheHost) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life);
    event.mark_result_used();
    event.mark_exception_caught();
    event.close();
    event.release();
    EXPECT_EQ(life.destroyed, 0);
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(HostObjects, ObjectsMayHoldEachOtherThroughEvents) {
    Life life;
    FakeCollector host;
    auto& inner = host.make<PassiveEvent>(life);
    auto& outer = host.make<testing::HoldingEvent>(life, inner.host_object());
    outer.hold();
    inner.release();
    EXPECT_EQ(host.sweep(), 0u);
    outer.release();
    EXPECT_EQ(host.sweep(), 2u) << "the one, and what only it referred to";
    EXPECT_EQ(life.destroyed, 2);
}

}  // namespace
}  // namespace trueasync
