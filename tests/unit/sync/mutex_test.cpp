#include <trueasync/sync/mutex.hpp>

#include <support/allocation_counter.hpp>
#include <support/runtime_fakes.hpp>
#include <support/seeds.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

/// Locks, notes its name and unlocks.
Handle<void> spawn_visitor(Mutex& mutex, Log& log, const char* name, const Limit& limit = {}) {
    return spawn([&mutex, &log, name, limit] {
        const auto guard = mutex.guard(limit);
        log.emplace_back(name);
    });
}

// --- without waiting

CORO_TEST(Mutex, FreeOneNeedsNoSwitchAndNoMemory) {
    Mutex mutex;
    spawn([] {});  // somebody is ready
    const SchedulerStats before = scheduler().stats();
    const AllocationCounter counter;
    mutex.lock();
    EXPECT_TRUE(mutex.is_locked());
    mutex.unlock();
    EXPECT_FALSE(mutex.is_locked());
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
    { const auto guard = mutex.guard(1h); }
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    if (AllocationCounter::works()) {
        EXPECT_EQ(counter.count(), 0U);
    }
}

CORO_TEST(Mutex, HandOverAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Mutex mutex;
    bool is_over = false;
    auto other = spawn([&] {
        while (!is_over) {
            const auto guard = mutex.guard();
            suspend();
        }
    });
    settle(3);
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) {
        const auto guard = mutex.guard();
        suspend();
    }
    EXPECT_EQ(counter.count(), 0U);
    is_over = true;
    await(other);
}

CORO_TEST(Mutex, TryLockFailsWhileItIsLocked) {
    Mutex mutex;
    mutex.lock();
    EXPECT_FALSE(mutex.try_lock()) << "by its owner, too";
    auto other = spawn([&] { return mutex.try_lock(); });
    EXPECT_FALSE(await(other));
    mutex.unlock();
}

// --- in line

CORO_TEST(Mutex, IsGivenOnInTheOrderOfArrival) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto a = spawn_visitor(mutex, log, "A");
    auto b = spawn_visitor(mutex, log, "B", Limit(1h));
    auto c = spawn_visitor(mutex, log, "C");
    settle(2);
    EXPECT_EQ(mutex.event().waiting_count(), 3U);
    mutex.unlock();
    await(c);
    EXPECT_EQ(log, (Log{"A", "B", "C"}));
    EXPECT_FALSE(mutex.is_locked());
    expect_clean(current());
}

CORO_TEST(Mutex, WhoIsWokenOwnsIt) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto waiter = spawn_visitor(mutex, log, "waiter");
    suspend();
    mutex.unlock();
    EXPECT_EQ(mutex.event().owner(), waiter.id());
    EXPECT_FALSE(mutex.try_lock()) << "it has not run yet, and yet it is the owner";
    auto hasty = spawn_high([&] {
        const auto guard = mutex.guard();
        log.emplace_back("hasty");
    });
    suspend();
    const auto guard = mutex.guard();
    EXPECT_EQ(log, (Log{"waiter", "hasty"}));
}

CORO_TEST(Mutex, KeepsOthersOutWhileItsOwnerSuspends) {
    Mutex mutex;
    int inside = 0;
    std::vector<Handle<void>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(spawn([&] {
            const auto guard = mutex.guard();
            EXPECT_EQ(++inside, 1);
            sleep_for(1ms);
            --inside;
        }));
    }
    for (const auto& one : all) {
        await(one);
    }
}

// --- cancellation

CORO_TEST(Mutex, CancelledWaiterLeavesTheLine) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto a = spawn_visitor(mutex, log, "A");
    auto b = spawn_visitor(mutex, log, "B", Limit(1h));
    auto c = spawn_visitor(mutex, log, "C");
    settle(2);
    b.cancel();
    EXPECT_THROW(await(b), Cancellation);
    EXPECT_EQ(mutex.event().waiting_count(), 2U);
    mutex.unlock();
    await(c);
    EXPECT_EQ(log, (Log{"A", "C"}));
}

