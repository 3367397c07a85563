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

// --- keys and order

CORO_TEST(TaskGroup, AllInTheOrderOfTheTasks) {
    /// [task_group]
    TaskGroup<int> group;
    group.spawn([] {
        sleep_for(20ms);
        return 1;
    });
    group.spawn_with_key("fast", [] {
        sleep_for(10ms);
        return 2;
    });
    const auto results = group.all();  // in the order of the tasks, not of their ends
    /// [task_group]
    EXPECT_EQ(show(results), "0=1 \"fast\"=2 ");
    EXPECT_EQ(show(group.all()), show(results)) << "as often as asked";
    EXPECT_EQ(group.count(), 2U);
    EXPECT_TRUE(group.is_finished());
    EXPECT_FALSE(group.is_closed());
}

CORO_TEST(TaskGroup, KeysAreNumbersOrTexts) {
    TaskGroup<int> group;
    group.spawn(after(0, 0));
    group.spawn_with_key(5, after(0, 1));
    group.spawn(after(0, 2));
    group.spawn_with_key("5", after(0, 3));
    EXPECT_EQ(thrown_by([&] { group.spawn_with_key(5, after(0, 9)); }), "Duplicate key 5 in TaskGroup");
    EXPECT_EQ(thrown_by([&] { group.spawn_with_key(0, after(0, 9)); }), "Duplicate key 0 in TaskGroup");
    EXPECT_EQ(thrown_by([&] { group.spawn_with_key("5", after(0, 9)); }), "Duplicate key \"5\" in TaskGroup");
    EXPECT_EQ(code_of([&] { group.spawn_with_key(6, after(0, 9)); }), ErrorCode::DuplicateKey);
    EXPECT_EQ(show(group.all()), "0=0 5=1 6=2 \"5\"=3 ");
}

CORO_TEST(TaskGroup, FirstExplicitKeyMayCollideWithANumberThatWasTaken) {
    TaskGroup<int> group;
    group.spawn(after(0, 0));
    EXPECT_EQ(code_of([&] { group.spawn_with_key(0, after(0, 1)); }), ErrorCode::DuplicateKey);
    EXPECT_EQ(group.count(), 1U);
}

CORO_TEST(TaskGroup, EmptyOne) {
    TaskGroup<int> group;
    EXPECT_TRUE(group.is_finished());
    EXPECT_TRUE(group.all().empty());
    EXPECT_EQ(thrown_by([&] { group.race(); }), "Cannot race on an empty TaskGroup");
    EXPECT_EQ(thrown_by([&] { group.any(); }), "Cannot call any() on an empty TaskGroup");
    EXPECT_TRUE(group.results().empty());
    EXPECT_TRUE(group.errors().empty());
}

CORO_TEST(TaskGroup, AllIsAboutTheTasksThatAreThere) {
    TaskGroup<int> group;
    group.spawn(after(5, 1));
    auto waiter = spawn([&] { return show(group.all()); });
    suspend();
    group.spawn(after(0, 2));
    group.spawn(after(50, 3));
    EXPECT_EQ(await(waiter), "0=1 ");
    EXPECT_FALSE(group.is_finished());
}

CORO_TEST(TaskGroup, ErrorsComeTogetherInTheOrderOfTheTasks) {
    TaskGroup<int> group;
    group.spawn(failing(3, "late"));
    group.spawn(after(1, 1));
    group.spawn(failing(0, "early"));
    EXPECT_EQ(all_thrown_by([&] { group.all(); }), (Steps{"late", "early"}));
    EXPECT_EQ(show(group.all(true)), "1=1 ");
    EXPECT_EQ(show(group.results()), "1=1 ");
    const auto errors = group.errors();
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].first, TaskKey(0));
    EXPECT_EQ(what(errors[1].second), "early");
}

