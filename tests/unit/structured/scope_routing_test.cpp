#include <trueasync/structured/scope.hpp>

#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>
#include <support/runtime_fakes.hpp>
#include <support/thrown.hpp>
#include <trueasync/api/scope.hpp>

namespace trueasync::testing {
namespace {

const auto fail_with = [](const char* text) { return [text] { throw std::runtime_error(text); }; };

// --- handlers

CORO_TEST(ScopeRouting, AwaitersComeFirst) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr) { steps.emplace_back("handler"); });
    auto handle = scope.spawn(fail_with("E"));
    EXPECT_EQ(thrown_by([&] { await(handle); }), "E");
    EXPECT_TRUE(steps.empty());
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(ScopeRouting, HandlerOfTheScopeDealsWithIt) {
    Steps steps;
    Scope scope;
    std::uint64_t failed = 0;
    scope.on_error([&](std::exception_ptr error, Coroutine& coroutine) {
        steps.push_back(what(error));
        failed = coroutine.id();
        EXPECT_TRUE(coroutine.is_finished());
        EXPECT_TRUE(Scheduler::is_inside_callback()) << "at once, where nothing suspends";
    });
    const std::uint64_t id = scope.spawn(fail_with("E")).id();
    const auto other = scope.spawn([] { suspend(); });
    settle();
    EXPECT_EQ(steps, (Steps{"E"}));
    EXPECT_EQ(failed, id);
    EXPECT_FALSE(other.is_cancelled()) << "the others go on";
    EXPECT_FALSE(scope.is_cancelled());
    EXPECT_TRUE(sink.unhandled.empty());
    scope.spawn([] {});
}

CORO_TEST(ScopeRouting, HandlerReplacesAnEarlierOne) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr) { steps.emplace_back("first"); });
    scope.on_error([&](std::exception_ptr) { steps.emplace_back("second"); });
    scope.spawn(fail_with("E"));
    settle();
    EXPECT_EQ(steps, (Steps{"second"}));
}

CORO_TEST(ScopeRouting, HandlerMayReplaceItself) {
    Scope scope;
    Steps steps;
    scope.on_error([&, big = std::string(100, 'x')](std::exception_ptr) {
        scope.on_error([&](std::exception_ptr) { steps.emplace_back("new"); });
        steps.push_back(big.substr(0, 1));
    });
    scope.spawn(fail_with("E"));
    scope.spawn(fail_with("F"));
    settle();
    EXPECT_EQ(steps, (Steps{"x", "new"}));
}

CORO_TEST(ScopeRouting, CancellationsAreDropped) {
    Scope scope;
    scope.on_error([&](std::exception_ptr) { FAIL(); });
    const auto waiting = scope.spawn([] { sleep_for(1h); });
    scope.spawn([] { throw Cancellation(Error::cancellation(CancelReason::UserRequest, "myself")); });
    settle();
    waiting.cancel();
    settle();
    EXPECT_FALSE(scope.is_cancelled());
}

CORO_TEST(ScopeRouting, Trace41EachFailureSeparatelyBeforeAnybodyElseRuns) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr error) { steps.push_back("H(" + what(error) + ")"); });
    const auto first = scope.spawn([] {
        suspend();
        throw std::runtime_error("e1");
    });
    const auto second = scope.spawn([] {
        suspend();
        throw std::runtime_error("e2");
    });
    const auto third = scope.spawn([&] {
        suspend();
        steps.emplace_back("n");
    });
    suspend();
    suspend();
    EXPECT_EQ(steps, (Steps{"H(e1)", "H(e2)", "n"}));
    scope.spawn([&] { steps.emplace_back("usable"); });
    settle();
    EXPECT_EQ(steps.back(), "usable");
}

CORO_TEST(ScopeRouting, ErrorsGoUpToTheParent) {
    Steps steps;
    Scope parent;
    Scope child = Scope::inherit(parent);
    parent.on_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    child.spawn(fail_with("E"));
    settle();
    EXPECT_EQ(steps, (Steps{"E"}));
}

CORO_TEST(ScopeRouting, ChildHandlerGoesBeforeTheParentsOwn) {
    Steps steps;
    Scope parent;
    Scope child = Scope::inherit(parent);
    parent.on_error([&](std::exception_ptr error) { steps.push_back("own " + what(error)); });
    parent.on_child_error([&](std::exception_ptr error) { steps.push_back("child " + what(error)); });
    child.on_child_error([&](std::exception_ptr) { FAIL() << "not for its own coroutines"; });
    child.spawn(fail_with("E"));
    parent.spawn(fail_with("F"));
    settle();
    EXPECT_EQ(steps, (Steps{"child E", "own F"}));
}

