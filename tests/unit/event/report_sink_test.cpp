#include <trueasync/event/report_sink.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::Life;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::ResultEvent;
using testing::SinkScope;

TEST(ReportSink, DropsEverythingWhereNoneWasSet) {
    ReportSink* const before = set_report_sink(nullptr);
    const auto error = Error::make(ErrorCode::System);
    report_sink().warning(Warning::CallbackThrew, nullptr, "unheard");
    report_sink().unhandled_error(nullptr, *error);
    report_sink().deadlock({}, 0);
    report_sink().did_not_stop({});
    set_report_sink(before);
}

TEST(ReportSink, SetReturnsTheOneBefore) {
    RecordingSink first;
    RecordingSink second;
    ReportSink* const before = set_report_sink(&first);
    EXPECT_EQ(&report_sink(), &first);
    EXPECT_EQ(set_report_sink(&second), &first);
    EXPECT_EQ(&report_sink(), &second);
    EXPECT_EQ(set_report_sink(nullptr), &second);
    EXPECT_NE(&report_sink(), &second);
    EXPECT_EQ(set_report_sink(before), nullptr);
}

TEST(ReportSink, ReceivesWhatEventsReport) {
    class Looking final : public ReportSink {
    public:
        void warning(Warning, const Event* event, std::string_view) noexcept override { warned_of = event; }
        void unhandled_error(const Event* event, const Error& error) noexcept override {
            failed = event;
            reported = &error;
        }
        void deadlock(std::span<const Event* const>, std::size_t) noexcept override {}
        void did_not_stop(std::span<const Event* const>) noexcept override {}

        const Event* warned_of = nullptr;
        const Event* failed = nullptr;
        const Error* reported = nullptr;
    };
    Looking sink;
    const SinkScope scope(sink);
    Life life;
    const auto event = make_ref<ResultEvent>(life);
    event->complete(1);
    event->report_leftovers();
    EXPECT_EQ(sink.warned_of, event.get());
    EXPECT_EQ(sink.failed, nullptr);
    const auto failing = make_ref<ResultEvent>(life);
    const auto error = Error::make(ErrorCode::System);
    failing->fail(error);
    failing->report_leftovers();
    EXPECT_EQ(sink.failed, failing.get());
    EXPECT_EQ(sink.reported, error.get());
}

TEST(ReportSink, BelongsToOneThread) {
    RecordingSink sink;
    const SinkScope scope(sink);
    bool is_shared = true;
    std::thread([&] {
        is_shared = &report_sink() == &sink;
        report_sink().warning(Warning::CallbackThrew, nullptr, "elsewhere");
    }).join();
    EXPECT_FALSE(is_shared);
    EXPECT_TRUE(sink.warnings.empty());
}

TEST(ReportSink, IsAskedAnewEachTime) {
    RecordingSink first;
    RecordingSink second;
    Life life;
    {
        const SinkScope scope(first);
        auto event = make_ref<ResultEvent>(life);
        event->complete(1);
        set_report_sink(&second);
    }
    EXPECT_TRUE(first.warnings.empty());
    EXPECT_EQ(second.warnings.size(), 1u) << "the sink of the moment, not of the birth";
}

}  // namespace
}  // namespace trueasync
