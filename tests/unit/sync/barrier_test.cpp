#include <trueasync/sync/barrier.hpp>

#include <set>
#include <support/runtime_fakes.hpp>
#include <support/seeds.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

CORO_TEST(Barrier, LetsNobodyThroughUntilAllHaveCome) {
    Barrier barrier(3);
    auto first = spawn([&] { return barrier.wait(); });
    auto second = spawn([&] { return barrier.wait(1h); });
    settle(3);
    EXPECT_EQ(barrier.waiting(), 2U);
    EXPECT_FALSE(first.is_finished());
    const SchedulerStats before = scheduler().stats();
    EXPECT_EQ(barrier.wait(), 2U);
    EXPECT_EQ(scheduler().stats().switches, before.switches) << "the last one does not suspend";
    EXPECT_EQ(await(first), 0U);
    EXPECT_EQ(await(second), 1U);
    EXPECT_EQ(barrier.generation(), 1U);
    EXPECT_EQ(barrier.waiting(), 0U);
    expect_clean(current());
}

CORO_TEST(Barrier, BeginsAnewEachTime) {
    constexpr int kRounds = 20;
    Barrier barrier(4);
    std::vector<int> rounds(4);
    std::vector<std::set<std::size_t>> indexes(kRounds);
    std::vector<Handle<void>> all;
    for (std::size_t i = 0; i < 4; ++i) {
        all.push_back(spawn([&, i] {
            for (std::size_t round = 0; round < kRounds; ++round) {
                sleep_for((i * 7 + round * 3) % 5 * 1ms);
                ++rounds[i];
                indexes[round].insert(barrier.wait());
                for (const int other : rounds) {
                    EXPECT_GE(other, static_cast<int>(round) + 1) << "somebody was not there yet";
                }
            }
        }));
    }
    for (const auto& one : all) {
        await(one);
    }
    for (const auto& seen : indexes) {
        EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2, 3}));
    }
    EXPECT_EQ(barrier.generation(), static_cast<std::uint64_t>(kRounds));
}

CORO_TEST(Barrier, LastOneMayComeAgainBeforeTheOthersHaveRun) {
    Barrier barrier(2);
    std::vector<std::size_t> seen;
    auto other = spawn([&] {
        seen.push_back(barrier.wait());
        seen.push_back(barrier.wait());
    });
    suspend();
    EXPECT_EQ(barrier.wait(), 1U);
    EXPECT_EQ(barrier.wait(), 0U) << "the first of the next generation";
    await(other);
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(barrier.generation(), 2U);
}

CORO_TEST(Barrier, OfOneLetsEverybodyThrough) {
    Barrier barrier(1);
    EXPECT_EQ(barrier.wait(), 0U);
    EXPECT_EQ(barrier.wait(), 0U);
    EXPECT_EQ(barrier.generation(), 2U);
}

// --- cancellation and deadlines

CORO_TEST(Barrier, WhoIsCancelledCountsAsNotCome) {
    Barrier barrier(3);
    auto first = spawn([&] { return barrier.wait(); });
    auto second = spawn([&] { return barrier.wait(); });
    settle(2);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(barrier.waiting(), 1U);
    auto third = spawn([&] { return barrier.wait(); });
    settle(2);
    EXPECT_FALSE(second.is_finished()) << "one is missing";
    EXPECT_EQ(barrier.wait(), 2U);
    EXPECT_EQ(await(second), 0U);
    EXPECT_EQ(await(third), 1U);
}

CORO_TEST(Barrier, WhoIsCancelledAfterTheLastHasComeWasCounted) {
    Barrier barrier(2);
    auto first = spawn([&] { return barrier.wait(); });
    suspend();
    EXPECT_EQ(barrier.wait(), 1U);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(barrier.generation(), 1U);
    EXPECT_EQ(barrier.waiting(), 0U);
}

CORO_TEST(Barrier, DeadlineTakesTheArrivalBack) {
    Barrier barrier(2);
    const Instant begin = clock().now();
    EXPECT_THROW(barrier.wait(10ms), TimeoutError);
    EXPECT_EQ(clock().now() - begin, 10ms);
    EXPECT_EQ(barrier.waiting(), 0U);
    auto other = spawn([&] { return barrier.wait(); });
    suspend();
    EXPECT_EQ(barrier.wait(10ms), 1U);
    EXPECT_EQ(await(other), 0U);
    expect_clean(current());
}

CORO_TEST(Barrier, WhoWasWokenInTimeIsThroughThoughItRunsLate) {
    Barrier barrier(2);
    auto other = spawn([&] { return barrier.wait(10ms); });
    suspend();
    barrier.wait();
    clock().advance(1s);
    EXPECT_EQ(await(other), 0U);
}

