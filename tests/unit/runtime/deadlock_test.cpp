#include <trueasync/runtime/runtime.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

std::string at_line(std::uint32_t line) { return "deadlock_test.cpp:" + std::to_string(line); }

RUNTIME_TEST(Deadlock, ReportListsWhoWaitsForWhat) {
    std::uint32_t spawn_line = 0;
    std::uint32_t wait_line = 0;
    std::uint32_t main_line = 0;
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([&] {
            ManualEvent event;
            Handle<void> second;
            auto first = spawn([&] { await(second); });
            first.named("first");
            spawn_line = std::source_location::current().line() + 1;
            second = spawn([&] {
                suspend();
                wait_line = std::source_location::current().line() + 1;
                await(first);
            });
            main_line = std::source_location::current().line() + 1;
            await(event);
        });
    });
    EXPECT_TRUE(was_told);
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    const std::string& report = sink.deadlocks[0];
    EXPECT_TRUE(contains(report, "Coroutines waiting: 3, active_events: 0\n")) << report;
    const std::size_t main = report.find("Coroutine 1 'main' (waiting)\n");
    const std::size_t first = report.find("Coroutine 2 'first' (waiting)\n");
    const std::size_t second = report.find("Coroutine 3 (waiting)\n");
    ASSERT_TRUE(main < first && first < second && second != std::string::npos) << report;
    const std::string of_main = report.substr(main, first - main);
    EXPECT_TRUE(contains(of_main, at_line(main_line) + "\n  waiting for:\n    - ManualEvent")) << report;
    const std::string of_first = report.substr(first, second - first);
    EXPECT_TRUE(contains(of_first, "\n    - Coroutine 3 spawned at ")) << report;
    const std::string of_second = report.substr(second);
    EXPECT_TRUE(contains(of_second, "  spawn: ")) << report;
    EXPECT_TRUE(contains(of_second, at_line(spawn_line) + "\n  suspend: ")) << report;
    EXPECT_TRUE(contains(of_second, at_line(wait_line) + "\n  waiting for:\n    - Coroutine 2 'first'")) << report;
}

RUNTIME_TEST(Deadlock, CancelsEveryoneWithItsReason) {
    int cancelled = 0;
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([&] {
            ManualEvent event;
            const auto wait = [&] {
                try {
                    await(event);
                } catch (const Cancellation& cancellation) {
                    EXPECT_EQ(cancellation.reason(), CancelReason::Deadlock);
                    ASSERT_NE(cancellation.error()->previous(), nullptr);
                    EXPECT_EQ(cancellation.error()->previous()->code(), ErrorCode::Deadlock);
                    ++cancelled;
                }
            };
            spawn(wait);
            spawn(wait);
            wait();
            settle();
            EXPECT_EQ(scheduler().stats().deadlocks, 1U);
            EXPECT_EQ(scheduler().stats().scheduler_switches, 1U);  // its own coroutine has found it,
            EXPECT_EQ(scheduler().stats().blocks, 0U);              // without sleeping
            EXPECT_TRUE(runtime().is_accepting());
        });
    });
    EXPECT_TRUE(was_told);
    EXPECT_EQ(cancelled, 3);
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Deadlock, IsFoundAfterMainHasReturned) {
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([] {
            auto event = ManualEvent::create();
            spawn([event] { await(event); });
        });
    });
    EXPECT_TRUE(was_told);
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_TRUE(contains(sink.deadlocks[0], "Coroutines waiting: 1,"));
}

RUNTIME_TEST(Deadlock, ReachesProtectedOnes) {
    bool was_reached = false;
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([&] {
            ManualEvent event;
            try {
                protect([&] { await(event); });
            } catch (const Cancellation& cancellation) {
                was_reached = cancellation.reason() == CancelReason::Deadlock;
            }
        });
    });
    EXPECT_TRUE(was_told);
    EXPECT_TRUE(was_reached);
    EXPECT_EQ(sink.deadlocks.size(), 1U);  // at the first time
}

RUNTIME_TEST(Deadlock, HiddenEventsDoNotCount) {
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([] {
            auto timer = TimerEvent::create(clock(), 1s);
            timer->set_hidden(true);
            EXPECT_THROW(await(timer), Cancellation);
            EXPECT_EQ(clock().active().hidden, 0U);
            EXPECT_EQ(clock().timer_count(), 0U);
        });
    });
    EXPECT_TRUE(was_told);
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_TRUE(contains(sink.deadlocks[0], "active_events: 0"));
    EXPECT_TRUE(contains(sink.deadlocks[0], "Timer(timeout=1000ms, once)")) << sink.deadlocks[0];
}

CORO_TEST(Deadlock, VisibleEventOfAnyoneIsEnough) {
    ManualEvent event;
    auto waiter = spawn([&] { await(event); });
    const auto timer = call_after(1h, [&] { event.notify(); });
    await(waiter);
    EXPECT_TRUE(sink.deadlocks.empty());
    EXPECT_EQ(scheduler().stats().deadlocks, 0U);
}