CORO_TEST(Mutex, CancelledBetweenWakeAndRunHandsItOn) {
    for (const Limit& limit : {Limit(), Limit(1h)}) {
        Mutex mutex;
        Log log;
        mutex.lock();
        auto a = spawn_visitor(mutex, log, "A", limit);
        auto b = spawn_visitor(mutex, log, "B", limit);
        auto c = spawn_visitor(mutex, log, "C", limit);
        settle(2);
        mutex.unlock();
        a.cancel();
        b.cancel();  // gets it from A before it runs
        EXPECT_THROW(await(a), Cancellation);
        EXPECT_THROW(await(b), Cancellation);
        await(c);
        EXPECT_EQ(log, Log{"C"});
        EXPECT_FALSE(mutex.is_locked());
    }
}

CORO_TEST(Mutex, LastOneCancelledBetweenWakeAndRunFreesIt) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto waiter = spawn_visitor(mutex, log, "A");
    suspend();
    mutex.unlock();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

CORO_TEST(Mutex, TokenThatFiresAfterTheWakeHandsItOn) {
    Mutex mutex;
    Log log;
    ManualEvent token;
    mutex.lock();
    auto first = spawn_visitor(mutex, log, "A", Limit(token));
    auto second = spawn_visitor(mutex, log, "B");
    settle(2);
    mutex.unlock();
    token.notify();
    EXPECT_THROW(await(first), Cancellation);
    await(second);
    EXPECT_EQ(log, Log{"B"});
    expect_clean(token);
}

CORO_TEST(Mutex, CancelledOwnerUnlocksByItsGuard) {
    Mutex mutex;
    auto owner = spawn([&] {
        const auto guard = mutex.guard();
        sleep_for(1h);
    });
    suspend();
    EXPECT_TRUE(mutex.is_locked());
    owner.cancel();
    const auto guard = mutex.guard();
    EXPECT_TRUE(owner.is_cancelled());
}

CORO_TEST(Mutex, LockingAFreeOneIsNoSuspensionPoint) {
    Mutex mutex;
    auto worker = spawn([&] {
        Scheduler::current()->cancel(current(), nullptr);
        const auto guard = mutex.guard();
        EXPECT_TRUE(mutex.is_locked());
        suspend();
        ADD_FAILURE() << "not cancelled";
    });
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_FALSE(mutex.is_locked());
}

CORO_TEST(Mutex, ProtectedWaiterWaitsOn) {
    Mutex mutex;
    mutex.lock();
    bool was_inside = false;
    auto waiter = spawn([&] {
        protect([&] {
            const auto guard = mutex.guard();
            was_inside = true;
        });
    });
    suspend();
    waiter.cancel();
    settle(2);
    mutex.unlock();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_TRUE(was_inside);
}

// --- deadlines

CORO_TEST(Mutex, DeadlineEndsTheWait) {
    Mutex mutex;
    mutex.lock();
    auto waiter = spawn([&] {
        const Instant begin = clock().now();
        EXPECT_THROW(mutex.lock(10ms), TimeoutError);
        EXPECT_EQ(clock().now() - begin, 10ms);
        expect_clean(current());
    });
    await(waiter);
    EXPECT_EQ(mutex.event().waiting_count(), 0U);
    EXPECT_EQ(mutex.event().owner(), current().id());
}

CORO_TEST(Mutex, DeadlineThatHasPassedDoesNotKeepFromLockingAFreeOne) {
    Mutex mutex;
    mutex.lock(0ms);
    EXPECT_TRUE(mutex.is_locked());
}

CORO_TEST(Mutex, WhoWasWokenInTimeHasItThoughItRunsLate) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto waiter = spawn_visitor(mutex, log, "A", Limit(10ms));
    suspend();
    mutex.unlock();
    clock().advance(1s);
    await(waiter);
    EXPECT_EQ(log, Log{"A"});
}

CORO_TEST(Mutex, TokenThatHasFiredEndsEveryCall) {
    Mutex mutex;
    auto token = spawn([] {});
    await(token);
    EXPECT_THROW(mutex.lock(token), Cancellation);
    EXPECT_FALSE(mutex.is_locked());
}