CORO_TEST(Barrier, TokenTakesTheArrivalBack) {
    Barrier barrier(2);
    ManualEvent token;
    auto other = spawn([&] { barrier.wait(token); });
    suspend();
    token.notify();
    EXPECT_THROW(await(other), Cancellation);
    EXPECT_EQ(barrier.waiting(), 0U);
    expect_clean(token);
}

// --- wrong use and closing

TEST(BarrierMisuse, NeedsAParty) {
    EXPECT_EQ(code_of([] { const Barrier barrier(0); }), ErrorCode::InvalidArgument);
}

TEST(BarrierMisuse, WaitingNeedsACoroutine) {
    Barrier barrier(2);
    EXPECT_EQ(code_of([&] { barrier.wait(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(barrier.waiting(), 0U);
}

CORO_TEST(Barrier, ClosingItFailsThoseWhoWait) {
    Barrier barrier(3);
    auto first = spawn([&] { barrier.wait(); });
    auto second = spawn([&] { barrier.wait(1h); });
    settle(2);
    barrier.close();
    EXPECT_EQ(what_of([&] { await(first); }), "Barrier is closed");
    EXPECT_EQ(code_of([&] { await(second); }), ErrorCode::EventClosed);
    EXPECT_EQ(code_of([&] { barrier.wait(); }), ErrorCode::EventClosed);
}

CORO_TEST(Barrier, ItsEndFailsThoseWhoWait) {
    Handle<void> waiter;
    {
        Barrier barrier(2);
        waiter = spawn([&barrier] { barrier.wait(); });
        suspend();
    }
    EXPECT_EQ(code_of([&] { await(waiter); }), ErrorCode::EventClosed);
}

// --- what others see

CORO_TEST(Barrier, DumpNamesIt) {
    Barrier barrier(3);
    std::source_location where;
    auto waiter = spawn([&] { where = std::source_location::current(), barrier.wait(); });
    settle(2);
    EXPECT_EQ(waiter.coroutine().awaiting(), Log{"Barrier(parties=3, waiting=1, generation=0)"});
    EXPECT_EQ(to_string(waiter.coroutine().suspended_at()), place_of(where));
    waiter.cancel();
    settle(2);
    expect_clean(waiter.coroutine());
}

RUNTIME_TEST(Barrier, AbandonedWaitersLeave) {
    const LeaksExpected leaks;
    Barrier barrier(3);
    in_runtime([&] {
        spawn([&] {
            for (;;) {
                try {
                    barrier.wait();
                } catch (const Cancellation&) {}
            }
        });
        settle(3);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 1U);
    EXPECT_EQ(barrier.waiting(), 0U);
}

// --- by chance

/// Parties that are cancelled and too late again and again: in each generation exactly as many as needed are counted, and nobody is stuck.
RUNTIME_TEST(BarrierChance, CountsWhoCameAndNobodyElse) {
    for_seeds(1, 300, [this](std::mt19937& random) {
        in_runtime([&] {
            const auto chance = [&random](int below) {
                return static_cast<int>(random() % static_cast<unsigned>(below));
            };
            const auto parties = static_cast<std::size_t>(1 + chance(5));
            Barrier barrier(parties);
            std::uint64_t passed = 0;
            std::uint64_t lost = 0;  // cancelled after they were counted
            bool is_begun = false;
            bool is_over = false;
            std::vector<Handle<void>> all;
            for (int i = 0; i < 6; ++i) {
                all.push_back(spawn([&] {
                    while (!is_over) {
                        std::size_t index = SIZE_MAX;
                        const WaitResult result =
                            barrier.event().wait(index, chance(3) == 0 ? Limit(chance(3) * 1ms) : Limit());
                        if (result == WaitResult::Ready) {
                            EXPECT_LT(index, parties);
                            ++passed;
                        } else if (index != SIZE_MAX) {
                            EXPECT_EQ(result, WaitResult::Cancelled);
                            ++lost;
                        }
                        if (is_begun && chance(3) == 0) {
                            all[static_cast<std::size_t>(chance(6))].cancel(
                            );  // others have not run since they were woken
                        }
                        if (parties == 1 || chance(3) != 0) {
                            try {
                                sleep_for((1 + chance(3)) * 1ms);
                            } catch (const Cancellation&) {}
                        }
                    }
                }));
            }
            suspend();
            is_begun = true;
            const std::uint64_t before = barrier.generation();
            sleep_for(50ms);
            EXPECT_GT(barrier.generation(), before) << "stuck: " << barrier.event().info();
            is_over = true;
            barrier.close();
            for (const auto& one : all) {
                try {
                    await(one);
                } catch (const Cancellation&) {}
            }
            EXPECT_EQ(passed + lost, barrier.generation() * parties);
        });
    });
}

}  // namespace
}  // namespace trueasync::testing
