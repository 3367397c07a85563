#include <trueasync/runtime/runtime.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

/// Waits again and again, whatever happens.
[[noreturn]] void ignore_cancellation(Event& event) {
    for (;;) {
        try {
            await(event);
        } catch (const Cancellation&) {}
    }
}

// --- step 1: the flag is set, spawning is refused

CORO_TEST(Shutdown, SpawnIsRefused) {
    EXPECT_EQ(runtime().state(), Runtime::State::Running);
    shutdown();
    EXPECT_EQ(runtime().state(), Runtime::State::Stopping);
    EXPECT_FALSE(runtime().is_accepting());
    EXPECT_EQ(code_of([] { spawn([] {}); }), ErrorCode::ShuttingDown);
    auto coroutine = make_coroutine([] { ADD_FAILURE(); });
    EXPECT_TRUE(scheduler().spawn(*coroutine).is(ErrorCode::ShuttingDown));
    EXPECT_EQ(coroutine->ref_count(), 1U);
    EXPECT_EQ(coroutine->id(), 0U);
    EXPECT_EQ(scheduler().alive_count(), 1U);
}

RUNTIME_TEST(Shutdown, OneThatWasCancelledBeforeMayStillBeSpawned) {
    auto coroutine = make_coroutine([] { ADD_FAILURE(); });
    run([&] {
        shutdown();
        scheduler().cancel(*coroutine, {});
        EXPECT_TRUE(scheduler().spawn(*coroutine));
        EXPECT_FALSE(coroutine->is_finished());
    });
    EXPECT_TRUE(coroutine->is_cancelled());
}

CORO_TEST(Shutdown, OnceIsEnough) {
    ManualEvent event;
    int cancellations = 0;
    auto child = spawn([&] {
        try {
            await(event);
        } catch (const Cancellation&) {
            ++cancellations;
            shutdown();
            throw;
        }
    });
    suspend();
    shutdown();
    shutdown();
    EXPECT_THROW(suspend(), Cancellation);
    settle(3);
    EXPECT_EQ(cancellations, 1);
}

// --- step 2: everybody is cancelled

RUNTIME_TEST(Shutdown, EveryCoroutineAndMainAreCancelled) {
    int cancelled = 0;
    bool main_cancelled = false;
    const Ref<Error> cause = Error::make(ErrorCode::System, "the cause");
    in_runtime([&] {
        ManualEvent event;
        for (int i = 0; i < 3; ++i) {
            spawn([&] {
                try {
                    await(event);
                } catch (const Cancellation& cancellation) {
                    EXPECT_EQ(cancellation.reason(), CancelReason::Shutdown);
                    ASSERT_NE(cancellation.error()->previous(), nullptr);
                    EXPECT_EQ(cancellation.error()->previous()->message(), "the cause");
                    ++cancelled;
                    throw;
                }
            });
        }
        suspend();
        runtime().shutdown(cause);
        try {
            sleep_for(1h);
        } catch (const Cancellation& cancellation) {
            EXPECT_EQ(cancellation.reason(), CancelReason::Shutdown);
            main_cancelled = true;
        }
        settle();
    });
    EXPECT_EQ(cancelled, 3);
    EXPECT_TRUE(main_cancelled);
    EXPECT_TRUE(sink.survivors.empty());
    EXPECT_TRUE(sink.unhandled.empty());
}

RUNTIME_TEST(Shutdown, AGivenCancellationIsWhatEverybodyGets) {
    const Ref<Error> given = Error::cancellation(CancelReason::UserRequest, "time to go");
    int cancelled = 0;
    in_runtime([&] {
        const auto expect_given = [&] {
            try {
                sleep_for(1h);
            } catch (const Cancellation& cancellation) {
                EXPECT_EQ(cancellation.error().get(), given.get());
                ++cancelled;
            }
        };
        spawn(expect_given);
        suspend();
        runtime().shutdown(given);
        expect_given();
    });
    EXPECT_EQ(cancelled, 2);
}