CORO_TEST(Deadlock, WaitWithADeadlineIsNone) {
    ManualEvent event;
    EXPECT_THROW(await(event, 1h), TimeoutError);
    EXPECT_THROW(await(event, timeout(1h)), TimeoutError);
    auto child = spawn([&] { EXPECT_THROW(await(event, 2h), TimeoutError); });
    await(child);
    EXPECT_TRUE(sink.deadlocks.empty());
}

RUNTIME_TEST(Deadlock, SecondOneBecomesAShutdown) {
    std::string reasons;
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([&] {
            ManualEvent event;
            for (int i = 0; i < 3; ++i) {
                try {
                    await(event);
                } catch (const Cancellation& cancellation) {
                    reasons += std::string(to_string(cancellation.reason())) + " ";
                    EXPECT_EQ(runtime().is_accepting(), i == 0);
                }
            }
        });
    });
    EXPECT_TRUE(was_told);
    EXPECT_EQ(sink.deadlocks.size(), 2U);
    std::string expected;
    for (const CancelReason reason : {CancelReason::Deadlock, CancelReason::Shutdown, CancelReason::Shutdown}) {
        expected += std::string(to_string(reason)) + " ";
    }
    EXPECT_EQ(reasons, expected);
}

RUNTIME_TEST(Deadlock, OneThatIsCaughtLetsTheProgramGoOn) {
    int result = 0;
    const bool was_told = throws<DeadlockError>([&] {
        in_runtime([&] {
            ManualEvent event;
            EXPECT_THROW(await(event), Cancellation);
            result = await(spawn([] {
                sleep_for(1ms);
                return 5;
            }));
        });
    });
    EXPECT_TRUE(was_told);  // it is told in the end nevertheless
    EXPECT_EQ(result, 5);
}

RUNTIME_TEST(Deadlock, ErrorTextSaysHowManyWait) {
    std::string text;
    try {
        in_runtime([] {
            ManualEvent event;
            spawn([&] { await(event); });
            await(event);
        });
    } catch (const DeadlockError& error) {
        text = error.what();
        EXPECT_EQ(error.code(), ErrorCode::Deadlock);
    }
    EXPECT_TRUE(contains(text, "2 coroutines in waiting")) << text;
}

// --- dumps at any time

CORO_TEST(Dump, TellsAboutEveryCoroutine) {
    ManualEvent event;
    auto timer = TimerEvent::create(clock(), 30ms);
    auto waiting = spawn([&] {
        WaitGuard guard;
        guard.add(event);
        guard.add(*timer);
        EXPECT_EQ(guard.park(Deadline::after(2s)), WaitResult::Ready);
    });
    waiting.named("waiting");
    auto ready = spawn([] { suspend(); });
    ready.named("yields");
    suspend();
    auto fresh = spawn([] {});
    fresh.named("fresh");
    const std::string text = dump();
    EXPECT_TRUE(contains(text, "Coroutines: 4, ready: 2, active_events: 2")) << text;
    EXPECT_TRUE(contains(text, "'main' (running)")) << text;
    EXPECT_TRUE(contains(text, "'waiting' (waiting)")) << text;
    EXPECT_TRUE(contains(text, "'yields' (ready)")) << text;
    EXPECT_TRUE(contains(text, "'fresh' (not started)")) << text;
    EXPECT_TRUE(contains(text, "- ManualEvent")) << text;
    EXPECT_TRUE(contains(text, "- Timer(timeout=30ms, once)")) << text;
    EXPECT_TRUE(contains(text, "- Deadline(in 2000ms)")) << text;
    EXPECT_TRUE(contains(text, "<nothing>")) << text;
    settle();
    event.notify();
    await(waiting);
    EXPECT_TRUE(contains(describe(waiting.coroutine()), "(finished)"));
    EXPECT_TRUE(contains(dump(), "Coroutines: 1, ready: 0, active_events: 0"));
}

CORO_TEST(Dump, WorksInsideACallback) {
    std::string text;
    const auto timer = call_after(1ms, [&] { text = dump(); });
    auto child = spawn([] { sleep_for(10ms); });
    child.named("sleeper");
    await(child);
    EXPECT_TRUE(contains(text, "'sleeper' (waiting)")) << text;
    EXPECT_TRUE(contains(text, "'main' (waiting)")) << text;
    EXPECT_TRUE(contains(text, "- Coroutine 2 'sleeper'")) << text;
}

CORO_TEST(Dump, NamesTheWaitOfACoroutineThatAwaitsAnother) {
    auto child = spawn([] { sleep_for(10ms); });
    auto awaiter = spawn([&] { await(child); });
    awaiter.named("awaiter");
    settle(2);
    const std::string text = describe(awaiter.coroutine());
    EXPECT_TRUE(contains(text, "- Coroutine " + std::to_string(child.id()) + " spawned at")) << text;
    await(awaiter);
}

TEST(DumpWithoutRuntime, SaysSo) { EXPECT_EQ(dump(), "no runtime on this thread\n"); }

}  // namespace
}  // namespace trueasync::testing
