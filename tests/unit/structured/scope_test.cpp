#include <trueasync/structured/scope.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <support/allocation_counter.hpp>
#include <support/coro_test.hpp>
#include <support/fake_events.hpp>
#include <support/runtime_fakes.hpp>
#include <trueasync/api/scope.hpp>

namespace trueasync::testing {
namespace {

using Steps = std::vector<std::string>;

std::string text_of(const Ref<Error>& error) { return error != nullptr ? error->message() : "none"; }

/// A channel's stand-in: attached to a scope, wakes who waits for it when that goes.
class FakeChannel final : public Dependent {
public:
    explicit FakeChannel(Owner& owner) { owner.attach(*this); }
    void owner_gone() noexcept override {
        is_closed = true;
        const Ref<Error> error = Error::make(ErrorCode::ChannelClosed);
        event->notify(nullptr, error.get()).ignore();
    }
    /// What a wait for it says.
    std::string recv() {
        const WaitResult result = wait_for(*event);
        return result == WaitResult::Ready ? "value" : text_of(Scheduler::take_wait_error());
    }

    bool is_closed = false;
    Ref<ManualEvent> event = ManualEvent::create();
};

CORO_TEST(ScopeEvent, CoreWithoutAFrontDoor) {
    /// [scope_core]
    Ref<ScopeEvent> scope = ScopeEvent::create(nullptr, Place("demo.cpp", 12));
    const auto coroutine = make_coroutine([] { suspend(); });
    ASSERT_TRUE(Scheduler::current()->spawn(*coroutine, scope.get()));
    ASSERT_EQ(scope->await_completion(), WaitResult::Ready);
    scope->handle_dropped();
    /// [scope_core]
    EXPECT_TRUE(scope->is_closed());
    EXPECT_EQ(scope->info(), "Scope #" + std::to_string(scope->id()) + " created at demo.cpp:12");
    EXPECT_EQ(scope->type(), EventType::Scope);
}

CORO_TEST(ScopeEvent, IdsDiffer) {
    const std::uint64_t first = ScopeEvent::create()->id();
    EXPECT_EQ(ScopeEvent::create()->id(), first + 1);
    EXPECT_NE(ScopeEvent::create()->info().find("created at unknown"), std::string::npos);
}

CORO_TEST(ScopeEvent, FreshOneIsFinishedAndOpen) {
    const auto scope = ScopeEvent::create();
    EXPECT_TRUE(scope->is_finished());
    EXPECT_FALSE(scope->is_closed());
    EXPECT_FALSE(scope->is_cancelled());
    EXPECT_FALSE(scope->is_safe());
    EXPECT_EQ(scope->await_completion(), WaitResult::Ready);
}

CORO_TEST(ScopeEvent, SpawnInsideGoesToTheSameScopeHoweverDeep) {
    Scope scope;
    Scope* const inside = &scope;
    scope.spawn([inside] {
        EXPECT_EQ(ScopeEvent::current(), &inside->event());
        spawn([inside] {
            suspend();
            spawn([inside] { EXPECT_EQ(ScopeEvent::current(), &inside->event()); });
        });
    });
    EXPECT_EQ(ScopeEvent::current(), nullptr);
    scope.await_completion();
}

CORO_TEST(ScopeEvent, InheritMakesAChildOfTheRunningScope) {
    Scope scope;
    scope.spawn([&] {
        const Scope child = Scope::inherit();
        EXPECT_EQ(child.event().parent(), &scope.event());
        const Scope other;
        EXPECT_EQ(other.event().parent(), nullptr);
    });
    scope.await_completion();
    EXPECT_EQ(Scope::inherit().event().parent(), nullptr);
}

CORO_TEST(ScopeEvent, ChildrenCopyTheSafeFlagWhenTheyAreMade) {
    Scope parent;
    parent.allow_zombies();
    const Scope child = Scope::inherit(parent);
    parent.as_not_safely();
    EXPECT_TRUE(child.event().is_safe());
    EXPECT_FALSE(Scope::inherit(parent).event().is_safe());
}

CORO_TEST(ScopeEvent, ChildrenAreListedWhileTheyLive) {
    Scope parent;
    std::vector<const ScopeEvent*> seen;
    const auto list = [&] {
        seen.clear();
        parent.event().each_child([&](ScopeEvent& child) { seen.push_back(&child); });
        return seen;
    };
    {
        const Scope first = Scope::inherit(parent);
        const Scope second = Scope::inherit(parent);
        EXPECT_EQ(list(), (std::vector<const ScopeEvent*>{&first.event(), &second.event()}));
    }
    EXPECT_TRUE(list().empty());
}

CORO_TEST(ScopeEvent, ChildKeepsItsParent) {
    auto parent = ScopeEvent::create();
    const auto child = ScopeEvent::create(parent.get());
    EXPECT_EQ(parent->ref_count(), 2U);
    parent.reset();
    EXPECT_NE(child->parent(), nullptr);
}

CORO_TEST(ScopeEvent, OutlivesItsCoroutines) {
    auto scope = ScopeEvent::create();
    ScopeEvent* const address = scope.get();
    const auto coroutine = make_coroutine([address] {
        suspend();
        EXPECT_EQ(ScopeEvent::current(), address);
    });
    ASSERT_TRUE(scheduler().spawn(*coroutine, scope.get()));
    scope.reset();
    settle();
    EXPECT_TRUE(coroutine->is_finished());
    EXPECT_EQ(coroutine->owner(), nullptr) << "who keeps the handle does not keep the scope";
}

CORO_TEST(ScopeEvent, ManyMembersComeAndGo) {
    Scope scope;
    std::vector<int> order;
    std::vector<Handle<void>> handles;
    for (int i = 0; i < 500; ++i) {
        handles.push_back(scope.spawn([&order, i] {
            if (i % 7 != 0) {
                return;
            }
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                order.push_back(i);
            }
        }));
    }
    settle(2);
    std::size_t count = 0;
    scope.event().each_coroutine([&](Coroutine&) { ++count; });
    EXPECT_EQ(count, 72U);
    scope.cancel();
    settle();
    ASSERT_EQ(order.size(), 72U);
    EXPECT_TRUE(std::ranges::is_sorted(order)) << "in the order they were spawned";
    EXPECT_TRUE(scope.is_closed());
}

CORO_TEST(ScopeEvent, AdoptingAllocatesNothingForOneMoreMember) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "this build has an operator new of its own";
    }
    Scope scope;
    for (int i = 0; i < 100; ++i) {
        scope.spawn([] {});
    }
    scope.await_completion();
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) {
        scope.spawn([] {});
    }
    scope.await_completion();
    EXPECT_EQ(counter.count(), 0U);
}

