#include <trueasync/debug/dump.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What `body` prints to a stream sink.
std::string printed(const std::function<void(StreamReportSink&)>& body) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = open_memstream(&text, &size);
    StreamReportSink sink(stream);
    body(sink);
    std::fclose(stream);
    std::string result(text, size);
    std::free(text);
    return result;
}

/// `dump_test.cpp:<line>`, as places end.
std::string line(unsigned number) { return "dump_test.cpp:" + std::to_string(number) + "\n"; }

RUNTIME_TEST(Dump, WithoutARuntimeItSaysSo) { EXPECT_EQ(dump(), "no runtime on this thread\n"); }

CORO_TEST(Dump, MainAlone) {
    EXPECT_EQ(
        dump(),
        "Coroutines: 1, ready: 0, active_events: 0\n"
        "Coroutine 1 'main' (running)\n"
        "  spawn: unknown\n"
        "  suspend: unknown\n"
        "  waiting for:\n"
        "    <nothing>\n"
    );
}

CORO_TEST(Dump, TellsWhereACoroutineWasSpawnedWhereItWaitsAndForWhat) {
    ManualEvent event;
    unsigned awaited_at = 0;
    const unsigned spawned_at = __LINE__ + 1;
    auto waiter = spawn([&] {
        awaited_at = __LINE__ + 1;
        await(event);
    });
    waiter.named("worker");
    settle();
    EXPECT_EQ(waiter.coroutine().spawned_at().line, spawned_at);
    const std::string text = describe(waiter.coroutine());
    EXPECT_TRUE(contains(text, "Coroutine 2 'worker' (waiting)\n")) << text;
    EXPECT_TRUE(contains(text, line(spawned_at))) << text;
    EXPECT_TRUE(contains(text, line(awaited_at))) << text;
    EXPECT_TRUE(contains(text, "  waiting for:\n    - ManualEvent(created)\n")) << text;
    event.notify();
    await(waiter);
}

CORO_TEST(Dump, TellsEveryState) {
    ManualEvent event;
    auto waiting = spawn([&] { await(event); });
    auto ready = spawn([] {
        for (int i = 0; i < 100; ++i) {
            suspend();
        }
    });
    settle(3);
    auto unstarted = spawn([] {});
    const std::string text = dump();
    EXPECT_TRUE(contains(text, "Coroutines: 4, ready: 2, active_events: 0\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 1 'main' (running)\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 2 (waiting)\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 3 (ready)\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 4 (not started)\n")) << text;
    event.notify();
    await(waiting);
    await(ready);
    await(unstarted);
    EXPECT_TRUE(contains(describe(waiting.coroutine()), "Coroutine 2 (finished)\n"));
    EXPECT_TRUE(contains(dump(), "Coroutines: 1, ready: 0")) << "finished ones are gone";
}

CORO_TEST(Dump, NamesEverythingThatIsWaitedFor) {
    ManualEvent token;
    auto other = spawn([&] { sleep_for(1h); }).named("other");
    auto by_handle = spawn([&] { await(other); });
    auto by_timer = spawn([&] { await(TimerEvent::create(clock(), 10ms)); });
    auto by_token = spawn([&] { await(other, token); });
    auto by_timeout = spawn([&] { await(other, timeout(25ms)); });
    auto by_deadline = spawn([&] { await(token, 40ms); });
    settle();
    EXPECT_TRUE(contains(describe(other.coroutine()), "    - Timer(timeout=3600000ms, once)\n"))
        << describe(other.coroutine());
    EXPECT_TRUE(contains(describe(by_handle.coroutine()), "    - Coroutine 2 'other' spawned at "));
    EXPECT_TRUE(contains(describe(by_timer.coroutine()), "    - Timer(timeout=10ms, once)\n"));
    EXPECT_TRUE(contains(describe(by_token.coroutine()), "    - ManualEvent(created)\n"));
    EXPECT_TRUE(contains(describe(by_token.coroutine()), "    - Coroutine 2 'other'"));
    EXPECT_TRUE(contains(describe(by_timeout.coroutine()), "    - Timer(timeout=25ms, once)\n"));
    EXPECT_TRUE(contains(describe(by_deadline.coroutine()), "    - ManualEvent(created)\n"));
    EXPECT_TRUE(contains(describe(by_deadline.coroutine()), "    - Deadline(in 40ms)\n"));
    EXPECT_TRUE(contains(dump(), "Coroutines: 7, ready: 0, active_events: 4\n")) << dump();
    for (const auto& waiter : {by_handle, by_timer, by_token, by_timeout, by_deadline}) {
        waiter.cancel();
    }
    other.cancel();
    settle();
}

