#include <trueasync/sync/pool.hpp>

#include <support/allocation_counter.hpp>
#include <support/pool_script.hpp>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- construction

CORO_TEST(PoolEvent, UsesTheHooksOfItsFrontDoor) {
    // [own_hooks]
    class Buffers final : public PoolHooks<std::unique_ptr<char[]>> {
        Ref<Error> create(std::optional<std::unique_ptr<char[]>>& slot) override {
            slot.emplace(new char[4096]);
            return {};
        }
    };
    auto pool = make_ref<PoolOf<std::unique_ptr<char[]>>>(PoolSettings{.max = 2}, std::make_unique<Buffers>());
    std::optional<std::unique_ptr<char[]>> buffer;
    if (pool->acquire(buffer) == WaitResult::Ready) {
        EXPECT_TRUE(pool->give_back(std::move(buffer)).ok());
    }
    // [own_hooks]
    EXPECT_EQ(pool->idle_count(), 1U);
}

CORO_TEST(PoolEvent, MakesTheFirstOnesWhenItOpens) {
    Kit kit(limits(2, 5));
    EXPECT_TRUE(kit.pool->open().ok());
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "create 2"}));
    EXPECT_EQ(kit.pool->idle_count(), 2U);
    EXPECT_EQ(kit.pool->active_count(), 0U);
    EXPECT_EQ(kit.pool->count(), 2U);
}

CORO_TEST(PoolEvent, FactoryThatFailsStopsTheOpening) {
    Kit kit(limits(3, 5));
    kit.script->on_create = [](int made) { return made == 2 ? failure("no") : Ref<Error>(); };
    const Status status = kit.pool->open();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error()->message(), "no");
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "create 2"}));
    EXPECT_EQ(kit.pool->count(), 1U);
}

CORO_TEST(PoolEvent, RefusesImpossibleLimits) {
    EXPECT_EQ(limits(0, 0).check().error()->message(), "max must be >= 1");
    EXPECT_EQ(limits(3, 2).check().error()->message(), "min must be <= max");
    EXPECT_TRUE(limits(2, 2).check().ok());
    Kit kit(limits(3, 2));
    EXPECT_TRUE(kit.pool->open().is(ErrorCode::InvalidArgument));
}

// --- acquire

CORO_TEST(PoolEvent, TakesTheOldestThenMakesThenWaits) {
    Kit kit(limits(2, 3));
    ASSERT_TRUE(kit.pool->open().ok());
    EXPECT_EQ(kit.acquire(), 1);
    EXPECT_EQ(kit.acquire(), 2);
    EXPECT_EQ(kit.acquire(), 3);
    EXPECT_EQ(kit.acquire(Deadline::after(5ms)), 0);
    EXPECT_EQ(kit.last, WaitResult::TimedOut);
    EXPECT_EQ(kit.pool->stats().timeouts, 1U);
    kit.release(2);
    kit.release(1);
    EXPECT_EQ(kit.acquire(), 2);
    EXPECT_EQ(kit.pool->count(), 3U);
    EXPECT_EQ(kit.pool->active_count(), 2U);
}

CORO_TEST(PoolEvent, ClosedPoolRefuses) {
    Kit kit;
    EXPECT_FALSE(kit.pool->is_shut());
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_TRUE(kit.pool->is_shut());
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.last, WaitResult::Refused);
    EXPECT_EQ(kit.error->code(), ErrorCode::PoolClosed);
    EXPECT_EQ(kit.error->message(), "Pool is closed");
    EXPECT_EQ(kit.try_acquire(), 0);
    EXPECT_EQ(kit.error, nullptr);
    EXPECT_TRUE(kit.script->log.empty());
}

CORO_TEST(PoolEvent, RejectedBeforeAcquireIsDestroyedAndTheNextIsTried) {
    PoolSettings settings = limits(3, 3);
    settings.has_before_acquire = true;
    Kit kit(settings);
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->take_log();
    kit.script->on_check = [](PoolCheck, int resource, bool& answer) {
        answer = resource != 1;
        return resource == 2 ? failure("broken") : Ref<Error>();
    };
    EXPECT_EQ(kit.acquire(), 3);
    EXPECT_EQ(kit.script->take_log(), (Log{"acquire 1", "destroy 1", "acquire 2", "destroy 2", "acquire 3"}));
    EXPECT_EQ(kit.pool->count(), 1U);
    EXPECT_EQ(kit.pool->stats().destroyed, 2U);
}