// --- closing

CORO_TEST(ScopeEvent, ClosedScopeRefusesCoroutines) {
    for (const int how : {0, 1, 2}) {
        Scope scope;
        how == 0 ? scope.cancel() : how == 1 ? scope.dispose() : scope.dispose_safely();
        try {
            scope.spawn([] { FAIL(); });
            FAIL() << how;
        } catch (const AsyncError& error) {
            EXPECT_EQ(error.code(), ErrorCode::ScopeClosed);
            EXPECT_STREQ(error.what(), "Cannot spawn a coroutine in a closed scope");
        }
        EXPECT_TRUE(scope.is_cancelled());
        EXPECT_TRUE(scope.is_closed()) << "it was empty";
        EXPECT_TRUE(scope.is_finished());
    }
}

CORO_TEST(ScopeEvent, BusyScopeIsCancelledAtOnceAndClosedWithItsLastCoroutine) {
    Scope scope;
    const auto handle = scope.spawn([] { suspend(); });
    suspend();
    scope.cancel();
    EXPECT_TRUE(scope.is_cancelled());
    EXPECT_FALSE(scope.is_closed());
    EXPECT_FALSE(scope.is_finished());
    EXPECT_TRUE(handle.coroutine().is_cancel_requested());
    settle();
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_EQ(handle.coroutine().error()->message(), "Scope was cancelled");
    EXPECT_TRUE(scope.is_closed());
    EXPECT_TRUE(scope.is_finished());
}

CORO_TEST(ScopeEvent, EverybodyGetsTheSameCancellation) {
    Scope scope;
    const Scope child = Scope::inherit(scope);
    const auto error = Error::cancellation(CancelReason::UserRequest, "enough");
    const auto one = scope.spawn([] { sleep_for(1h); });
    const auto two = const_cast<Scope&>(child).spawn([] { sleep_for(1h); });
    settle();
    scope.event().cancel(error);
    settle();
    EXPECT_EQ(one.coroutine().error(), error.get());
    EXPECT_EQ(two.coroutine().error(), error.get());
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_TRUE(child.is_closed());
}

CORO_TEST(ScopeEvent, CancellationGoesDownOnly) {
    Scope parent;
    Scope child = Scope::inherit(parent);
    Scope sibling = Scope::inherit(parent);
    const auto above = parent.spawn([] { sleep_for(1ms); });
    const auto beside = sibling.spawn([] { sleep_for(1ms); });
    const auto below = child.spawn([] { sleep_for(1ms); });
    settle();
    child.cancel();
    EXPECT_FALSE(parent.is_cancelled());
    EXPECT_FALSE(sibling.is_cancelled());
    parent.await_completion();
    EXPECT_FALSE(above.is_cancelled());
    EXPECT_FALSE(beside.is_cancelled());
    EXPECT_TRUE(below.is_cancelled());
}

