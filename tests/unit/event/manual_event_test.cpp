#include <trueasync/event/manual_event.hpp>

#include <gtest/gtest.h>

#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::subscriber;

TEST(ManualEvent, FiresAsOftenAsItIsTold) {
    ManualEvent event;
    const auto callback = subscriber();
    ASSERT_TRUE(event.add_callback(*callback));
    event.notify();
    event.notify();
    EXPECT_EQ(callback->calls, 2);
    EXPECT_EQ(event.state(), EventState::Created);
    EXPECT_EQ(event.callback_count(), 1u);
}

TEST(ManualEvent, RemembersNothing) {
    ManualEvent event;
    event.notify();
    const auto late = subscriber();
    ASSERT_TRUE(event.add_callback(*late));
    EXPECT_EQ(late->calls, 0);
    EXPECT_FALSE(event.replay(late.get(), nullptr, nullptr));
    event.notify();
    EXPECT_EQ(late->calls, 1);
}

TEST(ManualEvent, MayCarryAResultOrAnError) {
    ManualEvent event;
    const auto callback = subscriber();
    ASSERT_TRUE(event.add_callback(*callback));
    int value = 0;
    EXPECT_TRUE(event.notify(&value, nullptr));
    EXPECT_EQ(callback->last_result, &value);
    EXPECT_TRUE(event.notify(nullptr, Error::make(ErrorCode::Timeout).get()));
    EXPECT_EQ(callback->last_code, ErrorCode::Timeout);
}

TEST(ManualEvent, NeedsNoLoop) {
    ManualEvent event;
    EXPECT_TRUE(event.is_passive());
    EXPECT_TRUE(event.is_simple());
    EXPECT_TRUE(event.start());
    EXPECT_TRUE(event.stop());
    EXPECT_EQ(event.info(), "ManualEvent(created)");
}

TEST(ManualEvent, OnAStackFreesNothing) {
    const auto callback = subscriber();
    {
        ManualEvent event;
        EXPECT_TRUE(event.has(EventFlag::NoFreeMemory));
        EXPECT_EQ(event.ref_count(), 1u);
        ASSERT_TRUE(event.add_callback(*callback));
        const Ref<Event> held(&event);
        EXPECT_EQ(event.ref_count(), 2u);
    }
    EXPECT_EQ(callback->disposals, 1);
}

TEST(ManualEvent, EndOnAStackClosesFirst) {
    const auto callback = subscriber();
    bool was_closed = false;
    std::string info;
    callback->on_dispose = [&](Event* event) {
        ASSERT_NE(event, nullptr);
        was_closed = event->is_closed();
        info = event->info();
    };
    {
        ManualEvent event;
        ASSERT_TRUE(event.add_callback(*callback));
    }
    EXPECT_TRUE(was_closed);
    EXPECT_EQ(info, "ManualEvent(closed)") << "still whole while it lets its subscribers go";
}

TEST(ManualEvent, CountedOneEndsWithItsLastReference) {
    auto event = ManualEvent::create();
    EXPECT_FALSE(event->has(EventFlag::NoFreeMemory));
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    Ref<ManualEvent> second = event;
    event.reset();
    EXPECT_EQ(callback->disposals, 0);
    EXPECT_EQ(second->ref_count(), 1u);
    second->notify();
    EXPECT_EQ(callback->calls, 1);
    second.reset();
    EXPECT_EQ(callback->disposals, 1);
}

TEST(ManualEvent, SaysNothingWhenClosed) {
    ManualEvent event;
    const auto callback = subscriber();
    ASSERT_TRUE(event.add_callback(*callback));
    event.close();
    event.notify();
    EXPECT_EQ(callback->calls, 0);
    EXPECT_TRUE(event.notify(nullptr, nullptr).is(ErrorCode::EventClosed));
}

}  // namespace
}  // namespace trueasync