CORO_TEST(ScopeRouting, HandlerThatFailsReplacesTheErrorWhichGoesOn) {
    Steps steps;
    Scope parent;
    Scope child = Scope::inherit(parent);
    child.on_error([&](std::exception_ptr error) { throw std::runtime_error(what(error) + "+"); });
    parent.on_child_error([&](std::exception_ptr error) { throw std::runtime_error(what(error) + "+"); });
    Scope root;
    parent.on_error([&](std::exception_ptr) { FAIL() << "one handler for each scope"; });
    auto handle = child.spawn(fail_with("E"));
    settle();
    EXPECT_EQ(thrown_by([&] { await(handle); }), "E++") << "rests on the handle";
}

RUNTIME_TEST(ScopeRouting, UnhandledWithoutAHandleEndsTheProgram) {
    Steps steps;
    EXPECT_EQ(
        thrown_by([&] {
            in_runtime([&] {
                Scope parent;
                Scope child = Scope::inherit(parent);
                child.spawn(fail_with("E"));
                suspend();
                sleep_for(1h);
                steps.emplace_back("not reached");
            });
        }),
        "E"
    );
    EXPECT_TRUE(steps.empty());
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(ScopeRouting, HandlerThatFailsEndsTheProgramWithItsOwnError) {
    EXPECT_EQ(
        thrown_by([&] {
            in_runtime([&] {
                Scope scope;
                scope.on_error([](std::exception_ptr) { throw std::runtime_error("of the handler"); });
                scope.spawn(fail_with("E"));
                settle();
            });
        }),
        "of the handler"
    );
}

CORO_TEST(ScopeRouting, ErrorRestsOnAHandleThatIsHeld) {
    Scope scope;
    auto handle = scope.spawn(fail_with("E"));
    settle();
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_EQ(thrown_by([&] { await(handle); }), "E");
    EXPECT_EQ(thrown_by([&] { await(handle); }), "E");
}

RUNTIME_TEST(ScopeRouting, ErrorSurfacesWhenTheHandleGoesUnread) {
    EXPECT_EQ(
        thrown_by([&] {
            in_runtime([&] {
                Scope scope;
                std::optional<Handle<void>> handle = scope.spawn(fail_with("E"));
                settle();
                EXPECT_TRUE(sink.unhandled.empty());
                handle.reset();
                EXPECT_EQ(sink.unhandled.size(), 1U);
            });
        }),
        "E"
    );
}

CORO_TEST(ScopeRouting, WithoutAHandlerTheOthersAreStoppedButNothingIsClosed) {
    Scope parent;
    Scope scope = Scope::inherit(parent);
    Scope below = Scope::inherit(scope);
    Scope beside = Scope::inherit(parent);
    const auto one = scope.spawn([] { sleep_for(1h); });
    const auto two = below.spawn([] { sleep_for(1h); });
    const auto three = beside.spawn([] { sleep_for(1h); });
    const auto four = parent.spawn([] { sleep_for(1h); });
    settle();
    const auto failing = scope.spawn(fail_with("E"));
    const auto unstarted = scope.spawn([] { FAIL(); });
    settle();
    for (const auto& handle : {one, two, three, four, unstarted}) {
        EXPECT_TRUE(handle.is_cancelled());
    }
    EXPECT_EQ(one.coroutine().error()->describe(), "Scope was cancelled; caused by: std::runtime_error: E");
    for (Scope* each : {&parent, &scope, &below, &beside}) {
        EXPECT_FALSE(each->is_cancelled());
        EXPECT_FALSE(each->is_closed());
        each->spawn([] {});
    }
    EXPECT_THROW(await(failing), std::runtime_error);
}

CORO_TEST(ScopeRouting, SecondFailureDoesNotDisturbWhoCleansUp) {
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
    const auto first = scope.spawn(fail_with("E"));
    settle();
    const auto second = scope.spawn(fail_with("F"));
    sleep_for(2ms);
    EXPECT_TRUE(is_clean);
    EXPECT_THROW(await(first), std::runtime_error);
    EXPECT_THROW(await(second), std::runtime_error);
}

CORO_TEST(ScopeRouting, InASafeScopeOnlyWhatHasNotBegunIsStopped) {
    Scope scope;
    scope.allow_zombies();
    const auto begun = scope.spawn([] { sleep_for(1ms); });
    settle();
    const auto failing = scope.spawn(fail_with("E"));
    const auto unstarted = scope.spawn([] { FAIL(); });
    settle();
    EXPECT_TRUE(unstarted.is_cancelled());
    EXPECT_TRUE(scope.event().is_zombie(begun.coroutine()));
    await(begun);
    EXPECT_FALSE(begun.is_cancelled());
    EXPECT_THROW(await(failing), std::runtime_error);
}

CORO_TEST(ScopeRouting, HandlerOfTheParentKeepsItsCoroutinesGoing) {
    Scope parent;
    Scope child = Scope::inherit(parent);
    parent.on_error([](std::exception_ptr) {});
    const auto above = parent.spawn([] { sleep_for(1ms); });
    const auto beside = child.spawn([] { sleep_for(1ms); });
    settle();
    child.spawn(fail_with("E"));
    settle();
    EXPECT_TRUE(beside.is_cancelled()) << "its scope had nobody";
    await(above);
}

// --- await_completion

CORO_TEST(ScopeAwait, WaitsForWhatIsSpawnedLaterAndForChildren) {
    Scope scope;
    Steps steps;
    std::optional<Scope> child;
    scope.spawn([&] {
        sleep_for(1ms);
        spawn([&] {
            sleep_for(1ms);
            child = Scope::inherit();
            child->spawn([&] {
                sleep_for(1ms);
                steps.emplace_back("last");
            });
        });
    });
    scope.await_completion();
    EXPECT_EQ(steps, (Steps{"last"}));
}

CORO_TEST(ScopeAwait, FromInsideItIsRefused) {
    const char* const text =
        "Cannot await completion of scope from a coroutine that belongs to the same scope or its children";
    Scope scope;
    Scope child = Scope::inherit(scope);
    std::string own;
    std::string below;
    std::string after;
    scope.spawn([&] { own = thrown_by([&] { scope.await_completion(); }); });
    child.spawn([&] { below = thrown_by([&] { scope.await_completion(); }); });
    scope.await_completion();
    EXPECT_EQ(own, text);
    EXPECT_EQ(below, text);
    scope.allow_zombies();
    child.allow_zombies();
    scope.spawn([&] {
        suspend();
        after = thrown_by([&] { scope.await_after_cancellation(); });
    });
    suspend();
    scope.cancel();
    settle();
    EXPECT_EQ(after, text);
    Scope other;
    other.spawn([&] { child.event().parent(); });
    other.await_completion();
}

CORO_TEST(ScopeAwait, ParentMayWaitForAChild) {
    Scope scope;
    Scope child = Scope::inherit(scope);
    child.spawn([] { sleep_for(1ms); });
    auto handle = scope.spawn([&] { child.await_completion(); });
    await(handle);
}

CORO_TEST(ScopeAwait, CancelledButNotClosedThrows) {
    Scope scope;
    scope.spawn([] { sleep_for(1h); });
    settle();
    scope.cancel();
    EXPECT_EQ(thrown_by([&] { scope.await_completion(); }), "cancelled: The scope has been cancelled");
    settle();
    EXPECT_TRUE(scope.is_closed());
    scope.await_completion();
}

CORO_TEST(ScopeAwait, CancelledComesBeforeInside) {
    Scope scope;
    std::string seen;
    scope.spawn([&] {
        scope.cancel();
        seen = thrown_by([&] { scope.await_completion(); });
    });
    settle();
    EXPECT_EQ(seen, "cancelled: The scope has been cancelled");
}

CORO_TEST(ScopeAwait, WhoWaitsIsToldOfACancellation) {
    for (const bool is_safe : {false, true}) {
        Scope scope;
        scope.event().set_safe(is_safe);
        scope.spawn([] { sleep_for(1ms); });
        std::string seen;
        auto waiter = spawn([&] { seen = thrown_by([&] { scope.await_completion(); }); });
        settle();
        scope.cancel();
        await(waiter);
        EXPECT_EQ(seen, "cancelled: The scope has been cancelled") << is_safe;
    }
}

CORO_TEST(ScopeAwait, LimitEndsTheWaitOnly) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(1h); });
    EXPECT_THROW(scope.await_completion(1ms), TimeoutError);
    auto token = spawn([] { sleep_for(1ms); });
    EXPECT_EQ(thrown_by([&] { scope.await_completion(token); }), "cancelled: Operation has been cancelled");
    EXPECT_FALSE(handle.is_finished());
    EXPECT_FALSE(scope.is_cancelled());
    scope.cancel();
    EXPECT_THROW(scope.await_after_cancellation(token), Cancellation) << "a token that has ended already";
    scope.await_after_cancellation();
}