CORO_TEST(ScopeEvent, ChildOfACancelledScopeIsClosedFromTheStart) {
    Scope parent;
    parent.cancel();
    Scope child = Scope::inherit(parent);
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_TRUE(child.is_closed());
    EXPECT_EQ(code_of([&] { child.spawn([] {}); }), ErrorCode::ScopeClosed);
}

CORO_TEST(ScopeEvent, CancelledCoroutineDoesNotCancelItsScope) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(1h); });
    settle();
    handle.cancel();
    settle();
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_FALSE(scope.is_cancelled());
    EXPECT_TRUE(scope.is_finished());
}

CORO_TEST(ScopeEvent, OrderOfACancellationIsChildrenFirstThenItsOwn) {
    Steps steps;
    const auto body = [&steps](std::string name) {
        return [&steps, name] {
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                steps.push_back(name);
            }
        };
    };
    Scope scope;
    Scope child = Scope::inherit(scope);
    Scope grandchild = Scope::inherit(child);
    Scope second = Scope::inherit(scope);
    scope.spawn(body("own 1"));
    child.spawn(body("child"));
    scope.spawn(body("own 2"));
    second.spawn(body("second"));
    grandchild.spawn(body("grandchild"));
    settle();
    scope.cancel();
    settle();
    EXPECT_EQ(steps, (Steps{"grandchild", "child", "second", "own 1", "own 2"}));
}

CORO_TEST(ScopeEvent, QueuedCoroutinesKeepTheirPlace) {
    Steps steps;
    const auto body = [&steps](std::string name) {
        return [&steps, name] {
            try {
                suspend();
            } catch (const Cancellation&) {
                steps.push_back(name);
            }
        };
    };
    Scope scope;
    Scope child = Scope::inherit(scope);
    scope.spawn(body("own"));
    child.spawn(body("child"));
    suspend();
    scope.cancel();
    settle();
    EXPECT_EQ(steps, (Steps{"own", "child"}));
}

CORO_TEST(ScopeEvent, Trace14CoroutineMayCancelItsOwnScope) {
    Steps steps;
    Scope scope;
    auto handle = scope.spawn([&] {
        steps.emplace_back("a");
        suspend();
        steps.emplace_back("b");
        scope.cancel();
        steps.emplace_back("d");
        return 5;
    });
    EXPECT_THROW(await(handle), Cancellation);
    EXPECT_EQ(steps, (Steps{"a", "b", "d"}));
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_TRUE(scope.is_cancelled());
    EXPECT_TRUE(scope.is_closed());
}

CORO_TEST(ScopeEvent, SecondCancelDoesNotDisturbWhoCleansUp) {
    Scope scope;
    bool is_clean = false;
    scope.spawn([&] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            sleep_for(1ms);
            is_clean = true;
        }
    });
    settle();
    scope.cancel();
    settle();
    scope.cancel();
    scope.await_after_cancellation();
    EXPECT_TRUE(is_clean);
}

// --- zombies

CORO_TEST(ScopeEvent, Trace15SafeScopeLetsWhatHasBegunRunOn) {
    Steps steps;
    Scope scope;
    scope.allow_zombies();
    for (const char* name : {"a", "b"}) {
        scope.spawn([&steps, name] {
            suspend();
            suspend();
            steps.emplace_back(name);
        });
    }
    suspend();
    const auto late = scope.spawn([&] { steps.emplace_back("never"); });
    scope.cancel();
    auto waiter = spawn([&] {
        scope.await_after_cancellation();
        steps.emplace_back("waiter");
    });
    EXPECT_TRUE(late.coroutine().is_cancel_requested()) << "not begun: never runs";
    await(waiter);
    EXPECT_EQ(steps, (Steps{"a", "b", "waiter"}));
    EXPECT_TRUE(scope.is_finished());
    EXPECT_TRUE(scope.is_closed());
    EXPECT_TRUE(late.is_cancelled());
}

/// Somebody is in the middle of calling it.
class Called final : public HelperBody {
public:
    explicit Called(bool& has_run) : has_run_(has_run) {}
    Ref<Error> run() override {
        has_run_ = true;
        return {};
    }
    bool is_called() const noexcept override { return true; }

private:
    bool& has_run_;
};

