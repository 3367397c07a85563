#include <trueasync/runtime/scheduler.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- switches are direct

CORO_TEST(Scheduler, YieldsBetweenTwoAreOneSwitchEach) {
    constexpr std::uint64_t kYields = 1000;
    bool is_done = false;
    auto other = spawn([&] {
        while (!is_done) {
            suspend();
        }
    });
    suspend();  // the other one has started
    const SchedulerStats before = scheduler().stats();
    for (std::uint64_t i = 0; i < kYields; ++i) {
        suspend();
    }
    const SchedulerStats after = scheduler().stats();
    is_done = true;
    EXPECT_EQ(after.switches - before.switches, 2 * kYields);  // there and back
    EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
    EXPECT_EQ(after.blocks, before.blocks);
    await(other);
}

RUNTIME_TEST(Scheduler, SwitchesAreCountedAlikeOnTheSlowPath) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 1;  // every turn looks at the reactor
    in_runtime(
        [] {
            bool is_done = false;
            auto other = spawn([&] {
                while (!is_done) {
                    suspend();
                }
            });
            suspend();
            const SchedulerStats before = scheduler().stats();
            for (int i = 0; i < 100; ++i) {
                suspend();
            }
            const SchedulerStats after = scheduler().stats();
            is_done = true;
            EXPECT_EQ(after.switches - before.switches, 200U);
            EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
            EXPECT_GE(after.ticks - before.ticks, 100U);
            await(other);
        },
        settings
    );
}

CORO_TEST(Scheduler, YieldsWithHandlersAreOneSwitchEach) {
    bool is_done = false;
    auto other = spawn([&] {
        while (!is_done) {
            suspend();
        }
    });
    other.coroutine().add_switch_handler({[](Coroutine&, SwitchKind, void*) { return true; }, nullptr});
    suspend();
    const SchedulerStats before = scheduler().stats();
    for (int i = 0; i < 100; ++i) {
        suspend();
    }
    const SchedulerStats after = scheduler().stats();
    is_done = true;
    EXPECT_EQ(after.switches - before.switches, 200U);
    EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
    await(other);
}

CORO_TEST(Scheduler, SuspendRunsTheTickOnTheCallersStack) {
    const char here = 0;
    const char* task_address = nullptr;
    add_microtask([&] {
        const char there = 0;
        task_address = &there;
    });
    const SchedulerStats before = scheduler().stats();
    suspend();
    ASSERT_NE(task_address, nullptr);
#if !defined(TA_ASAN)  // locals may lie on the fake stack there
    EXPECT_LT(std::abs(&here - task_address), 64 * 1024);
#else
    static_cast<void>(here);
#endif
    EXPECT_EQ(scheduler().stats().switches, before.switches);
}

CORO_TEST(Scheduler, SuspendWithNobodyElseReturnsAtOnce) {
    const SchedulerStats before = scheduler().stats();
    for (int i = 0; i < 100; ++i) {
        suspend();
    }
    const SchedulerStats after = scheduler().stats();
    EXPECT_EQ(after.switches, before.switches);
    EXPECT_EQ(after.blocks, before.blocks);
}

CORO_TEST(Scheduler, OwnCoroutineRunsOnlyWhenTheReactorMustBlock) {
    auto ready = spawn([] {
        for (int i = 0; i < 10; ++i) {
            suspend();
        }
    });
    auto sleeper = spawn([] { sleep_for(5ms); });
    await(ready);
    EXPECT_EQ(scheduler().stats().scheduler_switches, 0U);  // up to here somebody was always ready
    EXPECT_EQ(scheduler().stats().blocks, 0U);
    await(sleeper);
    EXPECT_EQ(scheduler().stats().scheduler_switches, 1U);
    EXPECT_EQ(scheduler().stats().blocks, 1U);
}

CORO_TEST(Scheduler, AwaitOfARunnableOneIsDirect) {
    const SchedulerStats before = scheduler().stats();
    auto child = spawn([] { return 42; });
    EXPECT_EQ(await(child), 42);
    const SchedulerStats after = scheduler().stats();
    EXPECT_EQ(after.switches - before.switches, 2U);  // into the child, back into main
    EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
    EXPECT_EQ(after.spawned - before.spawned, 1U);
    EXPECT_EQ(after.finished - before.finished, 1U);
}

