#include <trueasync/api/run.hpp>

#include <gtest/gtest-spi.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <support/coro_test.hpp>
#include <thread>

namespace trueasync::testing {
namespace {

RunOptions quiet(ReportSink& sink) {
    RunOptions options;
    options.reactor = std::make_unique<VirtualReactor>();
    options.sink = &sink;
    return options;
}

RUNTIME_TEST(Run, ReturnsTheResult) {
    /// [run_returns]
    const int sum = trueasync::run([] {
        auto a = spawn([] { return 40; });
        auto b = spawn([] { return 2; });
        return await(a) + await(b);
    });
    /// [run_returns]
    EXPECT_EQ(sum, 42);
}

RUNTIME_TEST(Run, ReturnsNothing) {
    static_assert(std::is_void_v<decltype(run([] {}))>);
    bool was_called = false;
    run([&] { was_called = true; }, quiet(sink));
    EXPECT_TRUE(was_called);
}

RUNTIME_TEST(Run, ReturnsWhatCanOnlyBeMoved) {
    const std::unique_ptr<int> result = run([] { return std::make_unique<int>(7); }, quiet(sink));
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(*result, 7);
}

RUNTIME_TEST(Run, ReturnsAReference) {
    std::string text = "here";
    std::string& result = run([&]() -> std::string& { return text; }, quiet(sink));
    EXPECT_EQ(&result, &text);
}

RUNTIME_TEST(Run, CallsAFunctionThatIsNotCopyable) {
    auto owned = std::make_unique<int>(3);
    EXPECT_EQ(run([owned = std::move(owned)] { return *owned; }, quiet(sink)), 3);
}

RUNTIME_TEST(Run, MainIsACoroutineOnTheThreadsOwnStack) {
    const char here = 0;
    run(
        [&] {
            const char there = 0;
            EXPECT_LT(std::abs(&here - &there), 64 * 1024);
            EXPECT_EQ(current().name(), "main");
            EXPECT_EQ(current().id(), 1U);
        },
        quiet(sink)
    );
}

RUNTIME_TEST(Run, WaitsForEverythingThatIsAlive) {
    int finished = 0;
    in_runtime([&] {
        for (int i = 1; i <= 3; ++i) {
            spawn([&, i] {
                sleep_for(i * 1h);
                spawn([&] { ++finished; });
            });
        }
    });
    EXPECT_EQ(finished, 3);
}

RUNTIME_TEST(Run, RethrowsTheExceptionOfMain) {
    struct Special {
        int value;
    };
    try {
        in_runtime([] {
            suspend();
            throw Special{5};
        });
        FAIL();
    } catch (const Special& special) {
        EXPECT_EQ(special.value, 5);
    }
    EXPECT_TRUE(sink.unhandled.empty()) << "the caller of run gets it; nothing to report";
}

RUNTIME_TEST(Run, ExceptionOfMainCancelsTheOthers) {
    bool was_cancelled = false;
    EXPECT_THROW(
        in_runtime([&] {
            spawn([&] {
                try {
                    sleep_for(1h);
                } catch (const Cancellation& cancellation) {
                    was_cancelled = cancellation.reason() == CancelReason::Shutdown;
                    throw;
                }
            });
            suspend();
            throw std::runtime_error("main");
        }),
        std::runtime_error
    );
    EXPECT_TRUE(was_cancelled);
}

RUNTIME_TEST(Run, RethrowsTheFirstErrorThatNobodyTook) {
    try {
        in_runtime([] {
            spawn([] { throw std::runtime_error("first"); });
            spawn([] { throw std::runtime_error("second"); });
            sleep_for(1h);
            FAIL() << "a graceful shutdown cancels main";
        });
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "first");
    }
    ASSERT_FALSE(sink.unhandled.empty());
    EXPECT_NE(sink.unhandled[0].find("first"), std::string::npos);
}

RUNTIME_TEST(Run, ErrorThatNobodyTookWinsOverTheResult) {
    EXPECT_THROW(
        run(
            [] {
                spawn([] { throw std::runtime_error("late"); });
                return 1;
            },
            quiet(sink)
        ),
        std::runtime_error
    );
}

RUNTIME_TEST(Run, DroppingTheLastHandleOfAFailedCoroutineReportsIt) {
    EXPECT_THROW(
        in_runtime([&] {
            auto handle = spawn([] { throw std::runtime_error("lost"); });
            settle();
            EXPECT_TRUE(handle.is_finished());
            EXPECT_TRUE(sink.unhandled.empty()) << "somebody may still ask";
            handle = {};
            EXPECT_EQ(sink.unhandled.size(), 1U);
            sleep_for(1h);
        }),
        std::runtime_error
    );
}

RUNTIME_TEST(Run, InsideAnotherIsRefused) {
    in_runtime([&] {
        EXPECT_EQ(code_of([] { run([] {}); }), ErrorCode::AlreadyRunning);
        auto handle = spawn([] { return code_of([] { run([] { return 1; }); }); });
        EXPECT_EQ(await(handle), ErrorCode::AlreadyRunning);
        sleep_for(1ms);  // the outer one goes on
    });
}

RUNTIME_TEST(Run, WorksAgainAfterItself) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(
            run(
                [i] {
                    auto handle = spawn([i] {
                        sleep_for(1h);
                        return i;
                    });
                    return await(handle);
                },
                quiet(sink)
            ),
            i
        );
        EXPECT_EQ(Scheduler::current(), nullptr);
        EXPECT_EQ(Runtime::current(), nullptr);
    }
}