CORO_TEST(ScopeEvent, WhatIsCalledHasBegunForASafeScope) {
    for (const bool is_safe : {true, false}) {
        Scope scope;
        is_safe ? scope.allow_zombies() : scope.as_not_safely();
        bool has_run = false;
        Ref<Coroutine> made;
        ASSERT_TRUE(Scheduler::current()->spawn_helper(
            std::make_unique<Called>(has_run), Place(), Priority::Normal, &scope.event(), &made
        ));
        EXPECT_FALSE(made->is_started());
        scope.cancel();
        EXPECT_EQ(scope.event().is_zombie(*made), is_safe);
        settle();
        EXPECT_EQ(has_run, is_safe);
        EXPECT_EQ(made->is_cancelled(), !is_safe);
        EXPECT_TRUE(scope.is_closed());
    }
}

CORO_TEST(ScopeEvent, ZombiesAreNotActive) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(10ms); });
    settle();
    scope.dispose_safely();
    EXPECT_TRUE(scope.event().is_zombie(handle.coroutine()));
    EXPECT_TRUE(scope.is_finished());
    EXPECT_FALSE(scope.is_closed());
    EXPECT_TRUE(scope.is_cancelled());
    EXPECT_FALSE(handle.coroutine().is_cancel_requested());
    await(handle);
    EXPECT_TRUE(scope.is_closed());
}

CORO_TEST(ScopeEvent, ZombiesDoNotHoldUpTheParentsCompletion) {
    Scope parent;
    Scope child = Scope::inherit(parent);
    child.allow_zombies();
    const auto zombie = child.spawn([] { sleep_for(10ms); });
    auto waiter = spawn([&] { parent.await_completion(); });
    settle();
    child.dispose_safely();
    settle();
    EXPECT_TRUE(waiter.is_finished());
    EXPECT_FALSE(zombie.is_finished());
    parent.cancel();
    settle();
    EXPECT_FALSE(parent.is_closed()) << "not before the zombie";
    await(zombie);
    EXPECT_TRUE(parent.is_closed());
}

CORO_TEST(ScopeEvent, ZombieCannotSpawnIntoItsScope) {
    Scope scope;
    ErrorCode code = ErrorCode::System;
    scope.spawn([&] {
        suspend();
        code = code_of([] { spawn([] {}); });
    });
    suspend();
    scope.dispose_safely();
    settle();
    EXPECT_EQ(code, ErrorCode::ScopeClosed);
}

CORO_TEST(ScopeEvent, CancelAfterSafeDisposalReachesZombiesOfAScopeThatIsNotSafe) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(1h); });
    settle();
    scope.dispose_safely();
    settle();
    EXPECT_FALSE(handle.is_finished());
    scope.cancel();
    settle();
    EXPECT_TRUE(handle.is_cancelled());
}

CORO_TEST(ScopeEvent, NamesWhatDidNotStop) {
    Scope scope;
    Scope child = Scope::inherit(scope);
    scope.allow_zombies();
    scope.spawn([] { sleep_for(1ms); }).named("stubborn");
    child.allow_zombies();
    child.spawn([] { sleep_for(1ms); }).named("deep");
    settle();
    scope.cancel();
    const auto lines = scope.event().unfinished();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_NE(lines[0].find("'stubborn'"), std::string::npos);
    EXPECT_NE(lines[1].find("'deep'"), std::string::npos);
    scope.await_after_cancellation();
    EXPECT_TRUE(scope.event().unfinished().empty());
}

// --- dependents

CORO_TEST(ScopeEvent, ChannelsCloseBeforeCoroutinesResume) {
    Steps steps;
    Scope scope;
    FakeChannel channel(scope.event());
    scope.spawn([&] {
        steps.push_back(channel.recv());
        try {
            suspend();
        } catch (const Cancellation&) {
            steps.emplace_back("then cancelled");
        }
    });
    auto other = scope.spawn([&] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            EXPECT_TRUE(channel.is_closed);
            steps.emplace_back("cancelled");
        }
    });
    settle();
    scope.cancel();
    EXPECT_TRUE(channel.is_closed);
    settle();
    EXPECT_EQ(steps, (Steps{"Channel is closed", "then cancelled", "cancelled"}));
}

CORO_TEST(ScopeEvent, ChannelOfTheParentIsSeenByTheChildToo) {
    Scope scope;
    Scope child = Scope::inherit(scope);
    FakeChannel channel(scope.event());
    std::string seen;
    const auto handle = child.spawn([&] { seen = channel.recv(); });
    settle();
    scope.cancel();
    settle();
    EXPECT_EQ(seen, "Channel is closed");
    EXPECT_TRUE(handle.coroutine().is_cancel_requested());
    EXPECT_TRUE(handle.is_cancelled()) << "it did not suspend again, so it ends as cancelled";
}