// --- wrong use

CORO_TEST(Mutex, OwnerCannotLockItAgain) {
    Mutex mutex;
    const auto where = std::source_location::current();
    mutex.lock();
    const std::string text = what_of([&] { mutex.lock(); });
    EXPECT_TRUE(contains(text, "this coroutine has locked the mutex already")) << text;
    EXPECT_TRUE(contains(text, "locked at " + to_string(Place(where.file_name(), where.line() + 1)))) << text;
    EXPECT_EQ(code_of([&] { mutex.lock(1ms); }), ErrorCode::IllegalState);
    mutex.unlock();
    EXPECT_FALSE(mutex.is_locked());
}

CORO_TEST(Mutex, OnlyTheOwnerUnlocks) {
    Mutex mutex;
    EXPECT_EQ(what_of([&] { mutex.unlock(); }), "the mutex is not locked");
    mutex.lock();
    auto other = spawn([&] { mutex.unlock(); });
    const std::string text = what_of([&] { await(other); });
    EXPECT_TRUE(contains(text, "only its owner unlocks a mutex, not by coroutine " + std::to_string(other.id())));
    EXPECT_TRUE(contains(text, "owner=" + std::to_string(current().id()))) << text;
    EXPECT_TRUE(mutex.is_locked());
    mutex.unlock();
}

CORO_TEST(Mutex, OwnerThatEndedIsNotMistakenForANewCoroutine) {
    Mutex mutex;
    auto owner = spawn([&] { mutex.lock(); });
    await(owner);
    owner = {};
    auto next = spawn([&] { EXPECT_EQ(code_of([&] { mutex.unlock(); }), ErrorCode::IllegalState); });
    await(next);
    EXPECT_THROW(mutex.lock(1ms), TimeoutError);
}

CORO_TEST(Mutex, CallbacksCannotLock) {
    Mutex mutex;
    ErrorCode code = ErrorCode::System;
    auto timer = call_after(10ms, [&] {
        EXPECT_FALSE(mutex.try_lock());
        code = code_of([&] { mutex.lock(); });
    });
    sleep_for(20ms);
    EXPECT_EQ(code, ErrorCode::SuspendRefused);
    mutex.lock();
    add_microtask([&] { code = code_of([&] { mutex.unlock(); }); });
    suspend();
    EXPECT_EQ(code, ErrorCode::IllegalState) << "it runs on the owner's stack, but is not the owner";
    mutex.unlock();
}