RUNTIME_TEST(Run, WorksAgainAfterAFailure) {
    EXPECT_THROW(in_runtime([] { throw 1; }), int);
    EXPECT_THROW(
        in_runtime([] {
            ManualEvent never;
            await(never);
        }),
        DeadlockError
    );
    EXPECT_EQ(run([] { return 1; }, quiet(sink)), 1);
}

RUNTIME_TEST(Run, HandleMayOutliveIt) {
    const auto handle = run(
        [] {
            return spawn([] {
                sleep_for(1h);
                return 5;
            });
        },
        quiet(sink)
    );
    EXPECT_TRUE(handle.is_finished());
    EXPECT_EQ(await(handle), 5) << "needs no suspending, so no runtime either";
    handle.cancel();
}

RUNTIME_TEST(Run, TakesSettingsAndCountsWhatItDoes) {
    /// [settings]
    RunOptions options;
    options.settings.scheduler.turns_per_tick = 16;   // look at the event loop at least this often
    options.settings.stacks.stack_size = 128 * 1024;  // of each coroutine
    options.settings.shutdown_grace = Deadline::after(2s);
    options.reactor = std::make_unique<VirtualReactor>();  // a clock for tests; the real loop when left out
    const SchedulerStats stats = run(
        [] {
            for (int i = 0; i < 10; ++i) {
                spawn([] { suspend(); });
            }
            sleep_for(1ms);
            return Scheduler::current()->stats();
        },
        std::move(options)
    );
    EXPECT_EQ(stats.spawned, 11U);  // main counts too
    EXPECT_EQ(stats.finished, 10U);
    EXPECT_GE(stats.blocks, 1U);  // it slept
    /// [settings]
}

RUNTIME_TEST(Run, UsesTheSinkOnlyWhileItRuns) {
    RecordingSink outer;
    const SinkScope scope(outer);
    in_runtime([&] { EXPECT_EQ(&report_sink(), &sink); });
    EXPECT_EQ(&report_sink(), &outer);
    EXPECT_THROW(in_runtime([] { throw 1; }), int);
    EXPECT_EQ(&report_sink(), &outer);
}

RUNTIME_TEST(Run, DeadlockIsReportedThenThrown) {
    std::vector<CancelReason> reasons;
    ManualEvent never;
    try {
        in_runtime([&] {
            auto handle = spawn([&] {
                try {
                    await(never);
                } catch (const Cancellation& cancellation) {
                    reasons.push_back(cancellation.reason());
                    throw;
                }
            });
            await(handle);
        });
        FAIL();
    } catch (const DeadlockError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Deadlock);
        EXPECT_STREQ(error.what(), "Deadlock detected: no active coroutines, 2 coroutines in waiting");
    }
    EXPECT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_EQ(reasons, std::vector{CancelReason::Deadlock});
}

RUNTIME_TEST(Run, CancelledMainWithoutAResultEndsQuietly) {
    bool was_cancelled = false;
    is_cut_off_meant = true;
    in_runtime([&] {
        shutdown();
        try {
            suspend();
        } catch (const Cancellation&) {
            was_cancelled = true;
            throw;
        }
    });
    EXPECT_TRUE(was_cancelled);
}

RUNTIME_TEST(Run, ATestThatIsCutOffFails) {
    EXPECT_NONFATAL_FAILURE(
        in_runtime([] {
            shutdown();
            suspend();
        }),
        "cut off"
    );
}

RUNTIME_TEST(Run, CancelledMainThatOwesAResultThrowsTheCancellation) {
    try {
        run(
            [] {
                shutdown();
                suspend();
                return 1;
            },
            quiet(sink)
        );
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.reason(), CancelReason::Shutdown);
    }
}

RUNTIME_TEST(Run, ResultAfterAShutdownIsReturned) {
    EXPECT_EQ(
        run(
            [] {
                shutdown();
                try {
                    suspend();
                } catch (const Cancellation&) {  // decides to end normally
                }
                return 1;
            },
            quiet(sink)
        ),
        1
    );
}