CORO_TEST(ScopeEvent, WhatHadAValueAlreadyIsCancelledInstead) {
    Scope scope;
    FakeChannel channel(scope.event());
    std::string seen;
    scope.spawn([&] { seen = channel.recv(); });
    settle();
    channel.event->notify();
    scope.cancel();
    settle();
    EXPECT_EQ(seen, "Scope was cancelled");
}

CORO_TEST(ScopeEvent, ZombiesSeeTheChannelCloseToo) {
    Scope scope;
    scope.allow_zombies();
    FakeChannel channel(scope.event());
    std::string seen;
    const auto handle = scope.spawn([&] { seen = channel.recv(); });
    settle();
    scope.cancel();
    settle();
    EXPECT_EQ(seen, "Channel is closed");
    EXPECT_FALSE(handle.is_cancelled());
}

CORO_TEST(ScopeEvent, DroppingAnIdleScopeClosesItsChannels) {
    std::optional<Scope> scope(std::in_place);
    FakeChannel channel(scope->event());
    scope.reset();
    EXPECT_TRUE(channel.is_closed);
}

// --- destruction

CORO_TEST(ScopeEvent, DroppingTheHandleCancels) {
    std::optional<Scope> scope(std::in_place);
    const auto handle = scope->spawn([] { sleep_for(1h); });
    settle();
    scope.reset();
    settle();
    ASSERT_TRUE(handle.is_cancelled());
    EXPECT_EQ(handle.coroutine().error()->message(), "Scope is being disposed due to object destruction");
}

CORO_TEST(ScopeEvent, DroppingTheHandleOfASafeScopeMakesZombies) {
    std::optional<Scope> scope(std::in_place);
    scope->allow_zombies();
    const auto handle = scope->spawn([] { suspend(); });
    suspend();
    const auto late = scope->spawn([] {});
    scope.reset();
    settle();
    EXPECT_FALSE(handle.is_cancelled());
    EXPECT_TRUE(handle.is_finished());
    EXPECT_TRUE(late.is_cancelled());
}

CORO_TEST(ScopeEvent, ChildOfAnIdleScopeThatWasDroppedGoesOn) {
    Scope child = Scope::inherit(Scope());
    int runs = 0;
    child.spawn([&] { ++runs; });
    child.await_completion();
    EXPECT_EQ(runs, 1);
    EXPECT_FALSE(child.is_cancelled());
}

CORO_TEST(ScopeEvent, DroppingAParentCancelsBusyChildren) {
    std::optional<Scope> parent(std::in_place);
    Scope child = Scope::inherit(*parent);
    const auto handle = child.spawn([] { sleep_for(1h); });
    settle();
    parent.reset();
    settle();
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_TRUE(child.is_closed());
}

RUNTIME_TEST(ScopeEvent, MayOutliveTheRuntime) {
    std::optional<Scope> scope(std::in_place);
    bool is_told = false;
    in_runtime([&] {
        scope->spawn([] { suspend(); });
        scope->dispose_after(1h);
        scope->finally([&] { is_told = true; });
    });
    EXPECT_FALSE(is_told);
    scope.reset();
    EXPECT_TRUE(is_told);
}

RUNTIME_TEST(ScopeEvent, ShutdownEndsItsCoroutines) {
    Scope scope;
    Steps steps;
    in_runtime([&] {
        scope.spawn([&] { sleep_for(1h); }).finally([&] { steps.emplace_back("coroutine"); });
        scope.finally([&] { steps.emplace_back("scope"); });
        settle();
        scope.dispose_safely();
        shutdown();
    });
    EXPECT_EQ(steps, (Steps{"coroutine", "scope"}));
    EXPECT_TRUE(scope.is_closed());
}

CORO_TEST(ScopeEvent, LivesInStorageOfTheHost) {
    FakeCollector host;
    auto& parent = host.make<ScopeEvent>(nullptr, Place("host.php", 3));
    auto& child = host.make<ScopeEvent>(&parent);
    const auto coroutine = make_coroutine([] { suspend(); });
    ASSERT_TRUE(scheduler().spawn(*coroutine, &child));
    parent.release();
    child.release();
    EXPECT_EQ(host.sweep(), 0U) << "its coroutine holds it";
    settle();
    EXPECT_TRUE(coroutine->is_finished());
    EXPECT_EQ(host.sweep(), 2U);
}

}  // namespace
}  // namespace trueasync::testing