CORO_TEST(PoolEvent, FreshOnesAreNotChecked) {
    PoolSettings settings = limits(1, 2);
    settings.has_before_acquire = true;
    Kit kit(settings);
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        answer = false;
        return Ref<Error>();
    };
    EXPECT_EQ(kit.acquire(), 2);  // the idle one is rejected, the new one is not asked about
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "acquire 1", "destroy 1", "create 2"}));
    EXPECT_EQ(kit.pool->count(), 1U);
}

CORO_TEST(PoolEvent, DestroyThatFailsLeavesAcquire) {
    PoolSettings settings = limits(1, 1);
    settings.has_before_acquire = true;
    Kit kit(settings);
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        answer = false;
        return Ref<Error>();
    };
    kit.script->on_destroy = [](int) { return failure("cannot end"); };
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.last, WaitResult::Failed);
    EXPECT_EQ(kit.error->message(), "cannot end");
    EXPECT_EQ(kit.pool->count(), 0U);
    EXPECT_EQ(kit.acquire(), 2);  // the room is there
}

CORO_TEST(PoolEvent, FactoryThatFailsDoesNotDisturb) {
    Kit kit(limits(0, 1));
    kit.script->on_create = [](int made) { return made == 1 ? failure("down") : Ref<Error>(); };
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.last, WaitResult::Failed);
    EXPECT_EQ(kit.error->message(), "down");
    EXPECT_EQ(kit.pool->count(), 0U);
    EXPECT_EQ(kit.acquire(), 2);
    EXPECT_EQ(kit.pool->stats().created, 1U);
}

CORO_TEST(PoolEvent, FailingFactoryHandsTheRoomToWhoWaits) {
    Kit kit(limits(0, 1));
    bool is_down = true;
    kit.script->on_create = [&](int) {
        sleep_for(1ms);
        return std::exchange(is_down, false) ? failure("down") : Ref<Error>();
    };
    auto first = spawn([&] { return kit.acquire(); });
    auto second = spawn([&] { return kit.acquire(); });
    EXPECT_EQ(await(first), 0);
    EXPECT_EQ(kit.pool->count(), 1U);  // the other one is at it already
    EXPECT_EQ(await(second), 2);
    EXPECT_EQ(kit.pool->reserved_count(), 0U);
}

CORO_TEST(PoolEvent, TryAcquireNeverWaits) {
    Kit kit(limits(0, 1));
    EXPECT_EQ(kit.try_acquire(), 1);
    EXPECT_EQ(kit.try_acquire(), 0);
    EXPECT_EQ(kit.error, nullptr);
    kit.release(1);
    EXPECT_EQ(kit.try_acquire(), 1);
    kit.release(1);
    kit.pool->deactivate();
    EXPECT_EQ(kit.try_acquire(), 0);
    EXPECT_EQ(kit.error, nullptr);
}

CORO_TEST(PoolEvent, TryAcquireFailsWithWhatTheFactoryFailedWith) {
    Kit kit(limits(0, 1));
    kit.script->on_create = [](int) { return failure("down"); };
    EXPECT_EQ(kit.try_acquire(), 0);
    ASSERT_NE(kit.error, nullptr);
    EXPECT_EQ(kit.error->message(), "down");
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, FactoriesThatSuspendNeverExceedTheMaximum) {
    Kit kit(limits(0, 2));
    kit.script->on_create = [](int) {
        sleep_for(10ms);
        return Ref<Error>();
    };
    std::vector<Handle<int>> all;
    for (int i = 0; i < 4; ++i) {
        all.push_back(spawn([&] {
            const int got = kit.acquire();
            EXPECT_LE(kit.pool->count(), 2U);
            sleep_for(1ms);
            kit.release(got);
            return got;
        }));
    }
    settle();
    EXPECT_EQ(kit.pool->active_count(), 2U);  // being created
    EXPECT_EQ(kit.pool->count(), 2U);
    EXPECT_EQ(kit.try_acquire(), 0);
    std::vector<int> got;
    for (auto& one : all) {
        got.push_back(await(one));
    }
    EXPECT_EQ(got, (std::vector<int>{1, 2, 1, 2}));
    EXPECT_EQ(kit.script->next, 3);
}