CORO_TEST(TaskGroup, ErrorsThatNobodyReadsAreNobodysBusiness) {
    {
        TaskGroup<int> group;
        group.spawn(failing(0, "E"));
        settle();
    }
    settle();
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(sink.warnings.empty());
}

CORO_TEST(TaskGroup, RaceIsWonByTheFirstToEnd) {
    TaskGroup<int> group;
    group.spawn(after(5, 1));
    group.spawn(after(1, 2));
    EXPECT_EQ(group.race(), 2);
    EXPECT_EQ(group.race(), 2);
    group.all();
    EXPECT_EQ(group.race(), 1) << "all have ended: the first in the order of the tasks";
}

CORO_TEST(TaskGroup, RaceMayBeWonByAFailure) {
    TaskGroup<int> group;
    group.spawn(after(5, 1));
    group.spawn(failing(1, "E"));
    EXPECT_EQ(thrown_by([&] { group.race(); }), "E");
}

CORO_TEST(TaskGroup, AnyIsTheFirstSuccess) {
    TaskGroup<int> group;
    group.spawn(failing(0, "E"));
    group.spawn(after(5, 1));
    group.spawn(after(2, 2));
    EXPECT_EQ(group.any(), 2);
    group.all(true);
    EXPECT_EQ(group.any(), 1);
}

CORO_TEST(TaskGroup, AnyOfFailuresFailsWithAll) {
    TaskGroup<int> group;
    group.spawn(failing(3, "one"));
    group.spawn(failing(1, "two"));
    EXPECT_EQ(all_thrown_by([&] { group.any(); }), (Steps{"one", "two"}));
    EXPECT_EQ(all_thrown_by([&] { group.any(); }), (Steps{"one", "two"}));
}

CORO_TEST(TaskGroup, OfNothing) {
    TaskGroup<void> group;
    int runs = 0;
    group.spawn([&] { ++runs; });
    group.spawn([&] { ++runs; });
    group.race();
    EXPECT_EQ(group.all().size(), 2U);
    EXPECT_EQ(runs, 2);
}

CORO_TEST(TaskGroup, WhatCanOnlyBeMovedIsGivenOnce) {
    TaskGroup<std::unique_ptr<int>> group;
    group.spawn([] { return std::make_unique<int>(5); });
    auto results = group.all();
    ASSERT_NE(results[0].second, nullptr);
    EXPECT_EQ(*results[0].second, 5);
    EXPECT_EQ(group.all()[0].second, nullptr);
}

CORO_TEST(TaskGroup, ValuesGoWithTheGroup) {
    const auto data = std::make_shared<int>(1);
    {
        TaskGroup<std::shared_ptr<int>> group;
        group.spawn([data] { return data; });
        group.all();
        EXPECT_EQ(data.use_count(), 2);
    }
    EXPECT_EQ(data.use_count(), 1);
}

// --- slots

CORO_TEST(TaskGroup, Trace46ConcurrencyOfTwo) {
    Steps steps;
    TaskSet<void> set(TaskLimits{2, {}});
    for (const char* name : {"1", "2"}) {
        set.spawn([&steps, name] {
            steps.push_back(std::string(name) + "s");
            suspend();
            steps.push_back(std::string(name) + "e");
        });
    }
    set.spawn([&] { steps.emplace_back("3s"); });
    set.join_all();
    EXPECT_EQ(steps, (Steps{"1s", "2s", "1e", "2e", "3s"}));
}

CORO_TEST(TaskGroup, Trace47OneAtATimeWithoutALimitOfTheQueue) {
    Steps steps;
    TaskGroup<void> group(TaskLimits{1, 0});
    for (int i = 1; i <= 5; ++i) {
        group.spawn([&steps, i] {
            suspend();
            steps.push_back("task " + std::to_string(i));
        });
        steps.push_back("spawned " + std::to_string(i));
    }
    group.all();
    ASSERT_EQ(steps.size(), 10U);
    EXPECT_EQ(steps[4], "spawned 5");
    EXPECT_EQ(steps[5], "task 1");
    EXPECT_EQ(steps[9], "task 5");
}