// --- contexts are handed over

CORO_TEST(Scheduler, FinishedContextIsHandedToAnUnstartedCoroutine) {
    const std::size_t base = live_stacks();
    std::size_t most = 0;
    const SchedulerStats before = scheduler().stats();
    std::vector<Handle<void>> handles;
    for (int i = 0; i < 10; ++i) {
        handles.push_back(spawn([&] { most = std::max(most, live_stacks()); }));
    }
    await(handles.back());
    const SchedulerStats after = scheduler().stats();
    EXPECT_EQ(after.handovers - before.handovers, 9U);
    EXPECT_EQ(after.switches - before.switches, 2U);  // to the first, from the last
    EXPECT_EQ(after.scheduler_switches, before.scheduler_switches);
    EXPECT_EQ(most, base + 1);
    EXPECT_EQ(live_stacks(), base);
}

CORO_TEST(Scheduler, HandoverGivesTheSameStack) {
    std::vector<const std::byte*> tops;
    const auto body = [&] { tops.push_back(current().context().stack_top()); };
    auto first = spawn(body);
    auto second = spawn(body);
    await(second);
    ASSERT_EQ(tops.size(), 2U);
    EXPECT_EQ(tops[0], tops[1]);
    EXPECT_TRUE(first.is_finished());
}

CORO_TEST(Scheduler, HandoverStopsAtAStartedCoroutine) {
    std::string trace;
    auto started = spawn([&] {
        trace += "s1 ";
        suspend();
        trace += "s2 ";
    });
    suspend();
    auto unstarted = spawn([&] { trace += "u "; });
    const SchedulerStats before = scheduler().stats();
    await(unstarted);
    EXPECT_EQ(trace, "s1 s2 u ");
    EXPECT_EQ(scheduler().stats().handovers - before.handovers, 1U);  // s2 ended and u took its context
    await(started);
}

CORO_TEST(Scheduler, ManyGenerationsNeedOneStack) {
    const std::size_t base = live_stacks();
    int left = 200;
    ManualEvent done;
    std::function<void()> body = [&] {
        EXPECT_EQ(live_stacks(), base + 1);
        if (--left > 0) {
            spawn(body);
        } else {
            done.notify();
        }
    };
    spawn(body);
    await(done);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(scheduler().stats().handovers, 199U);
    EXPECT_EQ(live_stacks(), base);
}

// --- fast returns

CORO_TEST(Scheduler, AwaitOfSomethingCompleteNeverSuspends) {
    auto child = spawn([] { return 7; });
    EXPECT_EQ(await(child), 7);
    bool has_run = false;
    auto other = spawn([&] { has_run = true; });
    const SchedulerStats before = scheduler().stats();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(await(child), 7);
        EXPECT_EQ(wait_for(child.coroutine()), WaitResult::Ready);
    }
    const SchedulerStats after = scheduler().stats();
    EXPECT_EQ(after.switches, before.switches);
    EXPECT_EQ(after.fast_returns - before.fast_returns, 10U);  // the typed await does not even begin a wait
    EXPECT_FALSE(has_run);
    await(other);
}

// --- order

CORO_TEST(Scheduler, OrderIsFirstInFirstOut) {
    std::string trace;
    auto a = spawn([&] {
        trace += "A1 ";
        suspend();
        trace += "A2 ";
        suspend();
        trace += "A3";
    });
    auto b = spawn([&] {
        trace += "B1 ";
        suspend();
        trace += "B2 ";
    });
    auto c = spawn([&] { trace += "C "; });
    await(a);
    EXPECT_EQ(trace, "A1 B1 C A2 B2 A3");
    await(b);
    await(c);
}

