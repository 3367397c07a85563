#include <trueasync/event/event_types.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <trueasync/event/manual_event.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/reactor/trigger.hpp>
#include <trueasync/runtime/coroutine.hpp>

#include <support/fake_events.hpp>

namespace trueasync {
namespace {

struct Expected {
    EventType type;
    std::string_view name;
    std::string_view room;
};

// The hierarchy of the seed, in its order, and what this house adds.
constexpr Expected kHierarchy[] = {
    {EventType::Event, "Event", "event"},
    {EventType::Poll, "Poll", "reactor"},
    {EventType::PollProxy, "PollProxy", "reactor"},
    {EventType::Timer, "Timer", "reactor"},
    {EventType::Signal, "Signal", "reactor"},
    {EventType::Process, "Process", "reactor"},
    {EventType::Thread, "Thread", "thread"},
    {EventType::FsWatch, "FsWatch", "reactor"},
    {EventType::DnsNameinfo, "DnsNameinfo", "reactor"},
    {EventType::DnsAddrinfo, "DnsAddrinfo", "reactor"},
    {EventType::Exec, "Exec", "reactor"},
    {EventType::Listen, "Listen", "reactor"},
    {EventType::Trigger, "Trigger", "reactor"},
    {EventType::Task, "Task", "reactor"},
    {EventType::Io, "Io", "reactor"},
    {EventType::Coroutine, "Coroutine", "runtime"},
    {EventType::Future, "Future", "sync"},
    {EventType::Channel, "Channel", "sync"},
    {EventType::Group, "TaskGroup", "structured"},
    {EventType::Pool, "Pool", "sync"},
    {EventType::Scope, "Scope", "structured"},
    {EventType::Iterator, "Iterator", "structured"},
    {EventType::Manual, "ManualEvent", "event"},
    {EventType::Mutex, "Mutex", "sync"},
    {EventType::Semaphore, "Semaphore", "sync"},
    {EventType::Barrier, "Barrier", "sync"},
};

TEST(EventType, NamesTheWholeHierarchy) {
    for (const Expected& row : kHierarchy) {
        EXPECT_EQ(to_string(row.type), row.name);
        EXPECT_EQ(room_of(row.type), row.room) << row.name;
    }
}

TEST(EventType, TableHasNoTypeTwiceAndNoneUnnamed) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < kEventTypes; ++i) {
        names.insert(to_string(static_cast<EventType>(i)));
        EXPECT_FALSE(room_of(static_cast<EventType>(i)).empty());
    }
    EXPECT_EQ(names.size(), kEventTypes);
    EXPECT_EQ(names.count(""), 0u);
    EXPECT_GE(kEventTypes, std::size(kHierarchy));
    EXPECT_LE(kEventTypes, 256u) << "one byte of the flags";
}

TEST(EventType, KnowsTheSizesOfWhatExists) {
    EXPECT_EQ(size_of(EventType::Event), sizeof(Event));
    EXPECT_EQ(size_of(EventType::Manual), sizeof(ManualEvent));
    EXPECT_EQ(size_of(EventType::Coroutine), sizeof(Coroutine));
    EXPECT_EQ(size_of(EventType::Timer), sizeof(TimerEvent));
    EXPECT_EQ(size_of(EventType::Trigger), sizeof(TriggerEvent));
}

TEST(EventType, OutsideTheTableIsUnknown) {
    const auto outside = static_cast<EventType>(kEventTypes);
    EXPECT_EQ(to_string(outside), "unknown");
    EXPECT_EQ(room_of(outside), "unknown");
    EXPECT_EQ(size_of(outside), 0u);
}

TEST(EventType, EveryTypeFitsIntoAnEvent) {
    for (std::size_t i = 0; i < kEventTypes; ++i) {
        testing::Life life;
        const auto type = static_cast<EventType>(i);
        const auto event = make_ref<testing::PassiveEvent>(life, Firing::OneShot, type);
        event->mark_close_descriptor();
        event->close();
        EXPECT_EQ(event->type(), type);
    }
}

}  // namespace
}  // namespace trueasync