CORO_TEST(TaskGroup, FullQueueSuspendsTheSpawner) {
    Steps steps;
    TaskGroup<void> group(TaskLimits{1, 2});
    auto spawner = spawn([&] {
        for (int i = 1; i <= 5; ++i) {
            group.spawn([&steps, i] {
                suspend();
                steps.push_back("task " + std::to_string(i));
            });
            steps.push_back("spawned " + std::to_string(i));
        }
    });
    await(spawner);
    group.all();
    EXPECT_EQ(
        steps, (Steps{
                   "spawned 1", "spawned 2", "spawned 3", "task 1", "spawned 4", "task 2", "spawned 5", "task 3",
                   "task 4", "task 5"})
    );
}

CORO_TEST(TaskGroup, QueueLimitIsTwiceTheConcurrencyIfNotSaid) {
    TaskGroup<void> group(TaskLimits{2, {}});
    int spawned = 0;
    auto spawner = spawn([&] {
        for (int i = 0; i < 20; ++i) {
            group.spawn([] { sleep_for(1ms); });
            ++spawned;
        }
    });
    settle();
    EXPECT_EQ(spawned, 6);
    await(spawner);
    group.all();
    EXPECT_EQ(spawned, 20);
}

CORO_TEST(TaskGroup, NeverMoreThanTheLimitAtOnce) {
    TaskGroup<void> group(TaskLimits{3, 1});
    int running = 0;
    int most = 0;
    std::vector<Handle<void>> spawners;
    for (int i = 0; i < 5; ++i) {
        spawners.push_back(spawn([&] {
            for (int k = 0; k < 10; ++k) {
                group.spawn([&, k] {
                    most = std::max(most, ++running);
                    k % 3 == 0 ? sleep_for(1ms) : suspend();
                    --running;
                });
                EXPECT_LE(group.event().running(), 3U);
            }
        }));
    }
    for (const auto& spawner : spawners) {
        await(spawner);
    }
    EXPECT_EQ(group.all().size(), 50U);
    EXPECT_EQ(most, 3);
}

CORO_TEST(TaskGroup, CancelledSpawnerHandsItsPlaceOn) {
    TaskGroup<int> group(TaskLimits{1, 1});
    group.spawn(after(3, 0));
    group.spawn([] {
        sleep_for(1ms);
        return 1;
    });
    auto first = spawn([&] { group.spawn(after(0, 2)); });
    auto second = spawn([&] { group.spawn(after(0, 3)); });
    settle(2);
    EXPECT_EQ(first.coroutine().awaiting(), (Steps{"TaskGroup(total=2, active=1)"}));
    while (!first.coroutine().is_queued()) {
        suspend();
    }
    first.cancel();  // woken, and not yet on
    settle();
    EXPECT_TRUE(first.is_cancelled());
    EXPECT_TRUE(second.is_finished()) << "at once, not with the next task that ends";
    EXPECT_EQ(show(group.all()), "0=0 1=1 2=3 ");
}

CORO_TEST(TaskGroup, RefusedSpawnerHandsItsPlaceOn) {
    TaskGroup<int> group(TaskLimits{1, 1});
    group.spawn(after(3, 0));
    group.spawn(after(3, 1));
    std::vector<Handle<void>> spawners;
    for (const char* key : {"x", "x", "x", "y"}) {
        spawners.push_back(spawn([&group, key] { group.spawn_with_key(key, after(0, 2)); }));
    }
    await(spawners[0]);
    EXPECT_EQ(thrown_by([&] { await(spawners[1]); }), "Duplicate key \"x\" in TaskGroup");
    EXPECT_EQ(thrown_by([&] { await(spawners[2]); }), "Duplicate key \"x\" in TaskGroup");
    await(spawners[3]);
    EXPECT_EQ(show(group.all()), "0=0 1=1 \"x\"=2 \"y\"=2 ");
}