RUNTIME_TEST(Shutdown, UnstartedOnesAreDropped) {
    Handle<void> child;
    in_runtime([&] {
        child = spawn([] { ADD_FAILURE() << "must not run"; });
        shutdown();
    });
    EXPECT_TRUE(child.is_finished());
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_FALSE(child.coroutine().is_started());
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, ReachesProtectedOnes) {
    bool was_reached = false;
    in_runtime([&] {
        ManualEvent event;
        spawn([&] {
            try {
                protect([&] { await(event); });
            } catch (const Cancellation& cancellation) {
                was_reached = cancellation.reason() == CancelReason::Shutdown;
                throw;
            }
        });
        suspend();
        shutdown();
        EXPECT_THROW(suspend(), Cancellation);
    });
    EXPECT_TRUE(was_reached);
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, ReachesAProtectedOneWithADeferredCancellation) {
    std::string message;
    in_runtime([&] {
        ManualEvent event;
        auto child = spawn([&] {
            try {
                protect([&] { await(event); });
            } catch (const Cancellation& cancellation) {
                message = cancellation.message();
                throw;
            }
        });
        suspend();
        child.cancel("deferred");
        suspend();
        EXPECT_FALSE(child.is_finished());
        shutdown();
        EXPECT_THROW(suspend(), Cancellation);
    });
    EXPECT_EQ(message, "deferred");  // the first request counts
    EXPECT_TRUE(sink.survivors.empty());
}

// --- step 3: clean-up code runs

RUNTIME_TEST(Shutdown, CleanUpCodeRuns) {
    struct Closer {
        std::string& trace;
        ~Closer() { trace += "closed "; }
    };
    std::string trace;
    in_runtime([&] {
        ManualEvent event;
        spawn([&] {
            const Closer closer{trace};
            try {
                await(event);
            } catch (...) {
                trace += "flushing ";
                sleep_for(20ms);  // suspends inside the handler
                suspend();
                trace += "flushed ";
                throw;
            }
        });
        suspend();
        shutdown();
    });
    EXPECT_EQ(trace, "flushing flushed closed ");
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, CleanUpMayWaitForOthers) {
    std::string trace;
    in_runtime([&] {
        ManualEvent event;
        auto writer = spawn([&] {
            try {
                await(event);
            } catch (const Cancellation&) {
                sleep_for(5ms);
                trace += "writer ";
            }
        });
        spawn([&trace, &event, writer] {
            try {
                await(event);
            } catch (const Cancellation&) {
                await(writer);
                trace += "closer ";
            }
        });
        suspend();
        shutdown();
        EXPECT_THROW(suspend(), Cancellation);
        settle(3);
        await(writer);
    });
    EXPECT_EQ(trace, "writer closer ");
}

RUNTIME_TEST(Shutdown, ErrorOfMainStopsTheOthersAndIsThrown) {
    bool was_cancelled = false;
    const std::string what = what_of([&] {
        in_runtime([&] {
            spawn([&] {
                try {
                    sleep_for(1h);
                } catch (const Cancellation& cancellation) {
                    was_cancelled = true;
                    EXPECT_TRUE(contains(cancellation.error()->describe(), "main failed"));
                    throw;
                }
            });
            suspend();
            throw std::runtime_error("main failed");
        });
    });
    EXPECT_EQ(what, "main failed");
    EXPECT_TRUE(was_cancelled);
    EXPECT_TRUE(sink.unhandled.empty());  // it was taken: by whoever called run
}

RUNTIME_TEST(Shutdown, ErrorOfMainIsWhatItsAwaitersSee) {
    Ref<Error> seen;
    what_of([&] {
        in_runtime([&] {
            Coroutine& main = current();
            spawn([&] {
                try {
                    await(main);
                } catch (...) {
                    main.replay(nullptr, nullptr, &seen);
                }
            });
            suspend();
            throw std::runtime_error("main failed");
        });
    });
    ASSERT_NE(seen, nullptr);
    EXPECT_TRUE(contains(seen->message(), "main failed")) << seen->message();
}