CORO_TEST(Dump, RunningCoroutineWaitsForNothing) {
    ManualEvent event;
    auto waiter = spawn([&] {
        await(event);
        return describe(current());
    });
    settle();
    event.notify();
    const std::string text = await(waiter);
    EXPECT_TRUE(contains(text, "(running)\n")) << text;
    EXPECT_TRUE(contains(text, "    <nothing>\n")) << text;
}

RUNTIME_TEST(Dump, DeadlockReportNamesThoseWhoWaitForEachOther) {
    EXPECT_THROW(
        in_runtime([] {
            Handle<void> first;
            Handle<void> second;
            first = spawn([&] { await(second); }).named("first");
            second = spawn([&] { await(first); }).named("second");
            await(first);
        }),
        DeadlockError
    );
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    const std::string& text = sink.deadlocks[0];
    EXPECT_TRUE(text.starts_with("=== DEADLOCK REPORT START ===\nCoroutines waiting: 3, active_events: 0\n")) << text;
    EXPECT_TRUE(text.ends_with("=== DEADLOCK REPORT END   ===\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 1 'main' (waiting)\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 2 'first' (waiting)\n")) << text;
    EXPECT_TRUE(contains(text, "    - Coroutine 3 'second' spawned at ")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 3 'second' (waiting)\n")) << text;
}

RUNTIME_TEST(StreamReportSink, PrintsWarnings) {
    EXPECT_EQ(
        printed([](StreamReportSink& out) { out.warning(Warning::UnusedResult, nullptr, "take care"); }),
        "trueasync: warning: take care\n"
    );
}

RUNTIME_TEST(StreamReportSink, PrintsUnhandledErrorsWithTheirCauses) {
    const auto cause = Error::make(ErrorCode::System, "disk full");
    const auto error = Error::make(ErrorCode::IllegalState, "cannot save", cause);
    ManualEvent event;
    EXPECT_EQ(
        printed([&](StreamReportSink& out) { out.unhandled_error(&event, *error); }),
        "trueasync: unhandled error in ManualEvent(created): cannot save; caused by: disk full\n"
    );
    EXPECT_EQ(
        printed([&](StreamReportSink& out) { out.unhandled_error(nullptr, *error); }),
        "trueasync: unhandled error in the event loop: cannot save; caused by: disk full\n"
    );
}

RUNTIME_TEST(StreamReportSink, PrintsTheDeadlockReport) {
    const std::string text = printed([](StreamReportSink& out) {
        RunOptions options;
        options.sink = &out;
        EXPECT_THROW(
            run(
                [] {
                    ManualEvent never;
                    await(never);
                },
                std::move(options)
            ),
            DeadlockError
        );
    });
    EXPECT_TRUE(contains(text, "=== DEADLOCK REPORT START ===\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 1 'main' (waiting)\n")) << text;
    EXPECT_TRUE(contains(text, "=== DEADLOCK REPORT END   ===\n")) << text;
}

RUNTIME_TEST(StreamReportSink, NamesCoroutinesThatDidNotStop) {
    const std::string text = printed([](StreamReportSink& out) {
        RunOptions options;
        options.sink = &out;
        options.reactor = std::make_unique<VirtualReactor>();
        run(
            [] {
                static ManualEvent never;
                spawn([] {
                    for (;;) {
                        try {
                            await(never);
                        } catch (const Cancellation&) {  // which one must not do
                        }
                    }
                }).named("stubborn");
                suspend();
                shutdown();
            },
            std::move(options)
        );
    });
    EXPECT_TRUE(contains(text, "trueasync: 1 coroutines did not stop and were abandoned:\n")) << text;
    EXPECT_TRUE(contains(text, "Coroutine 2 'stubborn'")) << text;
}

RUNTIME_TEST(StreamReportSink, IsTheSinkOfAProgramThatSetsNone) {
    ::testing::internal::CaptureStderr();
    EXPECT_THROW(
        run([] { spawn([] { throw std::runtime_error("nobody asks"); }).named("careless"); }), std::runtime_error
    );
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(text, "trueasync: unhandled error in Coroutine 2 'careless'")) << text;
    EXPECT_TRUE(contains(text, "nobody asks")) << text;
}

}  // namespace
}  // namespace trueasync::testing