CORO_TEST(TaskGroup, PlaceOfAWokenSpawnerIsNotTaken) {
    TaskGroup<int> group(TaskLimits{1, 1});
    group.spawn(after(3, 0));
    group.spawn([] {
        sleep_for(1ms);
        return 1;
    });
    auto first = spawn([&] { group.spawn(after(0, 2)); });
    settle(2);
    while (!first.coroutine().is_queued()) {
        suspend();
    }
    group.spawn(after(0, 3));  // comes when the place is promised: waits behind
    EXPECT_TRUE(first.is_finished());
    EXPECT_EQ(show(group.all()), "0=0 1=1 2=2 3=3 ");
}

CORO_TEST(TaskGroup, ClosingRefusesWhoWaitsForAPlace) {
    TaskGroup<int> group(TaskLimits{1, 1});
    group.spawn(after(5, 0));
    group.spawn(after(5, 1));
    auto spawner = spawn([&] { group.spawn(after(0, 2)); });
    settle(2);
    group.close();
    EXPECT_EQ(thrown_by([&] { await(spawner); }), "Cannot spawn tasks on a closed TaskGroup");
    EXPECT_EQ(group.all().size(), 2U);
}

// --- ending

CORO_TEST(TaskGroup, ClosedOneTakesNoMore) {
    TaskGroup<int> group;
    group.spawn(after(0, 1));
    group.close();
    group.close();
    EXPECT_TRUE(group.is_closed());
    EXPECT_EQ(thrown_by([&] { group.spawn(after(0, 2)); }), "Cannot spawn tasks on a closed TaskGroup");
    EXPECT_EQ(show(group.all()), "0=1 ");
    TaskSet<int> set;
    set.close();
    EXPECT_EQ(code_of([&] { set.spawn(after(0, 2)); }), ErrorCode::GroupClosed);
}

CORO_TEST(TaskGroup, AwaitCompletionNeedsAClosedGroup) {
    TaskGroup<int> group;
    group.spawn([]() -> int {
        sleep_for(5ms);
        throw std::runtime_error("E");
    });
    EXPECT_EQ(
        thrown_by([&] { group.await_completion(); }), "TaskGroup must be closed before calling awaitCompletion()"
    );
    group.close();
    EXPECT_THROW(group.await_completion(1ms), TimeoutError);
    group.await_completion();
    EXPECT_TRUE(group.is_finished());
    group.await_completion();
}

CORO_TEST(TaskGroup, CancelIsAsynchronous) {
    TaskGroup<int> group(TaskLimits{2, 0});
    int started = 0;
    for (int i = 0; i < 4; ++i) {
        group.spawn([&] {
            ++started;
            sleep_for(1h);
            return 1;
        });
    }
    suspend();
    group.cancel();
    EXPECT_TRUE(group.is_closed());
    EXPECT_FALSE(group.is_finished());
    group.await_completion();
    EXPECT_TRUE(group.is_finished());
    EXPECT_EQ(started, 2) << "who waited for a slot never starts";
    EXPECT_TRUE(group.results().empty());
    EXPECT_EQ(all_thrown_by([&] { group.all(); }), Steps(4, "cancelled: TaskGroup cancelled"));
    EXPECT_EQ(code_of([&] { group.spawn(after(0, 1)); }), ErrorCode::GroupClosed);
}

CORO_TEST(TaskGroup, CancelBeforeAnybodyRan) {
    TaskGroup<int> group;
    group.spawn([]() -> int {
        ADD_FAILURE() << "never runs";
        return 0;
    });
    group.cancel("enough");
    EXPECT_FALSE(group.is_finished());
    settle();
    EXPECT_TRUE(group.is_finished());
    EXPECT_EQ(all_thrown_by([&] { group.all(); }), (Steps{"cancelled: enough"}));
}