TEST(MutexOutside, NeedsACoroutine) {
    Mutex mutex;
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_EQ(code_of([&] { mutex.lock(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([&] { mutex.unlock(); }), ErrorCode::IllegalState);
}

// --- closing

CORO_TEST(Mutex, ClosingItFailsThoseWhoWait) {
    Mutex mutex;
    mutex.lock();
    auto plain = spawn([&] { mutex.lock(); });
    auto limited = spawn([&] { mutex.lock(1h); });
    settle(2);
    mutex.close();
    mutex.close();
    EXPECT_EQ(what_of([&] { await(plain); }), "Mutex is closed");
    EXPECT_EQ(code_of([&] { await(limited); }), ErrorCode::EventClosed);
    auto late = spawn([&] { mutex.lock(); });
    EXPECT_EQ(code_of([&] { await(late); }), ErrorCode::EventClosed);
    mutex.unlock();
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_EQ(mutex.event().info(), "Mutex(free, closed)");
}

CORO_TEST(Mutex, WhoWasWokenBeforeItClosedHasIt) {
    Mutex mutex;
    Log log;
    mutex.lock();
    auto a = spawn_visitor(mutex, log, "A");
    auto b = spawn_visitor(mutex, log, "B");
    settle(2);
    mutex.unlock();
    mutex.close();
    await(a);
    EXPECT_EQ(code_of([&] { await(b); }), ErrorCode::EventClosed);
    EXPECT_EQ(log, Log{"A"});
}

CORO_TEST(Mutex, ItsEndFailsThoseWhoWait) {
    Handle<void> plain;
    Handle<void> limited;
    {
        Mutex mutex;
        mutex.lock();
        plain = spawn([&mutex] { mutex.lock(); });
        limited = spawn([&mutex] { mutex.lock(1h); });
        settle(2);
    }
    EXPECT_EQ(code_of([&] { await(plain); }), ErrorCode::EventClosed);
    EXPECT_EQ(code_of([&] { await(limited); }), ErrorCode::EventClosed);
}

// --- what others see

CORO_TEST(Mutex, InfoNamesTheOwnerAndItsPlace) {
    Mutex mutex;
    EXPECT_EQ(mutex.event().info(), "Mutex(free)");
    std::source_location where;
    where = std::source_location::current(), mutex.lock();
    const std::string text =
        "Mutex(owner=" + std::to_string(current().id()) + ", locked at " + place_of(where) + ", waiting=";
    EXPECT_EQ(mutex.event().info(), text + "0)");
    auto waiter = spawn([&] { where = std::source_location::current(), mutex.lock(); });
    auto limited = spawn([&] { mutex.lock(1h); });
    settle(2);
    EXPECT_EQ(waiter.coroutine().awaiting(), Log{text + "2)"});
    EXPECT_EQ(limited.coroutine().awaiting(), (Log{text + "2)", "Deadline(in 3600000ms)"}));
    EXPECT_EQ(to_string(waiter.coroutine().suspended_at()), place_of(where));
    mutex.unlock();
    EXPECT_EQ(
        mutex.event().info(),
        "Mutex(owner=" + std::to_string(waiter.id()) + ", locked at " + place_of(where) + ", waiting=1)"
    );
    await(waiter);
    limited.cancel();
    settle(2);
    expect_clean(waiter.coroutine());
    expect_clean(limited.coroutine());
}

RUNTIME_TEST(Mutex, DeadlockReportNamesIt) {
    EXPECT_THROW(
        in_runtime([&] {
            Mutex mutex;
            auto owner = spawn([&] { mutex.lock(); });
            await(owner);
            mutex.lock();
        }),
        DeadlockError
    );
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_TRUE(contains(sink.deadlocks[0], "Mutex(owner=")) << sink.deadlocks[0];
}

RUNTIME_TEST(Mutex, AbandonedWaitersLeaveTheLine) {
    const LeaksExpected leaks;
    Mutex mutex;
    in_runtime([&] {
        mutex.lock();
        for (const Limit& limit : {Limit(), Limit(1h)}) {
            spawn([&mutex, limit] {
                for (;;) {
                    try {
                        mutex.lock(limit);
                    } catch (const Cancellation&) {}
                }
            });
        }
        settle(3);
        EXPECT_EQ(mutex.event().waiting_count(), 2U);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 2U);
    EXPECT_EQ(mutex.event().waiting_count(), 0U);
}

// --- by chance

RUNTIME_TEST(MutexChance, OneIsInsideAndNobodyIsStuck) {
    for_seeds(1, 300, [this](std::mt19937& random) {
        in_runtime([&] {
            const auto chance = [&random](int below) {
                return static_cast<int>(random() % static_cast<unsigned>(below));
            };
            Mutex mutex;
            ManualEvent token;
            int inside = 0;
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
                            auto guard = mutex.guard(
                                kind == 0   ? Limit(chance(3) * 1ms)
                                : kind == 1 ? Limit(token)
                                            : Limit()
                            );
                            EXPECT_EQ(++inside, 1);
                            EXPECT_EQ(mutex.event().owner(), current().id());
                            try {
                                chance(2) == 0 ? suspend() : sleep_for(chance(3) * 1ms);
                            } catch (const Cancellation&) {}
                            --inside;
                            guard.unlock();
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
            ASSERT_EQ(finished, 8) << "stuck: " << mutex.event().info();
            EXPECT_EQ(mutex.event().info(), "Mutex(free)");
        });
    });
}

}  // namespace
}  // namespace trueasync::testing
