#include <trueasync/event/event_flags.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>

#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::DescriptorEvent;
using testing::FakeCollector;
using testing::FakeLoop;
using testing::HoldingEvent;
using testing::InPlace;
using testing::Life;
using testing::LoopEvent;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::ResultEvent;
using testing::SinkScope;
using testing::subscriber;

constexpr EventFlag kAllFlags[] = {
    EventFlag::Closed,     EventFlag::ResultUsed,      EventFlag::ExceptionCaught,  EventFlag::HostValueResult,
    EventFlag::HostObject, EventFlag::NoFreeMemory,    EventFlag::ExceptionHandled, EventFlag::Reference,
    EventFlag::ObjectRef,  EventFlag::CloseDescriptor, EventFlag::Hidden,
};

// Two ends of a pipe that close with it, where nobody has done so before.
struct Pipe {
    Pipe() { EXPECT_EQ(::pipe(ends), 0); }
    ~Pipe() {
        for (const int end : ends) {
            if (is_open(end)) {
                ::close(end);
            }
        }
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    static bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1 || errno != EBADF; }

    int ends[2] = {-1, -1};
};

TEST(EventFlag, ElevenDifferentBits) {
    std::set<std::uint32_t> bits;
    for (const EventFlag flag : kAllFlags) {
        const auto bit = static_cast<std::uint32_t>(flag);
        EXPECT_EQ(bit & (bit - 1), 0u) << "one bit each";
        EXPECT_LT(bit, 1U << 16) << "state and type lie above";
        bits.insert(bit);
    }
    EXPECT_EQ(bits.size(), 11u);
}

TEST(EventFlag, ClosedEndsStartStopAndSubscription) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    EXPECT_FALSE(event->has(EventFlag::Closed));
    event->close();
    EXPECT_TRUE(event->has(EventFlag::Closed));
    const auto callback = subscriber();
    EXPECT_TRUE(event->start().is(ErrorCode::EventClosed));
    EXPECT_TRUE(event->stop().is(ErrorCode::EventClosed));
    EXPECT_TRUE(event->add_callback(*callback).is(ErrorCode::EventClosed));
}

TEST(EventFlag, UnusedResultIsWarnedOfAtTheEnd) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    event->complete(1);
    EXPECT_TRUE(sink.warnings.empty());
    event.reset();
    ASSERT_EQ(sink.warnings.size(), 1u);
    EXPECT_EQ(sink.warnings[0].kind, Warning::UnusedResult);
    EXPECT_NE(sink.warnings[0].text.find("FutureState(completed)"), std::string::npos) << sink.warnings[0].text;
}

TEST(EventFlag, ResultUsedSuppressesTheWarning) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    event->mark_result_used();
    EXPECT_TRUE(event->has(EventFlag::ResultUsed));
    event->complete(1);
    event.reset();
    EXPECT_TRUE(sink.warnings.empty());
}

TEST(EventFlag, SubscriberAtTheFiringTakesResultAndError) {
    Life life;
    const auto result = make_ref<ResultEvent>(life);
    const auto failure = make_ref<ResultEvent>(life);
    const auto callback = subscriber();
    ASSERT_TRUE(result->add_callback(*callback));
    EXPECT_FALSE(result->has(EventFlag::ResultUsed)) << "not before it fires";
    result->complete(1);
    EXPECT_TRUE(result->has(EventFlag::ResultUsed));
    ASSERT_TRUE(failure->add_callback(*callback));
    failure->fail(Error::make(ErrorCode::System));
    EXPECT_TRUE(failure->has(EventFlag::ExceptionCaught));
}

TEST(EventFlag, SubscriberWhoLeftBeforeTakesNothing) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    const auto callback = subscriber();
    ASSERT_TRUE(event->add_callback(*callback));
    event->del_callback(*callback);
    event->fail(Error::make(ErrorCode::System));
    EXPECT_FALSE(event->has(EventFlag::ExceptionCaught));
    event.reset();
    EXPECT_EQ(sink.unhandled.size(), 1u);
}

TEST(EventFlag, EventWithoutAResultWarnsOfNothing) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    make_ref<ResultEvent>(life).reset();
    PassiveEvent::create(life).reset();
    EXPECT_TRUE(sink.warnings.empty());
    EXPECT_TRUE(sink.unhandled.empty());
}

TEST(EventFlag, UnhandledErrorIsReportedAtTheEnd) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    event->fail(Error::make(ErrorCode::System, "disk full"));
    EXPECT_TRUE(sink.unhandled.empty());
    event.reset();
    ASSERT_EQ(sink.unhandled.size(), 1u);
    EXPECT_EQ(sink.unhandled[0], "FutureState(completed): disk full");
    EXPECT_TRUE(sink.warnings.empty());
}

