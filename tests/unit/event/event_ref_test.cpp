#include <trueasync/event/event_ref.hpp>

#include <gtest/gtest.h>

#include <memory>

#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::FakeCollector;
using testing::FakeLoop;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::subscriber;

TEST(EventRef, EmptyOneResolvesToNothing) {
    EventRef handle;
    EXPECT_TRUE(handle.has(EventFlag::Reference));
    EXPECT_EQ(handle.event(), nullptr);
    EXPECT_EQ(handle.resolve(), nullptr);
    EXPECT_EQ(event_of(handle), nullptr);
    EXPECT_EQ(handle.host_object(), nullptr);
    handle.reset();
}

TEST(EventRef, HoldsOneReference) {
    Life life;
    const auto event = PassiveEvent::create(life);
    {
        const EventRef handle(event);
        EXPECT_EQ(handle.event(), event.get());
        EXPECT_EQ(event->ref_count(), 2u);
    }
    EXPECT_EQ(event->ref_count(), 1u);
    EXPECT_FALSE(event->is_closed()) << "the event goes on for the others";
}

TEST(EventRef, LastHandleEndsTheEvent) {
    Life life;
    EventRef handle(PassiveEvent::create(life));
    handle.reset();
    EXPECT_EQ(life.destroyed, 1);
    EXPECT_EQ(handle.event(), nullptr);
    handle.reset();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventRef, EventOutlivesItsHandle) {
    Life life;
    FakeLoop loop;
    auto handle = std::make_unique<EventRef>(LoopEvent::create(loop, life));
    auto* const event = static_cast<LoopEvent*>(handle->event());
    event->closes_later = true;
    ASSERT_TRUE(event->start());
    handle.reset();
    EXPECT_EQ(event->state(), EventState::Closed);
    EXPECT_EQ(life.destroyed, 0) << "the loop still uses the memory";
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventRef, HandleOutlivesTheLifeOfItsEvent) {
    Life life;
    EventRef handle(PassiveEvent::create(life));
    handle.event()->close();
    EXPECT_TRUE(handle.resolve()->is_closed());
    EXPECT_EQ(life.destroyed, 0);
}

TEST(EventRef, CollectedHandleLetsAWaiterKeepTheEvent) {
    Life life;
    FakeLoop loop;
    FakeCollector host;
    auto& handle = host.make<EventRef>(LoopEvent::create(loop, life));
    const Ref<Event> waiter(handle.event());
    auto* const object = static_cast<FakeCollector::Object*>(handle.host_object());
    host.release(object);
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 0);
    EXPECT_FALSE(waiter->is_closed());
    EXPECT_EQ(waiter->ref_count(), 1u);
}

TEST(EventRef, CollectorMayTakeTheHandleAnyTime) {
    Life life;
    FakeLoop loop;
    FakeCollector host;
    auto& handle = host.make<EventRef>(LoopEvent::create(loop, life));
    auto* const event = static_cast<LoopEvent*>(handle.event());
    event->closes_later = true;
    ASSERT_TRUE(event->start());
    host.release(handle.host_object());
    EXPECT_EQ(host.sweep(), 1u) << "the memory of the handle is gone";
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(life.destroyed, 0);
    loop.turn();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventRef, ResolvesFromTheHostsObject) {
    Life life;
    FakeCollector host;
    auto& direct = host.make<PassiveEvent>(life);
    auto& handle = host.make<EventRef>(PassiveEvent::create(life));
    auto* const direct_object = static_cast<FakeCollector::Object*>(direct.host_object());
    auto* const handle_object = static_cast<FakeCollector::Object*>(handle.host_object());
    // What a host does with an object that it was given: it need not know which of the two it is.
    EXPECT_EQ(event_of(*direct_object->header), &direct);
    EXPECT_EQ(event_of(*handle_object->header), handle.event());
    EXPECT_EQ(direct_object->header->resolve(), &direct);
    EXPECT_EQ(handle_object->header->resolve(), handle.event());
    host.release(direct_object);
    host.release(handle_object);
}

TEST(EventRef, HostObjectsAreFoundFromEventAndHandle) {
    Life life;
    FakeCollector host;
    auto& direct = host.make<PassiveEvent>(life);
    auto& handle = host.make<EventRef>(PassiveEvent::create(life));
    EXPECT_EQ(direct.host_object(), reinterpret_cast<std::byte*>(&direct) + sizeof(PassiveEvent));
    EXPECT_EQ(handle.host_object(), reinterpret_cast<std::byte*>(&handle) + sizeof(EventRef));
    EXPECT_EQ(handle.event()->host_object(), nullptr) << "the event behind a handle is counted";
    EXPECT_FALSE(handle.event()->has(EventFlag::HostObject));
    EXPECT_TRUE(handle.has(EventFlag::Reference)) << "still a handle";
    host.release(direct.host_object());
    host.release(handle.host_object());
}

TEST(EventRef, MayPointToAnObjectOfTheHost) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life);
    {
        const EventRef handle{Ref<Event>(&event)};
        EXPECT_EQ(event.ref_count(), 2u);
        event.release();
        EXPECT_EQ(host.sweep(), 0u);
    }
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventRef, SubscribersSeeTheSameEvent) {
    Life life;
    EventRef handle(PassiveEvent::create(life));
    const auto callback = subscriber();
    ASSERT_TRUE(event_of(handle)->add_callback(*callback));
    ASSERT_TRUE(handle.event()->notify(nullptr, nullptr));
    EXPECT_EQ(callback->calls, 1);
}

}  // namespace
}  // namespace trueasync