CORO_TEST(PoolEvent, WhatIsInsideAHookCountsAsActive) {
    PoolSettings settings = limits(1, 1);
    settings.has_before_acquire = settings.has_before_release = true;
    Kit kit(settings);
    ASSERT_TRUE(kit.pool->open().ok());
    bool is_good = true;
    kit.script->on_check = [&](PoolCheck, int, bool& answer) {
        sleep_for(1ms);
        answer = is_good;
        return Ref<Error>();
    };
    kit.script->on_destroy = [](int) {
        sleep_for(1ms);
        return Ref<Error>();
    };
    auto user = spawn([&] {
        const int got = kit.acquire();
        kit.release(got);
        is_good = false;
        kit.release(kit.acquire());
    });
    int seen = 0;
    auto observer = spawn([&] {
        while (!user.is_finished()) {
            EXPECT_EQ(kit.pool->count(), 1U) << kit.script->log.back();
            seen += kit.pool->active_count() == 1 ? 1 : 0;
            sleep_for(700us);
        }
    });
    await(user);
    await(observer);
    EXPECT_GE(seen, 6);  // checked twice each way, destroyed twice, made once: never idle meanwhile
    EXPECT_EQ(
        kit.script->take_log(),
        (Log{"create 1", "acquire 1", "release 1", "acquire 1", "destroy 1", "create 2", "release 2", "destroy 2"})
    );
    EXPECT_EQ(kit.pool->count(), 0U);
}

// --- waiting, reservation

CORO_TEST(PoolEvent, TakesTurns) {  // trace 26
    Kit kit(limits(0, 1));
    std::string trace;
    auto worker = [&](char name) {
        for (int i = 0; i < 3; ++i) {
            const int got = kit.acquire();
            trace += name + std::to_string(i) + " ";
            suspend();
            kit.release(got);
        }
    };
    auto a = spawn([&] { worker('A'); });
    auto b = spawn([&] { worker('B'); });
    await(a);
    await(b);
    EXPECT_EQ(trace, "A0 B0 A1 B1 A2 B2 ");
}

CORO_TEST(PoolEvent, SixWorkersKeepTheirOrder) {  // trace 27
    Kit kit(limits(0, 1));
    std::string trace;
    std::vector<Handle<void>> workers;
    for (int i = 0; i < 6; ++i) {
        workers.push_back(spawn([&, i] {
            for (int round = 0; round < 3; ++round) {
                const int got = kit.acquire();
                trace += std::to_string(i);
                kit.release(got);
                suspend();
            }
        }));
    }
    for (auto& worker : workers) {
        await(worker);
    }
    EXPECT_EQ(trace, "012345012345012345");
}

CORO_TEST(PoolEvent, CancelledBetweenWakeAndRunHandsThePlaceOn) {  // trace 28
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto first = spawn([&] {
        EXPECT_EQ(kit.acquire(), 0);
        return kit.last;
    });
    auto second = spawn([&] {
        const int got = kit.acquire();
        kit.release(got);
        return got;
    });
    settle();
    EXPECT_EQ(kit.pool->waiting_count(), 2U);
    kit.release(held);
    EXPECT_EQ(kit.pool->info(), "Pool(idle=1, active=0, reserved=1, max=1)");
    first.cancel();
    EXPECT_EQ(await(first), WaitResult::Cancelled);
    EXPECT_EQ(await(second), held);
    EXPECT_EQ(kit.pool->idle_count(), 1U);
    EXPECT_EQ(kit.pool->reserved_count(), 0U);
    EXPECT_EQ(kit.script->next, 2);
}