CORO_TEST(Scheduler, SpawnAppendsAtTheTailAndDoesNotSwitch) {
    std::string trace;
    auto first = spawn([&] {
        trace += "first ";
        spawn([&] { trace += "child "; });
        trace += "goes-on ";
    });
    auto second = spawn([&] { trace += "second "; });
    trace += "main ";
    settle();
    EXPECT_EQ(trace, "main first goes-on second child ");
    EXPECT_TRUE(first.is_finished() && second.is_finished());
}

CORO_TEST(Scheduler, WokenOnesAreAppendedInTheOrderOfSubscription) {
    ManualEvent event;
    std::string trace;
    std::vector<Handle<void>> handles;
    for (const char* name : {"a", "b", "c"}) {
        handles.push_back(spawn([&, name] {
            await(event);
            trace += name;
        }));
    }
    suspend();
    auto last = spawn([&] { trace += "x"; });
    event.notify();
    settle();
    EXPECT_EQ(trace, "xabc");
}

CORO_TEST(Scheduler, HighPriorityGoesToTheHead) {
    std::string trace;
    auto a = spawn([&] { trace += "a"; });
    auto b = spawn([&] { trace += "b"; });
    auto h1 = spawn_high([&] { trace += "1"; });
    auto h2 = spawn_high([&] { trace += "2"; });
    EXPECT_EQ(h1->priority(), Priority::High);
    EXPECT_EQ(a.coroutine().priority(), Priority::Normal);
    settle();
    EXPECT_EQ(trace, "21ab");
    await(a);
    await(b);
}

CORO_TEST(Scheduler, HighPriorityAppliesToEachWakeUp) {
    ManualEvent event;
    std::string trace;
    auto high = spawn_high([&] {
        await(event);
        trace += "h";
    });
    suspend();
    auto a = spawn([&] { trace += "a"; });
    event.notify();
    await(a);
    EXPECT_EQ(trace, "ha");
    EXPECT_TRUE(high->is_finished());
}

CORO_TEST(Scheduler, HighPriorityThatYieldsLetsTheOthersRun) {
    std::string trace;
    spawn_high([&] {
        trace += "h1 ";
        suspend();
        trace += "h2";
    });
    auto a = spawn([&] { trace += "a "; });
    settle();
    EXPECT_EQ(trace, "h1 a h2");
    await(a);
}

// --- reactor fairness

RUNTIME_TEST(Scheduler, BusyQueueDoesNotStarveTheReactor) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 16;
    in_runtime(
        [] {
            bool is_fired = false;
            const auto spin = [&] {
                while (!is_fired) {
                    suspend();
                }
            };
            auto a = spawn(spin);
            auto b = spawn(spin);
            suspend();
            const auto timer = call_after(10ms, [&] { is_fired = true; });
            clock().advance(10ms);  // due from now on
            const std::uint64_t before = scheduler().stats().switches;
            for (int i = 0; i < 1000 && !is_fired; ++i) {
                suspend();
            }
            EXPECT_TRUE(is_fired);
            EXPECT_LE(scheduler().stats().switches - before, 2U * 16U + 3U);
            EXPECT_EQ(scheduler().stats().blocks, 0U);
            is_fired = true;
            await(a);
            await(b);
        },
        settings
    );
}

RUNTIME_TEST(Scheduler, DefaultSettingsTickWithinTheirTurns) {
    in_runtime([] {
        bool is_fired = false;
        auto other = spawn([&] {
            while (!is_fired) {
                suspend();
            }
        });
        suspend();
        const auto timer = call_after(1ms, [&] { is_fired = true; });
        clock().advance(1ms);
        const std::uint64_t before = scheduler().stats().switches;
        const std::uint64_t turns = scheduler().settings().turns_per_tick;
        for (std::uint64_t i = 0; i < 4 * turns && !is_fired; ++i) {
            suspend();
        }
        EXPECT_TRUE(is_fired);
        EXPECT_LE(scheduler().stats().switches - before, 2 * turns);
        is_fired = true;
        await(other);
    });
}

/// A clock that tests move, and that the scheduler looks at as at a real one.
class ClockReactor final : public VirtualReactor {
public:
    bool has_real_clock() const noexcept override { return true; }
};

