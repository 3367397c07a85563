#include <trueasync/runtime/microtask.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- the queue by itself

TEST(MicrotaskQueue, RunsFirstInFirstOut) {
    MicrotaskQueue queue;
    std::string trace;
    for (const char* name : {"a", "b", "c"}) {
        const auto task = make_microtask([&trace, name] {
            trace += name;
            return Status();
        });
        queue.push(*task);
    }
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(trace, "abc");
    EXPECT_TRUE(queue.empty());
}

TEST(MicrotaskQueue, HoldsOneReferenceUntilItHasRun) {
    MicrotaskQueue queue;
    int destroyed = 0;
    auto task = make_microtask([] { return Status(); }, &destroyed);
    queue.push(*task);
    task.reset();
    EXPECT_EQ(destroyed, 0);
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(destroyed, 1);
}

TEST(MicrotaskQueue, OwnersReferenceKeepsItBeyondItsRun) {
    MicrotaskQueue queue;
    int destroyed = 0;
    int runs = 0;
    auto task = make_microtask(
        [&] {
            ++runs;
            return Status();
        },
        &destroyed
    );
    queue.push(*task);
    queue.push(*task);  // counted twice, run twice
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(destroyed, 0);
    task.reset();
    EXPECT_EQ(destroyed, 1);
}

TEST(MicrotaskQueue, CancelledOneIsDroppedAtItsTurnAndDestroyedOnce) {
    MicrotaskQueue queue;
    int destroyed = 0;
    std::string trace;
    auto first = make_microtask(
        [&] {
            trace += "first";
            return Status();
        },
        &destroyed
    );
    auto second = make_microtask(
        [&] {
            trace += "second";
            return Status();
        },
        &destroyed
    );
    queue.push(*first);
    queue.push(*second);
    first->cancel();
    EXPECT_TRUE(first->is_cancelled());
    EXPECT_EQ(queue.size(), 2U);
    first.reset();
    second.reset();
    EXPECT_EQ(destroyed, 0);
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(trace, "second");
    EXPECT_EQ(destroyed, 2);
}

TEST(MicrotaskQueue, OneThatIsAddedMeanwhileRunsInTheSameProcessing) {
    MicrotaskQueue queue;
    std::string trace;
    const auto inner = make_microtask([&] {
        trace += "inner";
        return Status();
    });
    const auto outer = make_microtask([&] {
        trace += "outer ";
        queue.push(*inner);
        return Status();
    });
    queue.push(*outer);
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(trace, "outer inner");
}

TEST(MicrotaskQueue, FailureStopsAndTheRestStays) {
    MicrotaskQueue queue;
    int destroyed = 0;
    std::string trace;
    const auto good = [&](const char* name) {
        const auto task = make_microtask(
            [&trace, name] {
                trace += name;
                return Status();
            },
            &destroyed
        );
        queue.push(*task);
    };
    good("a");
    queue.push(*make_microtask([] { return Status::failure(ErrorCode::System, "broken"); }, &destroyed));
    good("b");
    queue.push(*make_microtask([]() -> Status { throw std::runtime_error("thrown"); }, &destroyed));
    good("c");
    Status status = queue.run_all();
    EXPECT_TRUE(status.is(ErrorCode::System));
    EXPECT_EQ(trace, "a");
    EXPECT_EQ(queue.size(), 3U);
    status = queue.run_all();
    EXPECT_TRUE(status.is(ErrorCode::Exception));
    EXPECT_TRUE(contains(status.error()->message(), "thrown"));
    EXPECT_EQ(trace, "ab");
    EXPECT_TRUE(queue.run_all().ok());
    EXPECT_EQ(trace, "abc");
    EXPECT_EQ(destroyed, 5);
}

TEST(MicrotaskQueue, ClearDropsWithoutRunning) {
    int destroyed = 0;
    {
        MicrotaskQueue queue;
        queue.push(*make_microtask([]() -> Status { throw 1; }, &destroyed));
        queue.clear();
        EXPECT_TRUE(queue.empty());
        EXPECT_EQ(destroyed, 1);
        queue.push(*make_microtask([]() -> Status { throw 1; }, &destroyed));
    }
    EXPECT_EQ(destroyed, 2);  // the end of a queue is a clear
}