RUNTIME_TEST(Shutdown, MainThatReturnsLetsTheOthersFinish) {
    std::string trace;
    in_runtime([&] {
        spawn([&] {
            sleep_for(10ms);
            spawn([&] { trace += "grandchild "; });
            trace += "child ";
        });
        trace += "main ";
    });
    EXPECT_EQ(trace, "main child grandchild ");
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, ByACoroutineWhileMainIsDone) {
    bool was_cancelled = false;
    in_runtime([&] {
        spawn([&] {
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                was_cancelled = true;
                throw;
            }
        });
        spawn([] {
            sleep_for(1ms);
            shutdown();
        });
    });
    EXPECT_TRUE(was_cancelled);
}

// --- step 4: what does not stop is named and abandoned

RUNTIME_TEST(Shutdown, OneThatParksAgainIsAskedOnceMore) {
    int requests = 0;
    bool has_ended = false;
    in_runtime([&] {
        static ManualEvent event;
        spawn([&] {
            while (requests < 2) {
                try {
                    await(event);
                } catch (const Cancellation& cancellation) {
                    EXPECT_EQ(cancellation.reason(), CancelReason::Shutdown);
                    ++requests;
                }
            }
            has_ended = true;
        });
        suspend();
        shutdown();
    });
    EXPECT_EQ(requests, 2);
    EXPECT_TRUE(has_ended);
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, SurvivorsThatParkAgainAreNamedAndAbandoned) {
    const LeaksExpected leaks;
    Handle<void> stubborn;
    Instant before;
    Instant after;
    std::uint32_t line = 0;
    in_runtime([&] {
        static ManualEvent event;
        line = std::source_location::current().line() + 1;
        stubborn = spawn([] { ignore_cancellation(event); });
        stubborn.named("stubborn");
        suspend();
        before = clock().now();
        shutdown();
        after = clock().now();
    });
    ASSERT_EQ(sink.survivors.size(), 1U);
    EXPECT_TRUE(contains(sink.survivors[0], "'stubborn'")) << sink.survivors[0];
    EXPECT_TRUE(contains(sink.survivors[0], "shutdown_test.cpp:" + std::to_string(line))) << sink.survivors[0];
    EXPECT_TRUE(contains(sink.survivors[0], "ManualEvent")) << sink.survivors[0];
    EXPECT_TRUE(stubborn.is_finished());
    EXPECT_TRUE(stubborn.is_cancelled());
    EXPECT_EQ(stubborn.coroutine().error()->reason(), CancelReason::Abandoned);
    EXPECT_EQ(stubborn.coroutine().ref_count(), 1U);
    EXPECT_EQ(before, after);  // nothing moves any more: no waiting for the grace
}

RUNTIME_TEST(Shutdown, AbandonedOnesLeaveNothingBehind) {
    const LeaksExpected leaks;
    auto event = ManualEvent::create();
    auto runtime_reactor = std::make_unique<VirtualReactor>();
    VirtualReactor& reactor = *runtime_reactor;
    std::size_t live = 1;
    {
        SinkScope scope(sink);
        Runtime own(std::move(runtime_reactor));
        ASSERT_TRUE(own.start().ok());
        auto child = make_coroutine([&] {
            for (;;) {
                try {
                    await(*event, 1h);
                } catch (const Cancellation&) {
                } catch (const TimeoutError&) {}
            }
        });
        ASSERT_TRUE(own.scheduler().spawn(*child).ok());
        suspend();
        own.shutdown();
        EXPECT_EQ(own.finish(), nullptr);
        EXPECT_EQ(own.state(), Runtime::State::Stopped);
        EXPECT_EQ(event->callback_count(), 0U);
        EXPECT_EQ(reactor.timer_count(), 0U);
        EXPECT_EQ(reactor.active().visible, 0U);
        live = own.stacks().stats().live;
        EXPECT_EQ(child->ref_count(), 1U);
    }
    EXPECT_EQ(live, 0U);
    EXPECT_EQ(sink.survivors.size(), 1U);
}