CORO_TEST(TaskGroup, TasksFollowTheSafeFlagOfTheScope) {
    Scope scope;
    scope.allow_zombies();
    TaskGroup<int> group(scope);
    group.spawn(after(3, 7));
    suspend();
    group.cancel();
    group.await_completion();
    EXPECT_EQ(show(group.results()), "0=7 ") << "it had begun and ran on";
}

CORO_TEST(TaskGroup, DisposeEndsTheTasks) {
    TaskGroup<int> group(TaskLimits{1, 0});
    group.spawn(after(100, 1));
    group.spawn(after(100, 2));
    suspend();
    group.dispose();
    EXPECT_FALSE(group.is_finished());
    settle();
    EXPECT_TRUE(group.is_finished());
    EXPECT_EQ(all_thrown_by([&] { group.all(); }), Steps(2, "cancelled: Scope was cancelled"));
}

CORO_TEST(TaskGroup, CancelledParentScopeEndsTheTasks) {
    Scope scope;
    TaskGroup<int> group(scope, TaskLimits{1, 0});
    EXPECT_EQ(group.event().scope().parent(), &scope.event());
    group.spawn(after(100, 1));
    group.spawn(after(100, 2));
    suspend();
    scope.cancel("from above");
    EXPECT_TRUE(group.is_closed());
    EXPECT_EQ(all_thrown_by([&] { group.all(); }).size(), 2U);
}

CORO_TEST(TaskGroup, TasksRunInAChildOfTheRunningScope) {
    Scope scope;
    auto handle = scope.spawn([&] {
        TaskGroup<int> group;
        EXPECT_EQ(group.event().scope().parent(), &scope.event());
        group.spawn([&group] {
            EXPECT_EQ(ScopeEvent::current(), &group.event().scope());
            return 1;
        });
        return group.all().size();
    });
    EXPECT_EQ(await(handle), 1U);
}

CORO_TEST(TaskGroup, ScopeMayGoBeforeTheGroup) {
    TaskGroup<int> group{Scope()};
    group.spawn(after(2, 3));
    EXPECT_EQ(show(group.all()), "0=3 ");
}

CORO_TEST(TaskGroup, DroppingItCancelsWhatRuns) {
    std::string seen;
    {
        TaskGroup<int> group;
        group.spawn([&] {
            seen = thrown_by([] { sleep_for(1h); });
            return 1;
        });
        settle();
    }
    settle();
    EXPECT_EQ(seen, "cancelled: Scope is being disposed due to object destruction");
}

CORO_TEST(TaskGroup, WhoAskedADroppedGroupIsTold) {
    Ref<FutureOf<TaskGroup<int>::Results>> future;
    {
        TaskGroup<int> group;
        group.spawn(after(100, 1));
        future = group.event().all();
        settle(3);
    }
    EXPECT_EQ(wait_future(*future), WaitResult::Failed);
    EXPECT_EQ(future->error()->code(), ErrorCode::Composite);
}

CORO_TEST(TaskGroup, SelfCancelledTaskHasNoResult) {
    TaskGroup<int> group;
    group.spawn([&] {
        group.cancel();
        return 5;
    });
    EXPECT_EQ(all_thrown_by([&] { group.all(); }), (Steps{"cancelled: TaskGroup cancelled"}));
}

CORO_TEST(TaskGroup, ErrorsOfWhatTasksSpawnGoToTheScopes) {
    Steps steps;
    Scope scope;
    scope.on_child_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    TaskGroup<int> group(scope);
    group.spawn([] {
        spawn([] { throw std::runtime_error("E"); });
        return 1;
    });
    EXPECT_EQ(group.all().size(), 1U);
    settle();
    EXPECT_EQ(steps, (Steps{"E"}));
}

// --- finally