// --- in the scheduler

CORO_TEST(Microtask, OneWhoseCoroutineHasJustEndedDoesNotFindItAmongTheLiving) {
    std::size_t living = 0;
    auto task = make_microtask([&] {
        for ([[maybe_unused]] const Coroutine& coroutine : Scheduler::current()->alive()) {
            ++living;
        }
        return Status();
    });
    auto handle = spawn([&] {
        Scheduler::current()->add_microtask(*task);
        return 1;
    });
    EXPECT_EQ(await(handle), 1);
    EXPECT_EQ(living, 1U);  // this one
    handle = {};
    EXPECT_EQ(await(spawn([] { return 2; })), 2);
    EXPECT_EQ(Scheduler::current()->alive_count(), 1U);
}

CORO_TEST(Microtask, RunsBeforeTheNextSwitch) {
    std::string trace;
    auto child = spawn([&] { trace += "child "; });
    add_microtask([&] { trace += "task "; });
    trace += "main ";
    await(child);
    EXPECT_EQ(trace, "main task child ");
    EXPECT_TRUE(scheduler().microtasks().empty());
}

CORO_TEST(Microtask, RunsBeforeEachSwitch) {
    std::string trace;
    auto child = spawn([&] {
        for (int i = 0; i < 3; ++i) {
            add_microtask([&] { trace += "t "; });
            trace += "c ";
            suspend();
        }
    });
    for (int i = 0; i < 3; ++i) {
        suspend();
        add_microtask([&] { trace += "u "; });
        trace += "m ";
    }
    await(child);
    EXPECT_EQ(trace, "c t m u c t m u c t m u ");
}

CORO_TEST(Microtask, RunsWithoutASwitchWhenNobodyElseIsReady) {
    bool has_run = false;
    add_microtask([&] { has_run = true; });
    const SchedulerStats before = scheduler().stats();
    suspend();
    EXPECT_TRUE(has_run);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
}

CORO_TEST(Microtask, RunsBeforeAHandover) {
    std::string trace;
    auto first = spawn([&] {
        add_microtask([&] { trace += "task "; });
        trace += "first ";
    });
    auto second = spawn([&] { trace += "second "; });
    await(second);
    EXPECT_EQ(trace, "first task second ");
    EXPECT_EQ(scheduler().stats().handovers, 1U);
    await(first);
}

CORO_TEST(Microtask, RunsBeforeTheAwaiterOfOneThatEnded) {
    std::string trace;
    auto child = spawn([&] {
        add_microtask([&] { trace += "task "; });
        trace += "child ";
    });
    await(child);  // the two are alone: the end of one continues the other
    EXPECT_EQ(trace, "child task ");
}

CORO_TEST(Microtask, RunsBeforeTheLoopSleeps) {
    std::string trace;
    auto child = spawn([&] {
        sleep_for(5ms);
        trace += "woken ";
    });
    suspend();
    add_microtask([&] { trace += clock().now() == Instant{} + 1s ? "task-in-time " : "task-late "; });
    await(child);
    EXPECT_EQ(trace, "task-in-time woken ");
}

CORO_TEST(Microtask, AddedByATimerCallbackRunsBeforeTheNextCoroutine) {
    std::string trace;
    const auto timer = call_after(1ms, [&] {
        trace += "timer ";
        add_microtask([&] { trace += "task "; });
    });
    auto sleeper = spawn([&] {
        sleep_for(1ms);
        trace += "sleeper ";
    });
    await(sleeper);
    EXPECT_EQ(trace, "timer task sleeper ");
}

RUNTIME_TEST(Microtask, AddedInANonBlockingTickRunsBeforeTheNextSwitch) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 4;
    in_runtime(
        [] {
            int turns = 0;
            int added_at = -1;
            int run_at = -1;
            const auto timer = call_after(1ms, [&] {
                added_at = turns;
                add_microtask([&] { run_at = turns; });
            });
            clock().advance(1ms);
            auto other = spawn([&] {
                for (int i = 0; i < 50; ++i) {
                    ++turns;
                    suspend();
                }
            });
            for (int i = 0; i < 50; ++i) {
                ++turns;
                suspend();
            }
            await(other);
            ASSERT_GE(added_at, 0);
            EXPECT_EQ(run_at, added_at) << "the microtask had to wait for turns of coroutines";
            EXPECT_EQ(scheduler().stats().blocks, 0U);
        },
        settings
    );
}