CORO_TEST(ScopeAwait, EarlyReturnUsesTheToken) {
    ManualEvent token;
    const Scope scope;
    EXPECT_EQ(scope.event().await_completion(WaitLimit(token, WakeRole::Cancel)), WaitResult::Ready);
    EXPECT_TRUE(token.has(EventFlag::ResultUsed));
}

CORO_TEST(ScopeAwait, CancelledWaiterLeavesTheScopeAlone) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(1ms); });
    auto waiter = spawn([&] { scope.await_completion(); });
    settle();
    waiter.cancel();
    settle();
    EXPECT_TRUE(waiter.is_cancelled());
    await(handle);
    EXPECT_FALSE(handle.is_cancelled());
}

CORO_TEST(ScopeAwait, WaiterGetsTheErrorAndNobodyElse) {
    Scope parent;
    parent.on_error([](std::exception_ptr) { FAIL(); });
    Scope scope = Scope::inherit(parent);
    std::string cancelled;
    scope.spawn([&] { cancelled = thrown_by([] { sleep_for(1h); }); });
    scope.spawn([] {
        sleep_for(1ms);
        throw std::runtime_error("E");
    });
    Ref<Error> got;
    ASSERT_EQ(scope.event().await_completion(), WaitResult::Failed);
    got = Scheduler::take_wait_error();
    EXPECT_EQ(got->message(), "std::runtime_error: E");
    settle();
    EXPECT_EQ(cancelled, "cancelled: Scope was cancelled");
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(ScopeAwait, AllWaitersGetTheSameError) {
    Scope scope;
    Ref<Error> got[2];
    std::vector<Handle<void>> waiters;
    for (Ref<Error>& error : got) {
        waiters.push_back(spawn([&] {
            EXPECT_EQ(scope.event().await_completion(), WaitResult::Failed);
            error = Scheduler::take_wait_error();
        }));
    }
    scope.spawn([] {
        suspend();
        throw std::runtime_error("E");
    });
    settle();
    ASSERT_NE(got[0], nullptr);
    EXPECT_EQ(got[0].get(), got[1].get());
}

CORO_TEST(ScopeAwait, WaiterOfAParentGetsErrorsFromBelow) {
    Scope parent;
    Scope child = Scope::inherit(parent);
    child.spawn([] {
        suspend();
        throw std::runtime_error("E");
    });
    EXPECT_EQ(thrown_by([&] { parent.await_completion(); }), "E");
}

CORO_TEST(ScopeAwait, ErrorOfAWaiterThatWasCancelledGoesOnUpwards) {
    Steps steps;
    Scope parent;
    Scope child = Scope::inherit(parent);
    parent.on_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    auto waiter = spawn([&] { child.await_completion(); });
    child.spawn([] {
        sleep_for(1ms);
        throw std::runtime_error("E");
    });
    const auto canceller = spawn([&] {
        sleep_for(1ms);
        waiter.cancel();  // told already, and not yet on
    });
    await(canceller);
    settle();
    EXPECT_TRUE(waiter.is_cancelled());
    EXPECT_EQ(steps, (Steps{"E"}));
}

CORO_TEST(ScopeAwait, OutsideACoroutineItIsRefused) {
    Scope scope;
    scope.spawn([] { sleep_for(1h); });
    WaitResult result = WaitResult::Ready;
    add_microtask([&] { result = scope.event().await_completion(); });
    settle();
    EXPECT_EQ(result, WaitResult::Refused);
}

// --- await_after_cancellation

CORO_TEST(ScopeAwait, AfterCancellationNeedsOne) {
    Scope scope;
    EXPECT_EQ(
        thrown_by([&] { scope.await_after_cancellation(); }), "Attempt to await a Scope that has not been cancelled"
    );
    scope.cancel();
    scope.await_after_cancellation();
}

CORO_TEST(ScopeAwait, AfterCancellationThrowsTheFirstErrorWithoutAHandler) {
    Scope parent;
    parent.on_error([](std::exception_ptr) { FAIL(); });
    Scope scope = Scope::inherit(parent);
    scope.spawn([] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            throw std::runtime_error("in cleanup");
        }
    });
    settle();
    scope.cancel();
    EXPECT_EQ(thrown_by([&] { scope.await_after_cancellation(); }), "in cleanup");
}

