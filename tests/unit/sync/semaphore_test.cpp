#include <trueasync/sync/semaphore.hpp>

#include <algorithm>
#include <support/allocation_counter.hpp>
#include <support/runtime_fakes.hpp>
#include <support/seeds.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

/// Takes permits, notes its name and keeps them.
Handle<void> spawn_taker(
    Semaphore& semaphore, Log& log, const char* name, std::size_t count = 1, const Limit& limit = {}
) {
    return spawn([&semaphore, &log, name, count, limit] {
        semaphore.acquire(count, limit);
        log.emplace_back(name);
    });
}

// --- without waiting

CORO_TEST(Semaphore, FreePermitsNeedNoSwitchAndNoMemory) {
    Semaphore semaphore(3);
    spawn([] {});  // somebody is ready
    const SchedulerStats before = scheduler().stats();
    const AllocationCounter counter;
    semaphore.acquire();
    semaphore.acquire(2, 1h);
    EXPECT_EQ(semaphore.available(), 0U);
    semaphore.release(3);
    { const auto permit = semaphore.permit(); }
    EXPECT_EQ(semaphore.available(), 3U);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    if (AllocationCounter::works()) {
        EXPECT_EQ(counter.count(), 0U);
    }
}

CORO_TEST(Semaphore, TryAcquireTakesOnlyWhatIsFree) {
    Semaphore semaphore(3);
    EXPECT_TRUE(semaphore.try_acquire(2));
    EXPECT_FALSE(semaphore.try_acquire(2));
    EXPECT_TRUE(semaphore.try_acquire());
    EXPECT_FALSE(semaphore.try_acquire());
    semaphore.release(3);
}