CORO_TEST(PoolEvent, ReservedPlaceIsForNobodyElse) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    EXPECT_EQ(kit.pool->idle_count(), 1U);
    EXPECT_EQ(kit.try_acquire(), 0);
    EXPECT_EQ(kit.acquire(Deadline::after(0ms)), 0);  // behind the waiter
    EXPECT_EQ(await(waiter), held);
}

CORO_TEST(PoolEvent, ReservedRoomIsForNobodyElse) {
    PoolSettings settings = limits(0, 2);
    settings.has_before_release = true;
    Kit kit(settings);
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        answer = false;
        return Ref<Error>();
    };
    const int one = kit.acquire();
    const int other = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(one);
    EXPECT_EQ(kit.pool->info(), "Pool(idle=0, active=1, reserved=1, max=2)");
    EXPECT_EQ(kit.try_acquire(), 0);
    kit.release(other);
    EXPECT_EQ(kit.try_acquire(), 3);  // the second room is free
    EXPECT_EQ(await(waiter), 4);
    EXPECT_EQ(kit.pool->count(), 2U);
}

CORO_TEST(PoolEvent, SurplusStaysAvailable) {
    Kit kit(limits(0, 2));
    const int one = kit.acquire();
    const int other = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(one);
    EXPECT_EQ(kit.try_acquire(), 0);
    kit.release(other);
    EXPECT_EQ(kit.pool->info(), "Pool(idle=2, active=0, reserved=1, max=2)");
    EXPECT_NE(kit.try_acquire(), 0);
    EXPECT_NE(await(waiter), 0);
    EXPECT_EQ(kit.script->next, 3);
}

CORO_TEST(PoolEvent, AWaiterIsWokenForAResourceEvenWhenRoomCameFirst) {
    PoolSettings settings = limits(0, 2);
    settings.has_before_release = true;
    Kit kit(settings);
    kit.script->on_check = [](PoolCheck, int resource, bool& answer) {
        answer = resource != 2;
        return Ref<Error>();
    };
    const int one = kit.acquire();
    const int other = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(one);             // reserved for the waiter
    kit.release(other);           // destroyed: room for somebody new
    EXPECT_EQ(kit.acquire(), 3);  // made, not taken from the waiter
    EXPECT_EQ(await(waiter), 1);
}

CORO_TEST(PoolEvent, TimeoutLeavesTheLine) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto hasty = spawn([&] { return kit.acquire(Deadline::after(5ms)); });
    auto patient = spawn([&] { return kit.acquire(); });
    EXPECT_EQ(await(hasty), 0);
    EXPECT_EQ(kit.last, WaitResult::TimedOut);
    EXPECT_EQ(kit.pool->waiting_count(), 1U);
    kit.release(held);
    EXPECT_EQ(await(patient), held);
    EXPECT_EQ(kit.pool->stats().waits, 2U);
    EXPECT_EQ(kit.pool->stats().longest_queue, 2U);
    EXPECT_EQ(kit.pool->stats().timeouts, 1U);
    EXPECT_EQ(kit.pool->stats().acquired, 2U);
    EXPECT_EQ(kit.pool->stats().released, 1U);
}

CORO_TEST(PoolEvent, TokenThatFiresAfterTheWakeHandsThePlaceOn) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    ManualEvent token;
    auto first = spawn([&] {
        EXPECT_EQ(kit.acquire(WaitLimit(token, WakeRole::Cancel)), 0);
        return kit.last;
    });
    auto second = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    token.notify(nullptr, nullptr).ignore();
    EXPECT_EQ(await(first), WaitResult::Cancelled);
    EXPECT_EQ(await(second), held);
}

CORO_TEST(PoolEvent, WithNobodyLeftAHandedOnResourceIsIdle) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto only = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    only.cancel();
    EXPECT_EQ(await(only), 0);
    EXPECT_EQ(kit.pool->info(), "Pool(idle=1, active=0, reserved=0, max=1)");
    EXPECT_EQ(kit.acquire(), held);
}