CORO_TEST(Microtask, AddedByAMicrotaskRunsInTheSameTurn) {
    std::string trace;
    auto child = spawn([&] { trace += "child"; });
    add_microtask([&] {
        trace += "outer ";
        add_microtask([&] { trace += "inner "; });
    });
    await(child);
    EXPECT_EQ(trace, "outer inner child");
}

CORO_TEST(Microtask, MaySpawnWakeAndCancel) {
    ManualEvent event;
    std::string trace;
    auto waiter = spawn([&] {
        await(event);
        trace += "woken ";
    });
    auto sleeper = spawn([&] { sleep_for(1h); });
    suspend();
    add_microtask([&] {
        spawn([&] { trace += "spawned "; });
        event.notify();
        sleeper.cancel();
    });
    suspend();
    settle();
    EXPECT_EQ(trace, "spawned woken ");
    EXPECT_TRUE(sleeper.is_cancelled());
}

CORO_TEST(Microtask, RunsInsideTheExceptionStateOfWhoeverSuspends) {
    std::string trace;
    try {
        throw std::runtime_error("outer");
    } catch (const std::runtime_error&) {
        add_microtask([&] {
            try {
                throw std::logic_error("inner");
            } catch (const std::logic_error&) {
                trace += "caught ";
            }
        });
        suspend();
        try {
            throw;
        } catch (const std::runtime_error& error) {
            trace += error.what();
        }
    }
    EXPECT_EQ(trace, "caught outer");
}

RUNTIME_TEST(Microtask, FailureIsReportedAndStopsTheProgram) {
    int rest = 0;
    int destroyed = 0;
    bool was_cancelled = false;
    try {
        in_runtime([&] {
            scheduler().add_microtask(
                *make_microtask([] { return Status::failure(ErrorCode::System, "task failed"); }, &destroyed)
            );
            scheduler().add_microtask(*make_microtask(
                [&] {
                    ++rest;
                    return Status();
                },
                &destroyed
            ));
            try {
                suspend();
            } catch (const Cancellation& cancellation) {
                was_cancelled = cancellation.reason() == CancelReason::Shutdown;
            }
            EXPECT_EQ(rest, 0);  // not in this turn
            EXPECT_EQ(scheduler().microtasks().size(), 1U);
            suspend();
            EXPECT_EQ(rest, 1);  // in the next one
        });
        FAIL();
    } catch (const AsyncError& error) {
        EXPECT_EQ(error.code(), ErrorCode::System);
        EXPECT_TRUE(contains(error.what(), "task failed"));
    }
    EXPECT_TRUE(was_cancelled);
    EXPECT_EQ(destroyed, 2);
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_EQ(sink.unhandled[0], "loop: task failed");
}

RUNTIME_TEST(Microtask, RestOfAFailedProcessingRunsBeforeTheNextSwitch) {
    int turns = 0;
    int run_at = -1;
    const std::string what = what_of([&] {
        in_runtime([&] {
            auto spin = [&] {
                for (int i = 0; i < 20; ++i) {
                    try {
                        ++turns;
                        suspend();
                    } catch (const Cancellation&) {}
                }
            };
            spawn(spin);
            suspend();
            scheduler().add_microtask(*make_microtask([]() -> Status { throw std::runtime_error("task threw"); }));
            add_microtask([&] { run_at = turns; });
            spin();
        });
    });
    EXPECT_EQ(what, "task threw");
    EXPECT_GE(run_at, 2);
    EXPECT_LE(run_at, 4);
}

RUNTIME_TEST(Microtask, ExceptionIsReportedAndThrownByRun) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            scheduler().add_microtask(*make_microtask([]() -> Status { throw std::runtime_error("task threw"); }));
            EXPECT_THROW(sleep_for(1h), Cancellation);
        });
    });
    EXPECT_EQ(what, "task threw");
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_TRUE(contains(sink.unhandled[0], "loop: "));
}

}  // namespace
}  // namespace trueasync::testing