TEST(EventFlag, ExceptionCaughtSuppressesTheReport) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    event->mark_exception_caught();
    EXPECT_TRUE(event->has(EventFlag::ExceptionCaught));
    event->fail(Error::make(ErrorCode::System));
    event.reset();
    EXPECT_TRUE(sink.unhandled.empty());
}

TEST(EventFlag, ExceptionHandledSuppressesTheReport) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto event = make_ref<ResultEvent>(life);
    event->fail(Error::make(ErrorCode::System));
    event->mark_exception_handled();
    EXPECT_TRUE(event->has(EventFlag::ExceptionHandled));
    event.reset();
    EXPECT_TRUE(sink.unhandled.empty());
}

TEST(EventFlag, LeftoversAreReportedOnce) {
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    auto result = make_ref<ResultEvent>(life);
    result->complete(1);
    result->report_leftovers();
    result.reset();
    EXPECT_EQ(sink.warnings.size(), 1u);
    auto failure = make_ref<ResultEvent>(life);
    failure->fail(Error::make(ErrorCode::System));
    failure->report_leftovers();
    EXPECT_TRUE(failure->has(EventFlag::ExceptionHandled)) << "it is not thrown again";
    failure.reset();
    EXPECT_EQ(sink.unhandled.size(), 1u);
}

TEST(EventFlag, TypeMayReportItsErrorElsewhere) {
    class Reporting final : public ResultEvent {
    public:
        Reporting(Life& life, std::string& reported) : ResultEvent(life), reported_(reported) {}

    protected:
        void report_unhandled(Error& error) noexcept override { reported_ = error.message(); }

    private:
        std::string& reported_;
    };
    RecordingSink sink;
    const SinkScope scope(sink);
    Life life;
    std::string reported;
    auto event = make_ref<Reporting>(life, reported);
    event->fail(Error::make(ErrorCode::System, "mine"));
    event.reset();
    EXPECT_EQ(reported, "mine");
    EXPECT_TRUE(sink.unhandled.empty());
}

TEST(EventFlag, HostValueResultTellsCallbacksWhatTheResultIs) {
    Life life;
    const auto event = PassiveEvent::create(life, Firing::Repeating);
    bool is_host_value = false;
    const auto callback =
        subscriber([&](Event& fired, void*, Error*) { is_host_value = fired.has(EventFlag::HostValueResult); });
    ASSERT_TRUE(event->add_callback(*callback));
    ASSERT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_FALSE(is_host_value);
    event->mark_host_value_result();
    ASSERT_TRUE(event->notify(nullptr, nullptr));
    EXPECT_TRUE(is_host_value);
}

TEST(EventFlag, HostObjectHandsCountingToTheHost) {
    Life life;
    FakeCollector host;
    auto& event = host.make<PassiveEvent>(life);
    EXPECT_TRUE(event.has(EventFlag::HostObject));
    EXPECT_EQ(event.ref_count(), 1u) << "the first reference is the host's own";
    auto* const object = static_cast<FakeCollector::Object*>(event.host_object());
    EXPECT_EQ(object->header, &event);
    event.add_ref();
    EXPECT_EQ(object->references, 2u);
    {
        const Ref<Event> ref(&event);
        EXPECT_EQ(event.ref_count(), 3u);
    }
    event.release();
    event.dispose();
    EXPECT_EQ(object->references, 0u);
    EXPECT_EQ(life.destroyed, 0) << "when it ends is for the host to say";
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventFlag, NoFreeMemoryDestroysButFreesNothing) {
    Life life;
    InPlace<PassiveEvent> event(life);
    EXPECT_TRUE(event->has(EventFlag::NoFreeMemory));
    event->add_ref();
    event->release();
    EXPECT_EQ(life.destroyed, 0);
    event->release();  // freeing memory of the stack would not go unnoticed
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventFlag, NoFreeMemoryHoldsForAClosedTakenEventToo) {
    Life life;
    InPlace<PassiveEvent> event(life);
    event->mark_result_used();
    event->mark_exception_caught();
    event->close();
    event->release();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventFlag, ReferenceMarksAHandle) {
    Life life;
    EventRef handle(PassiveEvent::create(life));
    EXPECT_TRUE(handle.has(EventFlag::Reference));
    EXPECT_FALSE(handle.event()->has(EventFlag::Reference));
    EXPECT_EQ(handle.resolve(), handle.event());
}

TEST(EventFlag, ObjectRefHoldsAHostObjectUntilTheEnd) {
    Life life;
    Life host_life;
    FakeCollector host;
    auto& held = host.make<PassiveEvent>(host_life);
    auto event = make_ref<HoldingEvent>(life, held.host_object());
    EXPECT_FALSE(event->has(EventFlag::ObjectRef));
    event->hold();
    EXPECT_TRUE(event->has(EventFlag::ObjectRef));
    EXPECT_GE(event->extra_offset(), sizeof(Event));
    EXPECT_EQ(event->held(), held.host_object());
    EXPECT_EQ(held.ref_count(), 2u);
    held.release();
    EXPECT_EQ(host.sweep(), 0u) << "the event keeps it alive";
    event->close();
    EXPECT_EQ(held.ref_count(), 1u) << "closed is not the end";
    event.reset();
    EXPECT_EQ(host.sweep(), 1u);
    EXPECT_EQ(host_life.destroyed, 1);
}