CORO_TEST(PoolEvent, WithNobodyLeftAHandedOnRoomIsFree) {
    PoolSettings settings = limits(0, 1);
    settings.has_before_release = true;
    Kit kit(settings);
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        answer = false;
        return Ref<Error>();
    };
    const int held = kit.acquire();
    auto only = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    only.cancel();
    EXPECT_EQ(await(only), 0);
    EXPECT_EQ(kit.pool->info(), "Pool(idle=0, active=0, reserved=0, max=1)");
    EXPECT_EQ(kit.acquire(), 2);
}

CORO_TEST(PoolEvent, WaitIsShownAsThePool) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    EXPECT_EQ(waiter.coroutine().awaiting(), (Log{"Pool(idle=0, active=1, reserved=0, max=1)"}));
    kit.release(held);
    await(waiter);
}

TEST(PoolWithoutRuntime, WorksUntilItHasToWait) {
    Kit kit(limits(0, 1));
    EXPECT_EQ(kit.acquire(), 1);
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.last, WaitResult::Refused);
    EXPECT_EQ(kit.error->code(), ErrorCode::NotInCoroutine);
    kit.release(1);
    EXPECT_EQ(kit.acquire(), 1);
    kit.release(1);
}

CORO_TEST(PoolEvent, CommonWayAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "allocations are not counted in this build";
    }
    Kit kit(limits(2, 2));
    ASSERT_TRUE(kit.pool->open().ok());
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) {
        const int got = kit.acquire();
        kit.release(got);
    }
    EXPECT_EQ(counter.count(), 0U);
}

// --- release

CORO_TEST(PoolEvent, RejectedBeforeReleaseIsDestroyedAndItsRoomGivenOn) {
    PoolSettings settings = limits(0, 1);
    settings.has_before_release = true;
    Kit kit(settings);
    kit.script->on_check = [](PoolCheck, int resource, bool& answer) {
        answer = resource != 1;
        return resource == 2 ? failure("broken") : Ref<Error>();
    };
    const int held = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    EXPECT_EQ(await(waiter), 2);
    EXPECT_TRUE(kit.pool->give_back(2).ok());  // what the check failed with is nobody's business
    EXPECT_EQ(
        kit.script->take_log(), (Log{"create 1", "release 1", "destroy 1", "create 2", "release 2", "destroy 2"})
    );
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, ClosedPoolDestroysWhatComesBack) {
    PoolSettings settings = limits(0, 1);
    settings.has_before_release = true;
    Kit kit(settings);
    const int held = kit.acquire();
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_EQ(kit.pool->active_count(), 1U);
    kit.release(held);
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "destroy 1"}));
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, WhatTheDestructorFailsWithLeavesRelease) {
    Kit kit(limits(0, 1));
    kit.script->on_destroy = [](int) { return failure("stuck"); };
    const int held = kit.acquire();
    ASSERT_TRUE(kit.pool->close().ok());
    const Status status = kit.pool->give_back(held);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error()->message(), "stuck");
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, CancellationInsideAHookIsNotSwallowed) {
    PoolSettings settings = limits(1, 1);
    settings.has_before_acquire = settings.has_before_release = true;
    Kit kit(settings);
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        try {
            sleep_for(1s);
        } catch (...) {
            return detail::to_error();
        }
        answer = true;
        return Ref<Error>();
    };
    auto taker = spawn([&] { return kit.acquire(); });
    settle();
    taker.cancel("enough");
    EXPECT_EQ(await(taker), 0);
    EXPECT_EQ(kit.last, WaitResult::Cancelled);
    EXPECT_EQ(kit.error->message(), "enough");
    EXPECT_TRUE(kit.script->alive.empty());
    EXPECT_EQ(kit.pool->count(), 0U);

    const int held = kit.acquire();
    EXPECT_EQ(held, 2);
    auto giver = spawn([&] { return kit.pool->give_back(held).take(); });
    settle();
    giver.cancel("again");
    const Ref<Error> error = await(giver);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->message(), "again");
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, NothingComesBackThatWasNotTaken) {
    Kit kit;
    EXPECT_TRUE(kit.pool->give_back(7).is(ErrorCode::IllegalState));
    EXPECT_EQ(kit.pool->count(), 0U);
}

}  // namespace
}  // namespace trueasync::testing