TEST(SemaphoreOutside, WorksWhereNobodyHasToWait) {
    Semaphore semaphore(1);
    semaphore.acquire();
    EXPECT_EQ(code_of([&] { semaphore.acquire(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(semaphore.event().info(), "Semaphore(permits=1, available=0, waiting=0)");
    semaphore.release();
    EXPECT_TRUE(semaphore.try_acquire());
}

CORO_TEST(Semaphore, CallbacksMayRelease) {
    Semaphore semaphore(1);
    semaphore.acquire();
    ErrorCode code = ErrorCode::System;
    auto timer = call_after(10ms, [&] {
        code = code_of([&] { semaphore.acquire(); });
        semaphore.release();
    });
    semaphore.acquire();
    EXPECT_EQ(code, ErrorCode::SuspendRefused);
}

// --- in line

CORO_TEST(Semaphore, PermitsGoOutInTheOrderOfArrival) {
    Semaphore semaphore(2);
    Log log;
    semaphore.acquire(2);
    auto a = spawn_taker(semaphore, log, "A");
    auto b = spawn_taker(semaphore, log, "B", 1, 1h);
    auto c = spawn_taker(semaphore, log, "C");
    settle(2);
    semaphore.release();
    settle(3);
    EXPECT_EQ(log, Log{"A"});
    semaphore.release();
    semaphore.release();
    await(c);
    EXPECT_EQ(log, (Log{"A", "B", "C"}));
    expect_clean(current());
}

CORO_TEST(Semaphore, NobodyGoesPastTheFirst) {
    Semaphore semaphore(3);
    Log log;
    semaphore.acquire(3);
    auto big = spawn_taker(semaphore, log, "big", 3);
    auto small = spawn_taker(semaphore, log, "small");
    settle(2);
    semaphore.release(2);
    EXPECT_FALSE(semaphore.try_acquire()) << "two are free, but somebody waits";
    auto late = spawn_taker(semaphore, log, "late");
    settle(3);
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(semaphore.event().info(), "Semaphore(permits=3, available=2, waiting=3)");
    semaphore.release();
    await(big);
    EXPECT_EQ(log, Log{"big"});
    semaphore.release(2);
    settle(3);
    EXPECT_EQ(log, (Log{"big", "small", "late"}));
}

CORO_TEST(Semaphore, WhoIsWokenHasItsPermits) {
    Semaphore semaphore(2);
    Log log;
    semaphore.acquire(2);
    auto waiter = spawn_taker(semaphore, log, "A", 2);
    suspend();
    semaphore.release(2);
    EXPECT_EQ(semaphore.available(), 0U);
    EXPECT_FALSE(semaphore.try_acquire());
    await(waiter);
}

CORO_TEST(Semaphore, OneReleaseMayServeSeveral) {
    Semaphore semaphore(4);
    Log log;
    semaphore.acquire(4);
    auto a = spawn_taker(semaphore, log, "A", 2);
    auto b = spawn_taker(semaphore, log, "B");
    auto c = spawn_taker(semaphore, log, "C", 2);
    settle(2);
    semaphore.release(4);
    settle(3);
    EXPECT_EQ(log, (Log{"A", "B"}));
    EXPECT_EQ(semaphore.available(), 1U);
    semaphore.release();
    await(c);
}

CORO_TEST(Semaphore, LimitsHowManyAreInside) {
    Semaphore semaphore(3);
    int inside = 0;
    int most = 0;
    std::vector<Handle<void>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(spawn([&] {
            const auto permit = semaphore.permit();
            most = std::max(most, ++inside);
            sleep_for(1ms);
            --inside;
        }));
    }
    for (const auto& one : all) {
        await(one);
    }
    EXPECT_EQ(most, 3);
    EXPECT_EQ(semaphore.available(), 3U);
}

// --- cancellation and deadlines

CORO_TEST(Semaphore, CancelledFirstLetsThoseBehindGo) {
    Semaphore semaphore(3);
    Log log;
    semaphore.acquire(2);
    auto big = spawn_taker(semaphore, log, "big", 3);
    auto small = spawn_taker(semaphore, log, "small");
    settle(2);
    EXPECT_TRUE(log.empty());
    big.cancel();
    EXPECT_THROW(await(big), Cancellation);
    await(small);
    EXPECT_EQ(log, Log{"small"});
}

CORO_TEST(Semaphore, CancelledBetweenWakeAndRunHandsItsPermitsOn) {
    Semaphore semaphore(3);
    Log log;
    semaphore.acquire(3);
    auto first = spawn_taker(semaphore, log, "first", 3);
    auto second = spawn_taker(semaphore, log, "second", 2);
    auto third = spawn_taker(semaphore, log, "third", 1, 1h);
    settle(2);
    semaphore.release(3);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    await(second);
    await(third);
    EXPECT_EQ(log, (Log{"second", "third"}));
    EXPECT_EQ(semaphore.available(), 0U);
}

CORO_TEST(Semaphore, LastOneCancelledBetweenWakeAndRunGivesThemBack) {
    Semaphore semaphore(2);
    Log log;
    semaphore.acquire(2);
    auto waiter = spawn_taker(semaphore, log, "A", 2);
    suspend();
    semaphore.release(2);
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_EQ(semaphore.available(), 2U);
}

CORO_TEST(Semaphore, DeadlineEndsTheWaitAndLetsThoseBehindGo) {
    Semaphore semaphore(2);
    Log log;
    semaphore.acquire();
    auto behind = spawn([&] {
        suspend();
        semaphore.acquire();
        log.emplace_back("behind");
    });
    const Instant begin = clock().now();
    EXPECT_THROW(semaphore.acquire(2, 10ms), TimeoutError);
    EXPECT_EQ(clock().now() - begin, 10ms);
    await(behind);
    EXPECT_EQ(semaphore.available(), 0U);
    expect_clean(current());
}

CORO_TEST(Semaphore, WhoWasWokenInTimeHasThemThoughItRunsLate) {
    Semaphore semaphore(1);
    Log log;
    semaphore.acquire();
    auto waiter = spawn_taker(semaphore, log, "A", 1, 10ms);
    suspend();
    semaphore.release();
    clock().advance(1s);
    await(waiter);
    EXPECT_EQ(log, Log{"A"});
}

CORO_TEST(Semaphore, TokenThatFiresAfterTheWakeHandsThemOn) {
    Semaphore semaphore(1);
    Log log;
    ManualEvent token;
    semaphore.acquire();
    auto first = spawn_taker(semaphore, log, "A", 1, Limit(token));
    auto second = spawn_taker(semaphore, log, "B");
    settle(2);
    semaphore.release();
    token.notify();
    EXPECT_THROW(await(first), Cancellation);
    await(second);
    EXPECT_EQ(log, Log{"B"});
}

// --- wrong use

TEST(SemaphoreMisuse, NeedsAPermit) {
    EXPECT_EQ(code_of([] { const Semaphore semaphore(0); }), ErrorCode::InvalidArgument);
}

CORO_TEST(Semaphore, RefusesNoneAndMoreThanThereAre) {
    Semaphore semaphore(2);
    EXPECT_EQ(code_of([&] { semaphore.acquire(0); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(
        what_of([&] { semaphore.acquire(3); }),
        "between 1 and 2 permits can be acquired, not 3: Semaphore(permits=2, available=2, waiting=0)"
    );
    EXPECT_FALSE(semaphore.try_acquire(0));
    EXPECT_FALSE(semaphore.try_acquire(3));
}

CORO_TEST(Semaphore, TakesBackNoMoreThanAreOut) {
    Semaphore semaphore(2);
    semaphore.acquire();
    EXPECT_EQ(
        what_of([&] { semaphore.release(2); }),
        "more permits were given back than are out: 2 to Semaphore(permits=2, available=1, waiting=0)"
    );
    EXPECT_EQ(code_of([&] { semaphore.release(SIZE_MAX); }), ErrorCode::IllegalState);
    EXPECT_EQ(semaphore.available(), 1U);
    semaphore.release();
}

// --- closing

CORO_TEST(Semaphore, ClosingItFailsThoseWhoWait) {
    Semaphore semaphore(1);
    semaphore.acquire();
    auto waiter = spawn([&] { semaphore.acquire(); });
    suspend();
    semaphore.close();
    EXPECT_EQ(what_of([&] { await(waiter); }), "Semaphore is closed");
    semaphore.release();
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_EQ(code_of([&] { semaphore.acquire(); }), ErrorCode::EventClosed);
    EXPECT_EQ(semaphore.event().info(), "Semaphore(permits=1, available=1, waiting=0, closed)");
}

CORO_TEST(Semaphore, ItsEndFailsThoseWhoWait) {
    Handle<void> waiter;
    {
        Semaphore semaphore(1);
        semaphore.acquire();
        waiter = spawn([&semaphore] { semaphore.acquire(); });
        suspend();
    }
    EXPECT_EQ(code_of([&] { await(waiter); }), ErrorCode::EventClosed);
}

// --- what others see

CORO_TEST(Semaphore, DumpNamesIt) {
    Semaphore semaphore(2);
    semaphore.acquire(2);
    std::source_location where;
    auto waiter = spawn([&] { where = std::source_location::current(), semaphore.acquire(); });
    settle(2);
    EXPECT_EQ(waiter.coroutine().awaiting(), Log{"Semaphore(permits=2, available=0, waiting=1)"});
    EXPECT_EQ(to_string(waiter.coroutine().suspended_at()), place_of(where));
    waiter.cancel();
    settle(2);
    expect_clean(waiter.coroutine());
}

RUNTIME_TEST(Semaphore, AbandonedWaitersLeaveNothing) {
    const LeaksExpected leaks;
    Semaphore semaphore(3);
    in_runtime([&] {
        semaphore.acquire(3);
        for (const std::size_t count : {std::size_t{2}, std::size_t{3}}) {
            spawn([&semaphore, count] {
                for (;;) {
                    try {
                        semaphore.acquire(count);
                    } catch (const Cancellation&) {}
                }
            });
        }
        settle(3);
        EXPECT_EQ(semaphore.event().waiting_count(), 2U);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 2U);
    EXPECT_EQ(semaphore.event().info(), "Semaphore(permits=3, available=0, waiting=0)");
}

// --- by chance

RUNTIME_TEST(SemaphoreChance, NoPermitIsLostOrDoubled) {
    for_seeds(1, 300, [this](std::mt19937& random) {
        in_runtime([&] {
            const auto chance = [&random](int below) {
                return static_cast<int>(random() % static_cast<unsigned>(below));
            };
            const int total = 1 + chance(5);
            Semaphore semaphore(static_cast<std::size_t>(total));
            ManualEvent token;
            int out = 0;
            int finished = 0;
            std::vector<Handle<void>> all;
            const auto trouble = [&] {
                if (chance(3) == 0) {
                    all[static_cast<std::size_t>(chance(static_cast<int>(all.size())))].cancel();
                }
                if (chance(8) == 0) {
                    token.notify();
                }
            };
            for (int i = 0; i < 8; ++i) {
                all.push_back(spawn([&] {
                    for (int k = 0; k < 10; ++k) {
                        try {
                            const int kind = chance(4);
                            const int count = 1 + chance(total);
                            auto permit = semaphore.permit(
                                static_cast<std::size_t>(count), kind == 0   ? Limit(chance(3) * 1ms)
                                                                 : kind == 1 ? Limit(token)
                                                                             : Limit()
                            );
                            out += count;
                            EXPECT_LE(out, total);
                            try {
                                chance(2) == 0 ? suspend() : sleep_for(chance(3) * 1ms);
                            } catch (const Cancellation&) {}
                            out -= count;
                            permit.release();
                            trouble();  // who was woken has not run yet
                        } catch (const Cancellation&) {
                        } catch (const TimeoutError&) {}
                    }
                    ++finished;
                }));
            }
            suspend();
            for (int turns = 0; finished != 8 && turns < 2000; ++turns) {
                sleep_for(1ms);
                trouble();
            }
            ASSERT_EQ(finished, 8) << "stuck: " << semaphore.event().info();
            EXPECT_EQ(semaphore.available(), static_cast<std::size_t>(total));
        });
    });
}

}  // namespace
}  // namespace trueasync::testing