CORO_TEST(ScopeAwait, AfterCancellationHandlerGetsEachError) {
    Steps steps;
    Scope scope;
    for (const char* text : {"one", "two"}) {
        scope.spawn([text] {
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                suspend();
                throw std::runtime_error(text);
            }
        });
    }
    scope.spawn([] { sleep_for(1h); });
    settle();
    scope.cancel();
    scope.await_after_cancellation([&](std::exception_ptr error) { steps.push_back(what(error)); });
    EXPECT_EQ(steps, (Steps{"one", "two"})) << "cancellations are not reported";
    EXPECT_TRUE(scope.is_closed());
}

CORO_TEST(ScopeAwait, AfterCancellationHandlersOwnErrorIsThrown) {
    Scope scope;
    scope.spawn([] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            throw std::runtime_error("E");
        }
    });
    settle();
    scope.cancel();
    EXPECT_EQ(
        thrown_by([&] {
            scope.await_after_cancellation([](std::exception_ptr error) { throw std::logic_error(what(error) + "!"); });
        }),
        "E!"
    );
}

CORO_TEST(ScopeAwait, WhoWasToldTakesWhatFollows) {
    Scope scope;
    for (const char* text : {"one", "two"}) {
        scope.spawn([text] {
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                throw std::runtime_error(text);
            }
        });
    }
    settle();
    scope.cancel();
    EXPECT_EQ(thrown_by([&] { scope.await_after_cancellation(); }), "one");
    EXPECT_TRUE(scope.is_closed());
    settle();
}