CORO_TEST(TaskGroup, Trace11FinallyAfterWhoAwaitedAll) {
    Steps steps;
    TaskGroup<int> group;
    group.spawn(after(1, 1));
    group.finally([&] { steps.emplace_back("finally"); });
    group.close();
    group.all();
    steps.emplace_back("all");
    settle();
    EXPECT_EQ(steps, (Steps{"all", "finally"}));
}

CORO_TEST(TaskGroup, FinallyNeedsBothClosedAndSettled) {
    int calls = 0;
    TaskGroup<int> group;
    group.finally([&] { ++calls; });
    group.spawn(after(1, 1));
    group.all();
    settle();
    EXPECT_EQ(calls, 0);
    group.close();
    EXPECT_EQ(calls, 0) << "in a coroutine of its own";
    settle();
    EXPECT_EQ(calls, 1);
    group.finally([&] { ++calls; });
    EXPECT_EQ(calls, 2) << "at once";
}

CORO_TEST(TaskGroup, SetIsEmptyWhenItsFinallyRuns) {
    std::size_t count = 9;
    TaskSet<int> set;
    set.spawn(after(1, 1));
    set.finally([&] { count = set.count(); });
    set.close();
    set.join_all();
    settle();
    EXPECT_EQ(count, 0U);
}

CORO_TEST(TaskGroup, FinallyErrorsGoToTheScope) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    TaskGroup<int> group(scope);
    group.finally([] { throw std::runtime_error("E"); });
    group.close();
    settle();
    EXPECT_EQ(steps, (Steps{"E"}));
}

// --- iteration

CORO_TEST(TaskGroup, OutcomesInTheOrderTheyCome) {
    TaskGroup<int> group;
    group.spawn(after(3, 1));
    group.spawn_with_key("bad", failing(1, "E"));
    group.spawn(after(0, 3));
    group.close();
    Steps steps;
    auto outcomes = group.outcomes();
    while (auto outcome = outcomes.next()) {
        steps.push_back(
            to_string(outcome->key) + ":" +
            (outcome->error != nullptr ? what(outcome->error) : std::to_string(*outcome->value))
        );
    }
    EXPECT_EQ(steps, (Steps{"1:3", "\"bad\":E", "0:1"}));
    EXPECT_EQ(group.count(), 3U);
    auto again = group.outcomes();
    EXPECT_EQ(again.next()->key, TaskKey(1)) << "another reader begins anew";
}

CORO_TEST(TaskGroup, ReaderOfAnOpenGroupWaits) {
    TaskGroup<int> group;
    auto outcomes = group.outcomes();
    EXPECT_THROW(outcomes.next(1ms), TimeoutError);
    auto reader = spawn([&] { return outcomes.next().has_value(); });
    settle();
    group.close();
    EXPECT_FALSE(await(reader));
}

CORO_TEST(TaskSet, JoinAllThatIsCancelledTooLateLosesNothing) {
    for (const bool fails : {false, true}) {
        TaskSet<int> set;
        ManualEvent go;
        set.spawn([&] {
            await(go);
            return fails ? throw std::runtime_error("in vain") : 1;
        });
        set.spawn([] { return 2; });
        std::size_t results = 0;
        bool has_failed = false;
        bool is_cancelled = false;
        auto joiner = spawn([&] {
            try {
                results = set.join_all().size();
            } catch (const CompositeException&) {
                has_failed = true;
            }
            try {
                suspend();
            } catch (const Cancellation&) {
                is_cancelled = true;
            }
        });
        settle();
        go.notify();  // the task runs first, then who cancels, then who was woken by the task
        auto other = spawn([&] { joiner.cancel(); });
        await(joiner);
        EXPECT_EQ(results, fails ? 0U : 2U);
        EXPECT_EQ(has_failed, fails);
        EXPECT_TRUE(is_cancelled);
        EXPECT_EQ(set.count(), 0U);
        await(other);
    }
}

}  // namespace
}  // namespace trueasync::testing