/// Turns of five milliseconds each until a timer of twelve is seen; `before` comes first.
int long_turns_until_a_timer(const std::function<void()>& before) {
    RunOptions options;
    options.reactor = std::make_unique<ClockReactor>();
    return run(
        [&] {
            auto& clock = static_cast<ClockReactor&>(Scheduler::current()->reactor());
            before();
            bool is_fired = false;
            const auto timer = call_after(12ms, [&] { is_fired = true; });
            int turns = 0;
            for (; turns < 1000 && !is_fired; ++turns) {
                clock.advance(5ms);
                suspend();
            }
            return turns;
        },
        std::move(options)
    );
}

TEST(SchedulerClock, LongTurnsDoNotKeepTheReactorWaiting) {
    EXPECT_LE(long_turns_until_a_timer([] {}), 4);
    EXPECT_LE(long_turns_until_a_timer([] { sleep_for(1ms); }), 6) << "after a sleep";
}

TEST(SchedulerClock, LongTurnsAfterShortOnesAreSeenSoon) {
    const int most = static_cast<int>(SchedulerSettings().turns_per_tick);
    EXPECT_LE(long_turns_until_a_timer([] { settle(10'000); }), most + 4);
}

RUNTIME_TEST(Scheduler, LoneCoroutineDoesNotStarveTheReactor) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 16;
    in_runtime(
        [] {
            bool is_fired = false;
            const auto timer = call_after(10ms, [&] { is_fired = true; });
            clock().advance(10ms);
            int yields = 0;
            while (!is_fired && yields < 1000) {
                suspend();
                ++yields;
            }
            EXPECT_TRUE(is_fired) << "a loop of suspend() with nobody else ready never looked at the reactor";
            EXPECT_LE(yields, 33);
            EXPECT_TRUE(timer->stop().ok() || timer->is_closed());
        },
        settings
    );
}

RUNTIME_TEST(Scheduler, HandoversDoNotStarveTheReactor) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 16;
    in_runtime(
        [] {
            bool is_fired = false;
            int generations = 0;
            std::function<void()> body = [&] {
                if (!is_fired && ++generations < 1000) {
                    spawn(body);
                }
            };
            const auto timer = call_after(1ms, [&] { is_fired = true; });
            clock().advance(1ms);
            spawn(body);
            ManualEvent never;
            EXPECT_EQ(wait_for(never, Deadline::after(1ms)), WaitResult::TimedOut);
            EXPECT_TRUE(is_fired);
            EXPECT_LE(generations, 33);
        },
        settings
    );
}

/// Due again at once, whenever it fires.
class Insistent final : public TimerNode {
public:
    explicit Insistent(Reactor& reactor) : reactor_(reactor) {
        EXPECT_TRUE(reactor_.arm(*this, reactor_.now()).ok());
        ++reactor_.active().visible;
    }
    ~Insistent() {
        reactor_.disarm(*this);
        --reactor_.active().visible;
    }
    void on_deadline() noexcept override {
        ++fired;
        EXPECT_TRUE(reactor_.arm(*this, reactor_.now()).ok());
    }
    int fired = 0;

private:
    Reactor& reactor_;
};

RUNTIME_TEST(Scheduler, BusyReactorDoesNotStarveTheQueue) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 1;
    in_runtime(
        [] {
            Insistent insistent(clock());
            int turns = 0;
            const auto work = [&] {
                for (int i = 0; i < 20; ++i) {
                    ++turns;
                    suspend();
                }
            };
            auto a = spawn(work);
            auto b = spawn(work);
            await(a);
            await(b);
            EXPECT_EQ(turns, 40);
            EXPECT_GE(insistent.fired, 20);
            EXPECT_LE(insistent.fired, 100);  // once for each look, not once for ever
        },
        settings
    );
}

CORO_TEST(Scheduler, PeriodicTimerThatIsAlwaysDueLetsCoroutinesRun) {
    int fired = 0;
    const auto timer = call_after(
        1ns,
        [&] {
            ++fired;
            clock().advance(10ns);  // the next period has passed before this one is dealt with
        },
        1ns
    );
    auto child = spawn([&] {
        sleep_for(1us);
        return fired;
    });
    EXPECT_GT(await(child), 0);
    EXPECT_TRUE(timer->stop().ok());
}

// --- the table of the living

CORO_TEST(Scheduler, AliveListsMainFirstThenInOrderOfSpawn) {
    ManualEvent event;
    auto a = spawn([&] { await(event); });
    auto b = spawn([&] { await(event); });
    std::vector<const Coroutine*> seen;
    for (const Coroutine& coroutine : scheduler().alive()) {
        seen.push_back(&coroutine);
    }
    EXPECT_EQ(seen, (std::vector<const Coroutine*>{&scheduler().main(), &a.coroutine(), &b.coroutine()}));
    EXPECT_EQ(scheduler().alive_count(), 3U);
    EXPECT_LT(a.id(), b.id());
    suspend();
    event.notify();
    await(a);
    await(b);
    EXPECT_EQ(scheduler().alive_count(), 1U);
}

CORO_TEST(Scheduler, AliveKeepsTheOrderOfSpawnWhateverTheOrderOfStopping) {
    ManualEvent event;
    auto a = spawn([&] { await(event); });
    auto b = spawn([&] { await(event); });
    auto c = spawn([&] { await(event); });
    c.coroutine().set_priority(Priority::High);
    suspend();            // all have stopped now, each listed by its own first stop
    auto d = spawn([&] {  // unstarted, then running
        EXPECT_EQ(scheduler().alive_count(), 5U);
        std::vector<std::uint64_t> ids;
        for (const Coroutine& coroutine : scheduler().alive()) {
            ids.push_back(coroutine.id());
        }
        EXPECT_EQ(ids, (std::vector{scheduler().main().id(), a.id(), b.id(), c.id(), current().id()}));
    });
    EXPECT_EQ(scheduler().alive_count(), 5U);
    await(d);
    EXPECT_EQ(scheduler().alive_count(), 4U);
    event.notify();
    await(a);
    await(b);
    await(c);
}

CORO_TEST(Scheduler, AliveCanBeAskedForByTheCallbacksOfOneThatEnds) {
    auto child = spawn([] {});
    subscribe(child.coroutine(), [] {
        for (const Coroutine& coroutine : scheduler().alive()) {
            EXPECT_FALSE(coroutine.is_finished());
        }
        EXPECT_EQ(scheduler().alive_count(), 1U) << "it has ended and is in no list";
    });
    await(child);
    EXPECT_EQ(scheduler().alive_count(), 1U);
}

CORO_TEST(Scheduler, CurrentIsTheRunningCoroutine) {
    Coroutine* main = Scheduler::current_coroutine();
    EXPECT_EQ(main, &scheduler().main());
    Coroutine* inside = nullptr;
    auto child = spawn([&] {
        inside = Scheduler::current_coroutine();
        EXPECT_TRUE(inside->is_running());
        EXPECT_FALSE(scheduler().main().is_running());
    });
    await(child);
    EXPECT_EQ(inside, &child.coroutine());
    EXPECT_EQ(Scheduler::current_coroutine(), main);
    EXPECT_NE(&scheduler().own_coroutine(), main);
    EXPECT_EQ(scheduler().own_coroutine().info(), "Scheduler");
}

TEST(SchedulerWithoutRuntime, NothingIsCurrent) {
    EXPECT_EQ(Scheduler::current(), nullptr);
    EXPECT_EQ(Scheduler::current_coroutine(), nullptr);
}

CORO_TEST(Scheduler, WakeOfOneThatDoesNotWaitDoesNothing) {
    ManualEvent event;
    int runs = 0;
    auto child = spawn([&] {
        await(event);
        ++runs;
    });
    Scheduler::wake(child.coroutine());  // ready already
    suspend();
    event.notify();
    event.notify();
    Scheduler::wake(child.coroutine());  // queued already
    EXPECT_EQ(detail::hot.queue.size(), 1U);
    await(child);
    Scheduler::wake(child.coroutine());   // finished
    Scheduler::wake(scheduler().main());  // running
    EXPECT_TRUE(detail::hot.queue.empty());
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace trueasync::testing
