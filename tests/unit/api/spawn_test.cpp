#include <trueasync/api/spawn.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Spawn, ReturnsAtOnceAndBeginsWhenTheCallerSuspends) {
    std::vector<std::string> steps;
    auto handle = spawn([&] { steps.emplace_back("coroutine"); });
    steps.emplace_back("caller");
    EXPECT_FALSE(handle.is_finished());
    suspend();
    EXPECT_TRUE(handle.is_finished());
    EXPECT_EQ(steps, (std::vector<std::string>{"caller", "coroutine"}));
}

CORO_TEST(Spawn, ResultIsAwaited) {
    /// [spawn_await]
    auto answer = spawn([] {
        sleep_for(10ms);
        return 42;
    });
    // ... other work ...
    const int value = await(answer);
    /// [spawn_await]
    EXPECT_EQ(value, 42);
}

CORO_TEST(Spawn, BeginInTheOrderTheyWereSpawned) {
    std::vector<int> order;
    for (int i = 0; i < 5; ++i) {
        spawn([&order, i] { order.push_back(i); });
    }
    suspend();
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

CORO_TEST(Spawn, Nothing) {
    Handle<void> handle = spawn([] {});
    static_assert(std::is_void_v<decltype(await(handle))>);
    await(handle);
}

CORO_TEST(Spawn, Values) {
    auto number = spawn([] { return 7; });
    auto text = spawn([] { return std::string(100, 'x'); });
    EXPECT_EQ(await(number), 7);
    EXPECT_EQ(await(text), std::string(100, 'x'));
    EXPECT_EQ(await(text), std::string(100, 'x')) << "everyone who asks gets it";
}

CORO_TEST(Spawn, ConstValue) {
    auto handle = spawn([]() -> const std::string { return "fixed"; });
    EXPECT_EQ(await(handle), "fixed");
}

CORO_TEST(Spawn, WhatCanOnlyBeMovedGoesToWhoeverAsksFirst) {
    auto handle = spawn([] { return std::make_unique<int>(5); });
    const std::unique_ptr<int> first = await(handle);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(*first, 5);
    EXPECT_EQ(await(handle), nullptr);
}

CORO_TEST(Spawn, References) {
    int target = 1;
    auto handle = spawn([&]() -> int& { return target; });
    static_assert(std::is_same_v<decltype(await(handle)), int&>);
    int& reference = await(handle);
    EXPECT_EQ(&reference, &target);
    auto constant = spawn([&]() -> const int& { return target; });
    EXPECT_EQ(&await(constant), &target);
}

int free_function() { return 3; }

CORO_TEST(Spawn, AnyCallable) {
    struct Functor {
        int operator()() { return ++value; }
        int value = 1;
    };
    const std::function<int()> function = [] { return 4; };
    EXPECT_EQ(await(spawn(free_function)), 3);
    EXPECT_EQ(await(spawn(&free_function)), 3);
    EXPECT_EQ(await(spawn(Functor{})), 2);
    EXPECT_EQ(await(spawn(function)), 4);
    EXPECT_EQ(await(spawn([owned = std::make_unique<int>(6)] { return *owned; })), 6);
    EXPECT_EQ(await(spawn([n = 1]() mutable { return ++n; })), 2);
}

CORO_TEST(Spawn, CopiesALvalueCallable) {
    auto data = std::make_shared<int>(1);
    auto function = [data] { return *data; };
    auto handle = spawn(function);
    EXPECT_EQ(data.use_count(), 3);
    EXPECT_EQ(await(handle), 1);
    EXPECT_EQ(data.use_count(), 2);
}

CORO_TEST(Spawn, CapturesGoWhenTheCoroutineEnds) {
    auto data = std::make_shared<int>(1);
    auto handle = spawn([data] { suspend(); });
    suspend();
    EXPECT_EQ(data.use_count(), 2);
    await(handle);
    EXPECT_EQ(data.use_count(), 1) << "the handle holds the result, not the function";
    EXPECT_TRUE(handle.is_finished());
}

CORO_TEST(Spawn, CapturesGoWhenTheCoroutineFails) {
    auto data = std::make_shared<int>(1);
    auto handle = spawn([data] {
        suspend();
        throw std::runtime_error("failed");
    });
    EXPECT_THROW(await(handle), std::runtime_error);
    EXPECT_EQ(data.use_count(), 1);
}

CORO_TEST(Spawn, CapturesGoWhenItIsCancelledBeforeItBegins) {
    auto data = std::make_shared<int>(1);
    auto handle = spawn([data] { FAIL() << "must not begin"; });
    handle.cancel();
    settle();
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_EQ(data.use_count(), 1);
}

CORO_TEST(Spawn, CapturesMayUseTheRuntimeWhenTheyGo) {
    struct Last {
        explicit Last(int& count_) : count(&count_) {}
        Last(Last&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
        ~Last() {
            if (count != nullptr) {
                ++*count;
                suspend();
            }
        }
        int* count;
    };
    int ended = 0;
    auto handle = spawn([last = Last(ended)] {});
    await(handle);
    EXPECT_EQ(ended, 1);
}

CORO_TEST(Spawn, RunsOnWithoutItsHandle) {
    bool has_run = false;
    spawn([&] {
        sleep_for(10ms);
        has_run = true;
    });
    sleep_for(20ms);
    EXPECT_TRUE(has_run);
}

CORO_TEST(Spawn, CopiesOfAHandleMeanTheSameCoroutine) {
    auto handle = spawn([] { return 1; });
    const auto copy = handle;
    EXPECT_EQ(copy.id(), handle.id());
    EXPECT_EQ(await(copy), 1);
    EXPECT_TRUE(handle.is_finished());
    EXPECT_TRUE(static_cast<bool>(handle));
    EXPECT_FALSE(static_cast<bool>(Handle<int>()));
}

CORO_TEST(Spawn, IdsAreDistinctAndRising) {
    auto first = spawn([] {});
    auto second = spawn([] {});
    EXPECT_GT(first.id(), current().id());
    EXPECT_GT(second.id(), first.id());
}

CORO_TEST(Spawn, NamesShowInDumps) {
    auto handle = spawn([] {}).named("cleaner");
    EXPECT_EQ(handle.coroutine().name(), "cleaner");
    EXPECT_NE(dump().find("'cleaner' (not started)"), std::string::npos) << dump();
    EXPECT_NE(handle.coroutine().info().find("Coroutine 2 'cleaner' spawned at "), std::string::npos);
}

CORO_TEST(Spawn, RemembersWhereItWasSpawned) {
    const unsigned line = __LINE__ + 1;
    auto handle = spawn([] {});
    EXPECT_EQ(handle.coroutine().spawned_at().line, line);
    EXPECT_NE(handle.coroutine().spawned_at().file.find("spawn_test.cpp"), std::string_view::npos);
}

CORO_TEST(Spawn, GivesStacksBack) {
    const std::size_t before = live_stacks();
    std::vector<Handle<void>> handles;
    for (int i = 0; i < 100; ++i) {
        handles.push_back(spawn([] { suspend(); }));
    }
    suspend();
    EXPECT_GE(live_stacks(), before + 100);
    for (const auto& handle : handles) {
        await(handle);
    }
    EXPECT_EQ(live_stacks(), before);
}

CORO_TEST(Spawn, DeeplyNested) {
    std::function<int(int)> count = [&](int depth) {
        return depth == 0 ? 0 : 1 + await(spawn([&, depth] { return count(depth - 1); }));
    };
    EXPECT_EQ(count(200), 200);
}

CORO_TEST(Spawn, ThousandsAtOnce) {
    int finished = 0;
    std::vector<Handle<void>> handles;
    for (int i = 0; i < 2000; ++i) {  // the thread sanitizer has room for 8000
        handles.push_back(spawn([&, i] {
            sleep_for((i % 10) * 1ms);
            ++finished;
        }));
    }
    for (const auto& handle : handles) {
        await(handle);
    }
    EXPECT_EQ(finished, 2000);
}

CORO_TEST(Spawn, CallableThatCannotBeCopiedLeavesNothingBehind) {
    struct Throws {
        Throws() = default;
        Throws(const Throws& /*other*/) { throw std::runtime_error("no copy"); }
        void operator()() const {}
    };
    const Throws throws;
    const StackPoolStats before = scheduler().stacks().stats();
    const std::size_t alive = scheduler().alive_count();
    for (int i = 0; i < 1000; ++i) {
        EXPECT_THROW(spawn(throws), std::runtime_error);
    }
    EXPECT_EQ(scheduler().alive_count(), alive);
    EXPECT_EQ(scheduler().stacks().stats().slabs, before.slabs) << "promised stacks were not given back";
}

CORO_TEST(Spawn, HandleMayGoWhileSomebodyJoins) {
    auto result = std::make_shared<int>(7);
    std::optional<Handle<std::shared_ptr<int>>> handle = spawn([result] {
        suspend();
        return result;
    });
    auto joiner = spawn([&] { return *await(*handle); });
    suspend();
    handle.reset();                        // the joiner has begun to wait
    auto busy = spawn([] { suspend(); });  // so that the end does not switch to the joiner directly
    EXPECT_EQ(await(joiner), 7);
    await(busy);
    EXPECT_EQ(result.use_count(), 1) << "the result went with the coroutine";
}

CORO_TEST(Spawn, JoinerThatGetsAHandlerMeanwhileGetsTheResultToo) {
    ManualEvent event;
    auto child = spawn([&] {
        await(event);
        return 9;
    });
    auto joiner = spawn([&] {
        suspend();  // from here on joins take the short way
        return await(child);
    });
    suspend();
    suspend();
    EXPECT_EQ(child.coroutine().callback_count(), 1U);
    joiner.coroutine().add_switch_handler({[](Coroutine&, SwitchKind, void*) { return true; }, nullptr});
    event.notify();
    EXPECT_EQ(await(joiner), 9);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

CORO_TEST(Spawn, JoinThatIsCancelledGivesNothingUp) {
    ManualEvent event;
    auto child = spawn([&] {
        await(event);
        return 3;
    });
    auto joiner = spawn([&] {
        suspend();  // the first stop takes the long way
        await(child);
    });
    suspend();
    suspend();
    EXPECT_EQ(child.coroutine().callback_count(), 1U);
    const std::uint32_t references = child.coroutine().ref_count();
    joiner.cancel();
    EXPECT_THROW(await(joiner), Cancellation);
    EXPECT_EQ(child.coroutine().callback_count(), 0U);
    EXPECT_EQ(child.coroutine().ref_count(), references) << "a join is lent the runtime's reference";
    event.notify();
    EXPECT_EQ(await(child), 3);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

CORO_TEST(Spawn, ManyJoinersAndAnEventWaiterGetTheResult) {
    auto child = spawn([] {
        suspend();
        return 5;
    });
    std::vector<Handle<int>> joiners;
    for (int i = 0; i < 3; ++i) {
        joiners.push_back(spawn([&] { return await(child); }));
    }
    auto other = spawn([&] { await(static_cast<Event&>(child.coroutine())); });
    for (auto& joiner : joiners) {
        EXPECT_EQ(await(joiner), 5);
    }
    await(other);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

RUNTIME_TEST(Spawn, OutsideARunIsRefused) {
    EXPECT_EQ(code_of([] { spawn([] {}); }), ErrorCode::NotRunning);
}

CORO_TEST(Spawn, DuringAShutdownIsRefused) {
    auto data = std::make_shared<int>(1);
    shutdown();
    EXPECT_EQ(code_of([&] { spawn([data] {}); }), ErrorCode::ShuttingDown);
    EXPECT_EQ(data.use_count(), 1) << "a refused function is dropped";
}

}  // namespace
}  // namespace trueasync::testing