RUNTIME_TEST(Shutdown, CancelsEveryoneAndLetsThemCleanUp) {
    int cleaned_up = 0;
    bool has_begun = false;
    in_runtime([&] {
        for (int i = 0; i < 3; ++i) {
            spawn([&] {
                try {
                    sleep_for(1h);
                } catch (const Cancellation& cancellation) {
                    EXPECT_EQ(cancellation.reason(), CancelReason::Shutdown);
                    EXPECT_EQ(cancellation.message(), "Graceful shutdown");
                    sleep_for(1ms);  // clean-up may take time
                    ++cleaned_up;
                    throw;
                }
            });
        }
        suspend();
        spawn([&] { has_begun = true; });
        shutdown();
        EXPECT_EQ(code_of([] { spawn([] {}); }), ErrorCode::ShuttingDown);
    });
    EXPECT_EQ(cleaned_up, 3);
    EXPECT_FALSE(has_begun) << "one that never started is dropped";
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, TwiceIsOnce) {
    in_runtime([] {
        shutdown();
        shutdown();
        EXPECT_THROW(suspend(), Cancellation);
        suspend();  // delivered once
    });
}

RUNTIME_TEST(Shutdown, OutsideARunDoesNothing) {
    shutdown();
    EXPECT_EQ(run([] { return 1; }, quiet(sink)), 1);
}

RUNTIME_TEST(RunThreads, EveryThreadHasItsOwn) {
    constexpr int kThreads = 4;
    std::atomic<int> sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&sum, i] {
            RecordingSink own;
            for (int round = 0; round < 20; ++round) {
                sum += run(
                    [i] {
                        std::vector<Handle<int>> handles;
                        for (int n = 0; n < 50; ++n) {
                            handles.push_back(spawn([i, n] {
                                sleep_for(n * 1ms);
                                suspend();
                                return i;
                            }));
                        }
                        int total = 0;
                        for (const auto& handle : handles) {
                            total += await(handle);
                        }
                        return total;
                    },
                    quiet(own)
                );
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum, (0 + 1 + 2 + 3) * 50 * 20);
}

RUNTIME_TEST(RunThreads, RealLoopsSideBySide) {
    constexpr int kThreads = 4;
    std::atomic<int> finished = 0;
    for (int round = 0; round < 5; ++round) {
        // All loops are open before one closes. libuv closes descriptors behind the thread sanitizer's back; one that
        // another thread opens again at once would look like a race.
        std::latch all_open(kThreads);
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                run([&] {
                    all_open.arrive_and_wait();
                    auto trigger = TriggerEvent::create(Scheduler::current()->reactor());
                    std::thread helper([&] { trigger->fire(); });
                    await(trigger);
                    helper.join();
                    ++finished;
                });
            });
        }
        for (auto& thread : threads) {
            thread.join();
        }
    }
    EXPECT_EQ(finished, kThreads * 5);
}

RUNTIME_TEST(RunThreads, ExceptionsStayOnTheirThread) {
    std::vector<std::thread> threads;
    std::atomic<int> caught = 0;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&caught, i] {
            for (int round = 0; round < 20; ++round) {
                RecordingSink own;
                try {
                    run(
                        [i] {
                            auto handle = spawn([i] {
                                suspend();
                                throw i;
                            });
                            await(handle);
                        },
                        quiet(own)
                    );
                } catch (int value) {
                    caught += value == i ? 1 : 0;
                }
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(caught, 80);
}

RUNTIME_TEST(Run, ErrorOfAHandleThatOutlivesItIsReported) {
    Handle<void> handle;
    run([&] { handle = spawn([] { throw std::runtime_error("nobody asked"); }); });
    ReportSink* const before = set_report_sink(nullptr);
    ::testing::internal::CaptureStderr();
    run([] {});  // leaves the standard sink behind where there was none
    handle = {};
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("nobody asked"), std::string::npos);
    set_report_sink(before);
}

RUNTIME_TEST(Run, FinishIsForMainOnly) {
    run([] {
        auto other = spawn([] { return Runtime::current()->finish(); });
        const Ref<Error> refusal = await(other);
        ASSERT_NE(refusal, nullptr);
        EXPECT_EQ(refusal->code(), ErrorCode::IllegalState);
        EXPECT_EQ(await(spawn([] { return 1; })), 1);
    });
}

RUNTIME_TEST(Run, AnyTickSettingsWork) {
    RunOptions options;
    options.settings.scheduler.tick_interval = {};
    options.settings.scheduler.turns_per_tick = 0;
    run(
        [] {
            for (int i = 0; i < 5000; ++i) {
                suspend();
            }
        },
        std::move(options)
    );
}

}  // namespace
}  // namespace trueasync::testing
