#include <trueasync/api/task_group.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>
#include <support/group_tasks.hpp>

namespace trueasync::testing {
namespace {

// --- sets

CORO_TEST(TaskSet, JoinNextTakesOneAfterTheOther) {
    /// [task_set]
    TaskSet<int> set;
    for (int i = 1; i <= 3; ++i) {
        set.spawn([i] {
            sleep_for((4 - i) * 10ms);
            return i;
        });
    }
    std::vector<int> order;
    while (set.count() != 0) {
        order.push_back(set.join_next());
    }
    /// [task_set]
    EXPECT_EQ(order, (std::vector{3, 2, 1}));
    EXPECT_EQ(thrown_by([&] { set.join_next(); }), "Cannot call joinNext() on an empty TaskSet");
    EXPECT_EQ(thrown_by([&] { set.join_any(); }), "Cannot call joinAny() on an empty TaskSet");
    EXPECT_TRUE(set.join_all().empty());
}

CORO_TEST(TaskSet, JoinNextThrowsAFailureAndTakesIt) {
    TaskSet<int> set;
    set.spawn(failing(0, "E"));
    EXPECT_EQ(thrown_by([&] { set.join_next(); }), "E");
    EXPECT_EQ(set.count(), 0U);
}

CORO_TEST(TaskSet, WhatCameBeforeAnybodyAskedIsKept) {
    TaskSet<int> set;
    set.spawn(after(0, 1));
    set.spawn(after(0, 2));
    settle();
    EXPECT_EQ(set.count(), 2U);
    EXPECT_EQ(set.join_next(), 1);
    EXPECT_EQ(set.count(), 1U);
    EXPECT_EQ(set.join_next(), 2);
}

CORO_TEST(TaskSet, JoinAnySkipsFailuresAndLeavesThem) {
    TaskSet<int> set;
    set.spawn(failing(0, "E"));
    set.spawn(after(2, 1));
    EXPECT_EQ(set.join_any(), 1);
    EXPECT_EQ(set.count(), 1U);
    EXPECT_EQ(all_thrown_by([&] { set.join_any(); }), (Steps{"E"}));
}

CORO_TEST(TaskSet, JoinAnyHearsOfTheFirstSuccessAfterAFailure) {
    TaskSet<int> set;
    set.spawn(failing(0, "E"));
    for (const auto delay : {1ms, 50ms, 60ms}) {
        set.spawn([delay] {
            sleep_for(delay);
            return static_cast<int>(delay.count());
        });
    }
    settle();
    EXPECT_EQ(set.join_any(), 1);
    EXPECT_EQ(set.event().running(), 2U) << "not when the last one ends";
}

CORO_TEST(TaskSet, JoinAnyLosesNothingWhenItIsCancelledBetweenWakeAndRun) {
    TaskSet<int> set;
    set.spawn(failing(2, "E"));
    set.spawn(after(2, 1));
    auto joiner = spawn([&] { return set.join_any(); });
    while (!set.is_finished()) {
        suspend();
    }
    EXPECT_FALSE(joiner.is_finished()) << "it is woken, and has not run";
    joiner.cancel();
    EXPECT_THROW(await(joiner), Cancellation);
    EXPECT_EQ(set.count(), 2U);
    EXPECT_EQ(set.join_any(), 1);
}

CORO_TEST(TaskSet, JoinAnyWaitsForTheNextWhenSomebodyElseWasFaster) {
    TaskSet<int> set;
    set.spawn(after(1, 1));
    set.spawn(after(2, 2));
    auto joiner = spawn([&] { return set.join_any(); });
    auto second = spawn([&] { return set.join_any(); });
    EXPECT_EQ(await(joiner) + await(second), 3);
    EXPECT_EQ(set.count(), 0U);
    TaskSet<void> quiet;
    quiet.spawn([] {});
    quiet.join_any();
    EXPECT_EQ(quiet.count(), 0U);
}

CORO_TEST(TaskSet, JoinAllEmptiesIt) {
    TaskSet<int> set;
    set.spawn(after(1, 1));
    set.spawn(failing(0, "E"));
    EXPECT_EQ(all_thrown_by([&] { set.join_all(); }), (Steps{"E"}));
    EXPECT_EQ(set.count(), 0U);
    set.spawn(after(0, 5));
    EXPECT_EQ(show(set.join_all()), "2=5 ");
}

CORO_TEST(TaskSet, KeysAreFreeAgainAfterDelivery) {
    TaskSet<int> set;
    set.spawn_with_key("a", after(0, 1));
    EXPECT_THROW(set.spawn_with_key("a", after(0, 2)), AsyncError);
    EXPECT_EQ(set.join_next(), 1);
    set.spawn_with_key("a", after(0, 3));
    EXPECT_EQ(set.join_next(), 3);
}

CORO_TEST(TaskSet, EachIsGoneBeforeTheBodySeesIt) {
    TaskSet<int> set;
    set.spawn(after(0, 1));
    set.spawn(after(1, 2));
    set.close();
    std::vector<std::size_t> counts;
    while (auto outcome = set.next()) {
        counts.push_back(set.count());
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{1, 0}));
}

CORO_TEST(TaskSet, FuturesShareTheOutcomes) {
    TaskSet<int> set;
    Ref<FutureOf<int>> first;
    Ref<FutureOf<int>> second;
    Ref<FutureOf<int>> third;
    set.spawn(after(1, 1));
    set.spawn(after(2, 2));
    ASSERT_TRUE(set.event().first(first, "empty"));
    ASSERT_TRUE(set.event().first(second, "empty"));
    ASSERT_TRUE(set.event().first(third, "empty"));
    EXPECT_EQ(wait_future(*second), WaitResult::Ready);
    EXPECT_EQ(first->get(), 1);
    EXPECT_EQ(second->get(), 2);
    EXPECT_EQ(set.count(), 0U);
    set.close();
    EXPECT_EQ(wait_future(*third), WaitResult::Failed) << "nothing will come";
}

CORO_TEST(TaskSet, DroppedFutureLosesNothing) {
    TaskSet<int> set;
    set.spawn(after(1, 1));
    Ref<FutureOf<int>> future;
    ASSERT_TRUE(set.event().first(future, "empty"));
    future->ignore();
    future.reset();
    settle();
    EXPECT_EQ(set.count(), 1U);
    EXPECT_EQ(set.join_next(), 1);
}

CORO_TEST(TaskSet, JoinAllDoesNotWaitForWhatOthersTook) {
    TaskSet<int> set;
    set.spawn(after(1, 1));
    set.spawn(after(3, 2));
    Ref<FutureOf<int>> first;
    ASSERT_TRUE(set.event().first(first, "empty"));
    const auto all = set.event().all();
    set.spawn(after(9, 3));
    EXPECT_EQ(wait_future(*all), WaitResult::Ready);
    EXPECT_EQ(show(all->get()), "1=2 ");
    EXPECT_EQ(first->get(), 1);
    EXPECT_EQ(set.count(), 1U) << "the younger one";
    first->ignore();
}

CORO_TEST(TaskSet, SlotsAreUsedAgain) {
    TaskSet<std::string> set;
    set.spawn([] {
        sleep_for(1h);
        return std::string("long");
    });
    for (int i = 0; i < 1000; ++i) {
        set.spawn([i] { return std::string(30, 'x') + std::to_string(i); });
        EXPECT_EQ(set.join_next(), std::string(30, 'x') + std::to_string(i));
    }
    EXPECT_EQ(set.count(), 1U);
}

CORO_TEST(TaskSet, ErrorsOfItsOwnName) {
    TaskSet<int> set;
    EXPECT_EQ(thrown_by([&] { set.await_completion(); }), "TaskSet must be closed before calling awaitCompletion()");
    set.spawn_with_key(1, after(0, 1));
    EXPECT_EQ(thrown_by([&] { set.spawn_with_key(1, after(0, 1)); }), "Duplicate key 1 in TaskSet");
    EXPECT_EQ(set.event().info(), "TaskSet(total=1, active=1)");
}

CORO_TEST(TaskSetChaos, NothingIsLostWhenWaitersAreCancelled) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto roll = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 300; ++round) {
        TaskSet<int> set(TaskLimits{static_cast<std::uint32_t>(roll(4)), static_cast<std::uint32_t>(roll(3))});
        std::vector<int> seen(30);
        int spawned = 0;
        std::vector<Handle<void>> others;
        others.push_back(spawn([&] {
            for (int i = 0; i < 30; ++i) {
                set.spawn([i, turns = roll(4)] {
                    for (int k = 0; k < turns; ++k) {
                        suspend();
                    }
                    return i;
                });
                ++spawned;
                if (roll(3) == 0) {
                    suspend();
                }
            }
        }));
        for (int i = 0; i < 12; ++i) {
            others.push_back(spawn([&] {
                for (int k = roll(4); k >= 0; --k) {
                    if (auto outcome = set.next(roll(3) == 0 ? Limit(1ms) : Limit())) {
                        ++seen[static_cast<std::size_t>(*outcome->value)];
                    }
                }
            }));
            suspend();
            if (roll(2) == 0) {
                others[static_cast<std::size_t>(roll(static_cast<int>(others.size())))].cancel();
            }
        }
        settle(5);
        set.close();
        while (auto outcome = set.next()) {
            ++seen[static_cast<std::size_t>(*outcome->value)];
        }
        for (const auto& other : others) {
            try {
                await(other);
            } catch (...) {}
        }
        for (int i = 0; i < 30; ++i) {
            ASSERT_EQ(seen[static_cast<std::size_t>(i)], i < spawned ? 1 : 0) << i << " of " << spawned;
        }
        ASSERT_EQ(set.count(), 0U);
    }
}

}  // namespace
}  // namespace trueasync::testing