RUNTIME_TEST(Shutdown, SurvivorsThatAwaitEachOtherAreAbandoned) {
    const LeaksExpected leaks;
    // Each ending one wakes another that is abandoned too: nobody may be reached through the queue after it has gone.
    in_runtime([&] {
        static ManualEvent event;
        for (int pair = 0; pair < 3; ++pair) {
            auto* first = new Handle<void>(spawn([] { ignore_cancellation(event); }));
            spawn([first] {
                const std::unique_ptr<Handle<void>> owner(first);
                ignore_cancellation(owner->coroutine());
            });
        }
        settle(3);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 6U);
}

RUNTIME_TEST(Shutdown, GraceEndsALongCleanUp) {
    const LeaksExpected leaks;
    RuntimeSettings settings;
    settings.shutdown_grace = Deadline::after(10s);
    Instant begun;
    bool has_cleaned = false;
    auto reactor = std::make_unique<VirtualReactor>();
    VirtualReactor& virtual_clock = *reactor;
    SinkScope scope(sink);
    Runtime own(std::move(reactor), settings);
    ASSERT_TRUE(own.start().ok());
    spawn([&] {
        try {
            sleep_for(24h);
        } catch (...) {
            sleep_for(1h);
            has_cleaned = true;
            throw;
        }
    }).named("slow");
    suspend();
    begun = virtual_clock.now();
    own.shutdown();
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_FALSE(has_cleaned);
    EXPECT_EQ(virtual_clock.now() - begun, 10s);
    ASSERT_EQ(sink.survivors.size(), 1U);
    EXPECT_TRUE(contains(sink.survivors[0], "'slow'"));
    EXPECT_EQ(virtual_clock.timer_count(), 0U);
}

RUNTIME_TEST(Shutdown, GraceThatNeverEndsWaitsForTheCleanUp) {
    RuntimeSettings settings;
    settings.shutdown_grace = Deadline::never();
    bool has_cleaned = false;
    in_runtime(
        [&] {
            spawn([&] {
                try {
                    sleep_for(24h);
                } catch (...) {
                    sleep_for(1h);
                    has_cleaned = true;
                    throw;
                }
            });
            suspend();
            shutdown();
        },
        settings
    );
    EXPECT_TRUE(has_cleaned);
    EXPECT_TRUE(sink.survivors.empty());
}

RUNTIME_TEST(Shutdown, GraceEndsThoseWhoSpin) {
    const LeaksExpected leaks;
    RuntimeSettings settings;
    settings.shutdown_grace = Deadline::after(1s);
    settings.scheduler.turns_per_tick = 8;
    in_runtime(
        [&] {
            for (int i = 0; i < 2; ++i) {
                spawn([] {
                    for (;;) {
                        try {
                            suspend();
                            clock().advance(1ms);  // time passes while they are busy
                        } catch (const Cancellation&) {}
                    }
                }).named("spinner");
            }
            suspend();
            shutdown();
        },
        settings
    );
    ASSERT_EQ(sink.survivors.size(), 2U);
    EXPECT_TRUE(contains(sink.survivors[0], "'spinner'"));
}

RUNTIME_TEST(Shutdown, GraceEndsMainThatSpins) {
    const LeaksExpected leaks;
    RuntimeSettings settings;
    settings.shutdown_grace = Deadline::after(1s);
    settings.scheduler.turns_per_tick = 8;
    int refused = 0;
    in_runtime(
        [&] {
            spawn([] {
                for (;;) {
                    try {
                        suspend();
                        clock().advance(1ms);
                    } catch (const Cancellation&) {}
                }
            });
            suspend();
            shutdown();
            while (refused < 3) {  // once for the shutdown, then for ever
                try {
                    suspend();
                } catch (const Cancellation&) {
                    ++refused;
                }
            }
            EXPECT_EQ(runtime().state(), Runtime::State::Final);
            EXPECT_THROW(sleep_for(1ms), Cancellation);
            ManualEvent event;
            EXPECT_THROW(await(event), Cancellation);
        },
        settings
    );
    EXPECT_EQ(refused, 3);
    EXPECT_EQ(sink.survivors.size(), 1U);
}

RUNTIME_TEST(Shutdown, MainThatParksAgainIsEndedToo) {
    int cancelled = 0;
    in_runtime([&] {
        ManualEvent event;
        shutdown();
        while (cancelled < 4) {
            try {
                await(event);
            } catch (const Cancellation&) {
                ++cancelled;
            }
        }
    });
    EXPECT_EQ(cancelled, 4);
    EXPECT_TRUE(sink.survivors.empty());
    EXPECT_TRUE(sink.deadlocks.empty());
}

RUNTIME_TEST(Shutdown, SecondUnhandledErrorGoesStraightToTheFinalCleanUp) {
    const LeaksExpected leaks;
    bool has_cleaned = false;
    Instant begun;
    auto reactor = std::make_unique<VirtualReactor>();
    VirtualReactor& virtual_clock = *reactor;
    SinkScope scope(sink);
    Runtime own(std::move(reactor));
    ASSERT_TRUE(own.start().ok());
    begun = virtual_clock.now();
    spawn([&] {  // would need five seconds
        try {
            sleep_for(24h);
        } catch (...) {
            sleep_for(5s);
            has_cleaned = true;
            throw;
        }
    })
        .named("patient");
    spawn([] {
        try {
            sleep_for(24h);
        } catch (...) {
            throw std::runtime_error("second");
        }
    });
    suspend();
    spawn([] { throw std::runtime_error("first"); });
    EXPECT_THROW(sleep_for(1h), Cancellation);
    const Ref<Error> outcome = own.finish();
    ASSERT_NE(outcome, nullptr);
    EXPECT_TRUE(contains(outcome->message(), "first"));
    EXPECT_FALSE(has_cleaned);
    EXPECT_EQ(virtual_clock.now(), begun);
    ASSERT_EQ(sink.unhandled.size(), 2U);
    EXPECT_TRUE(contains(sink.unhandled[1], "second"));
    ASSERT_EQ(sink.survivors.size(), 1U);
    EXPECT_TRUE(contains(sink.survivors[0], "'patient'"));
}

RUNTIME_TEST(Shutdown, MicrotasksAreDropped) {
    int destroyed = 0;
    bool has_run = false;
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    ManualEvent event;
    own.shutdown();
    while (own.state() != Runtime::State::Final) {
        EXPECT_THROW(await(event), Cancellation);
    }
    auto task = make_microtask(
        [&] {
            has_run = true;
            return Status();
        },
        &destroyed
    );
    own.scheduler().add_microtask(*task);
    task.reset();
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_FALSE(has_run);
    EXPECT_EQ(destroyed, 1);
}

// --- step 5: the reactor stops

RUNTIME_TEST(Shutdown, ReactorIsClosedAndSaysWhatWasOpen) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    auto timer = TimerEvent::create(own.reactor(), 1h);
    timer->set_hidden(true);  // keeps nobody waiting
    ASSERT_TRUE(timer->start().ok());
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(own.state(), Runtime::State::Stopped);
    EXPECT_EQ(own.left_open(), std::vector<std::string>{"Timer(timeout=3600000ms, once)"});
    EXPECT_TRUE(timer->is_closed());
}

RUNTIME_TEST(Shutdown, NothingIsOpenAfterAnOrderlyEnd) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    spawn([] { sleep_for(1ms); });
    own.shutdown();  // arms the grace
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_TRUE(own.left_open().empty());
    EXPECT_EQ(own.stacks().stats().live, 0U);
    EXPECT_EQ(Runtime::current(), nullptr);
}

RUNTIME_TEST(Shutdown, PeriodicTimerDoesNotOutliveTheGrace) {
    RuntimeSettings settings;
    settings.shutdown_grace = Deadline::after(1s);
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>(), settings);
    ASSERT_TRUE(own.start().ok());
    int fired = 0;
    const auto timer = call_after(
        100ms, [&] { ++fired; }, 100ms
    );
    own.shutdown();
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(fired, 10);
    EXPECT_EQ(own.left_open().size(), 1U);
}

}  // namespace
}  // namespace trueasync::testing