TEST(EventFlag, ObjectRefIsReleasedByAClosedTakenEventToo) {
    Life life;
    Life host_life;
    FakeCollector host;
    auto& held = host.make<PassiveEvent>(host_life);
    auto event = make_ref<HoldingEvent>(life, held.host_object());
    event->hold();
    event->mark_result_used();
    event->mark_exception_caught();
    event->close();
    event.reset();
    EXPECT_EQ(held.ref_count(), 1u);
    held.release();
}

TEST(EventFlag, CloseDescriptorClosesItAtTheEnd) {
    Life life;
    const Pipe pipe;
    auto event = make_ref<DescriptorEvent>(life, pipe.ends[0]);
    event->mark_close_descriptor();
    EXPECT_TRUE(event->has(EventFlag::CloseDescriptor));
    event->close();
    EXPECT_TRUE(Pipe::is_open(pipe.ends[0])) << "closed is not the end";
    event.reset();
    EXPECT_FALSE(Pipe::is_open(pipe.ends[0]));
    EXPECT_TRUE(Pipe::is_open(pipe.ends[1]));
}

TEST(EventFlag, CloseDescriptorHoldsForAClosedTakenEventToo) {
    Life life;
    const Pipe pipe;
    auto event = make_ref<DescriptorEvent>(life, pipe.ends[0]);
    event->mark_close_descriptor();
    event->mark_result_used();
    event->mark_exception_caught();
    event->close();
    event.reset();
    EXPECT_FALSE(Pipe::is_open(pipe.ends[0]));
}

TEST(EventFlag, DescriptorStaysOpenWithoutTheFlag) {
    Life life;
    const Pipe pipe;
    make_ref<DescriptorEvent>(life, pipe.ends[0]).reset();
    EXPECT_TRUE(Pipe::is_open(pipe.ends[0]));
}

TEST(EventFlag, CloseDescriptorWithoutADescriptorDoesNothing) {
    Life life;
    auto event = make_ref<DescriptorEvent>(life, -1);
    event->mark_close_descriptor();
    event.reset();
    EXPECT_EQ(life.destroyed, 1);
}

TEST(EventFlag, HiddenEventCountsApart) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    event->set_hidden(true);
    EXPECT_TRUE(event->is_hidden());
    EXPECT_EQ(loop.active.hidden, 0u) << "not in the loop yet";
    ASSERT_TRUE(event->start());
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(loop.active.hidden, 1u);
    ASSERT_TRUE(event->stop());
    EXPECT_EQ(loop.active.hidden, 0u);
    EXPECT_EQ(loop.active.visible, 0u);
}

TEST(EventFlag, HidingAnActiveEventCorrectsTheCount) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->start());
    EXPECT_EQ(loop.active.visible, 1u);
    event->set_hidden(true);
    event->set_hidden(true);
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(loop.active.hidden, 1u);
    event->set_hidden(false);
    event->set_hidden(false);
    EXPECT_EQ(loop.active.visible, 1u);
    EXPECT_EQ(loop.active.hidden, 0u);
    event->set_hidden(true);
    event->close();
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(loop.active.hidden, 0u);
}

TEST(EventFlag, HidingAStoppedEventCountsNothing) {
    Life life;
    FakeLoop loop;
    const auto event = LoopEvent::create(loop, life);
    ASSERT_TRUE(event->start());
    ASSERT_TRUE(event->stop());
    event->set_hidden(true);
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(loop.active.hidden, 0u);
    event->close();
    event->set_hidden(false);
    EXPECT_EQ(loop.active.visible, 0u);
    EXPECT_EQ(loop.active.hidden, 0u);
}

TEST(EventFlag, HidingAPassiveEventOnlySetsTheFlag) {
    Life life;
    const auto event = PassiveEvent::create(life);
    event->set_hidden(true);
    EXPECT_TRUE(event->is_hidden());
    event->set_hidden(false);
    EXPECT_FALSE(event->is_hidden());
}

TEST(EventState, EveryStateHasAName) {
    EXPECT_EQ(to_string(EventState::Created), "created");
    EXPECT_EQ(to_string(EventState::Active), "active");
    EXPECT_EQ(to_string(EventState::Fired), "fired");
    EXPECT_EQ(to_string(EventState::Stopped), "stopped");
    EXPECT_EQ(to_string(EventState::Closed), "closed");
    EXPECT_EQ(to_string(static_cast<EventState>(7)), "unknown");
}

}  // namespace
}  // namespace trueasync