CORO_TEST(ScopeAwait, TokenAfterTheErrorComesTooLate) {
    Scope scope;
    scope.spawn([] {
        suspend();
        throw std::runtime_error("E");
    });
    const auto token = spawn([] { suspend(); });
    EXPECT_EQ(thrown_by([&] { scope.await_completion(token); }), "E");
}

// --- dispose_after

CORO_TEST(ScopeDisposeAfter, CancelsWhenTheTimeHasCome) {
    Scope scope;
    const auto handle = scope.spawn([] { sleep_for(1h); });
    const Instant begin = clock().now();
    scope.dispose_after(10ms);
    scope.spawn([] {});
    EXPECT_FALSE(scope.is_cancelled());
    EXPECT_THROW(scope.await_completion(), Cancellation);
    EXPECT_EQ(clock().now() - begin, 10ms);
    settle();
    EXPECT_EQ(handle.coroutine().error()->message(), "Scope was cancelled");
}

CORO_TEST(ScopeDisposeAfter, DoesNothingForAnEmptyScope) {
    Scope scope;
    scope.dispose_after(1ms);
    EXPECT_EQ(clock().timer_count(), 0U);
    const Scope child = Scope::inherit(scope);
    scope.dispose_after(1ms);
    EXPECT_EQ(clock().timer_count(), 1U);
    sleep_for(2ms);
    EXPECT_TRUE(scope.is_cancelled());
    EXPECT_TRUE(child.is_cancelled());
}

CORO_TEST(ScopeDisposeAfter, CountsAnewWithASecondCall) {
    Scope scope;
    scope.spawn([] { sleep_for(1h); });
    scope.dispose_after(10ms);
    scope.dispose_after(20ms);
    sleep_for(15ms);
    EXPECT_FALSE(scope.is_cancelled());
    sleep_for(6ms);
    EXPECT_TRUE(scope.is_cancelled());
}

CORO_TEST(ScopeDisposeAfter, KeepsAliveWhatItWillStopAndNothingElse) {
    Scope scope;
    ManualEvent never;
    const auto stuck = scope.spawn([&] { await(never); });
    settle();
    scope.dispose_after(10ms);
    EXPECT_EQ(clock().active().visible, 1U);
    stuck.cancel();
    settle();
    EXPECT_EQ(clock().active().visible, 0U);
    const auto again = scope.spawn([&] { await(never); });
    EXPECT_EQ(clock().active().visible, 1U);
    EXPECT_THROW(await(again), Cancellation) << "no deadlock";
}

CORO_TEST(ScopeDisposeAfter, GoesWithTheScope) {
    {
        Scope scope;
        scope.spawn([] { suspend(); });
        scope.dispose_after(1h);
        settle();
    }
    settle();
    EXPECT_EQ(clock().timer_count(), 0U);
}

}  // namespace
}  // namespace trueasync::testing
