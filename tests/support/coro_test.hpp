#pragma once

/// @file support/coro_test.hpp
/// Tests whose body is a coroutine, on a clock that never waits.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <trueasync/reactor/virtual_reactor.hpp>
#include <trueasync/trueasync.hpp>
#include <vector>

namespace trueasync::testing {

using namespace std::chrono_literals;

/// Keeps what was reported, so that a test can ask.
class RecordingSink final : public ReportSink {
public:
    struct WarningRecord {
        Warning kind;
        std::string text;
    };

    void warning(Warning kind, const Event* /*event*/, std::string_view text) noexcept override {
        warnings.push_back({kind, std::string(text)});
    }
    void unhandled_error(const Event* event, const Error& error) noexcept override {
        unhandled.push_back((event != nullptr ? event->info() : std::string("loop")) + ": " + error.message());
    }
    void deadlock(std::span<const Event* const> waiting, std::size_t active_events) noexcept override {
        deadlocks.push_back(deadlock_report(waiting, active_events));
    }
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override {
        for (const Event* coroutine : coroutines) {
            survivors.push_back(describe(static_cast<const Coroutine&>(*coroutine)));
        }
    }

    bool has(Warning kind) const {
        for (const WarningRecord& record : warnings) {
            if (record.kind == kind) {
                return true;
            }
        }
        return false;
    }

    std::vector<WarningRecord> warnings;
    std::vector<std::string> unhandled;
    std::vector<std::string> deadlocks;
    std::vector<std::string> survivors;
};

/// Replaces this thread's sink while it lives; for tests without a runtime.
class SinkScope {
public:
    explicit SinkScope(ReportSink& sink) : before_(set_report_sink(&sink)) {}
    ~SinkScope() { set_report_sink(before_); }
    SinkScope(const SinkScope&) = delete;
    SinkScope& operator=(const SinkScope&) = delete;

private:
    ReportSink* before_;
};

/// Base of coroutine tests. `in_runtime` runs a body under `run` with a virtual clock and the recording sink.
class CoroTest : public ::testing::Test {
protected:
    RecordingSink sink;

    /// Set it in a test whose body is cancelled on purpose and lets the cancellation out.
    bool is_cut_off_meant = false;

    /// Throws what `run` throws. Fails when the body did not come to its end, which a cancellation does without a word.
    void in_runtime(const std::function<void()>& body, RuntimeSettings settings = {}) {
        bool is_whole = false;
        RunOptions options;
        options.settings = settings;
        options.reactor = std::make_unique<VirtualReactor>();
        options.sink = &sink;
        trueasync::run(
            [&] {
                body();
                is_whole = true;
            },
            std::move(options)
        );
        EXPECT_TRUE(is_whole || is_cut_off_meant) << "the body of the test was cut off";
    }

    /// Only inside `in_runtime`.
    static VirtualReactor& clock() { return static_cast<VirtualReactor&>(Scheduler::current()->reactor()); }
    static Scheduler& scheduler() { return *Scheduler::current(); }
    static Runtime& runtime() { return *Runtime::current(); }
    static std::size_t live_stacks() { return scheduler().stacks().stats().live; }
};

/// Lets everybody who is ready run until nobody is, without moving the clock.
inline void settle(int turns = 50) {
    for (int i = 0; i < turns; ++i) {
        suspend();
    }
}

/// The error code of the `AsyncError` that `body` throws; fails the test when it throws none.
template <typename F>
ErrorCode code_of(F&& body) {
    try {
        body();
    } catch (const AsyncError& error) {
        return error.code();
    }
    ADD_FAILURE() << "no AsyncError was thrown";
    return ErrorCode::System;
}

}  // namespace trueasync::testing

/// A test `suite.name` whose body is the main coroutine, in a fixture like `CoroTest`. A suite has either these or `TEST_F`.
#define CORO_TEST(suite, name)                                                                               \
    class suite##_##name##_Body : public ::trueasync::testing::CoroTest {                                    \
    protected:                                                                                               \
        void body();                                                                                         \
    };                                                                                                       \
    GTEST_TEST_(                                                                                             \
        suite, name, suite##_##name##_Body, ::testing::internal::GetTypeId<::trueasync::testing::CoroTest>() \
    ) {                                                                                                      \
        in_runtime([this] { body(); });                                                                      \
    }                                                                                                        \
    void suite##_##name##_Body::body()

/// A test `suite.name` in the same fixture whose body calls `in_runtime` itself (for what `run` throws, or for settings).
#define RUNTIME_TEST(suite, name)                                                                                     \
    GTEST_TEST_(                                                                                                      \
        suite, name, ::trueasync::testing::CoroTest, ::testing::internal::GetTypeId<::trueasync::testing::CoroTest>() \
    )
