#include <trueasync/structured/scope.hpp>

#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>
#include <support/runtime_fakes.hpp>
#include <trueasync/api/scope.hpp>

namespace trueasync::testing {
namespace {

using Steps = std::vector<std::string>;

std::string what(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        return error.what();
    } catch (const Cancellation& cancellation) {
        return "cancelled: " + cancellation.message();
    }
}

/// What `body` throws.
template <typename F>
std::string thrown_by(F&& body) {
    try {
        body();
    } catch (...) {
        return what(std::current_exception());
    }
    return "nothing";
}

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

// --- finally

CORO_TEST(ScopeFinally, RunsWhenTheScopeHasEndedNotWithTheLastCoroutine) {
    Steps steps;
    Scope scope;
    scope.finally([&] { steps.emplace_back("1"); });
    scope.finally([&] { steps.emplace_back("2"); });
    scope.spawn([] {});
    settle();
    EXPECT_TRUE(steps.empty());
    scope.dispose();
    steps.emplace_back("disposed");
    settle();
    EXPECT_EQ(steps, (Steps{"disposed", "1", "2"})) << "in a coroutine of their own";
    scope.dispose();
    settle();
    EXPECT_EQ(steps.size(), 3U) << "once";
}

CORO_TEST(ScopeFinally, OvertakesWhoIsQueued) {
    Steps steps;
    Scope scope;
    spawn([&] { steps.emplace_back("queued"); });
    scope.finally([&] { steps.emplace_back("finally"); });
    scope.dispose();
    settle();
    EXPECT_EQ(steps, (Steps{"finally", "queued"}));
}

CORO_TEST(ScopeFinally, Trace10DroppedScopeRunsItsHandlers) {
    Steps steps;
    {
        Scope scope;
        auto handle = scope.spawn([&] { steps.emplace_back("c"); });
        scope.finally([&] { steps.emplace_back("g1"); });
        scope.finally([&] { steps.emplace_back("g2"); });
        await(handle);
        steps.emplace_back("m");
    }
    settle();
    EXPECT_EQ(steps, (Steps{"c", "m", "g1", "g2"}));
}

CORO_TEST(ScopeFinally, AfterTheEndItIsCalledAtOnce) {
    Scope scope;
    scope.dispose();
    int calls = 0;
    scope.finally([&] { ++calls; });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(thrown_by([&] { scope.finally([] { throw std::runtime_error("E"); }); }), "E");
}

CORO_TEST(ScopeFinally, RefusedOnceTheHandleIsGone) {
    const auto scope = ScopeEvent::create();
    const auto coroutine = make_coroutine([] { suspend(); });
    scope->set_safe(true);
    ASSERT_TRUE(scheduler().spawn(*coroutine, scope.get()));
    suspend();
    scope->handle_dropped();
    EXPECT_FALSE(scope->is_closed());
    EXPECT_FALSE(scope->add_finally(detail::make_finally([] {})));
    settle();
}

CORO_TEST(ScopeFinally, ChildrenFirst) {
    Steps steps;
    Scope parent;
    Scope child = Scope::inherit(parent);
    parent.finally([&] { steps.emplace_back("parent"); });
    child.finally([&] {
        suspend();
        steps.emplace_back("child");
    });
    parent.dispose();
    settle();
    EXPECT_EQ(steps, (Steps{"child", "parent"}));
}

CORO_TEST(ScopeFinally, ErrorsGoToTheScopesOwnHandlerFirst) {
    Steps steps;
    Scope parent;
    Scope scope = Scope::inherit(parent);
    parent.on_error([&](std::exception_ptr) { FAIL(); });
    parent.on_child_error([&](std::exception_ptr) { FAIL(); });
    scope.on_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    scope.finally([] { throw std::runtime_error("E"); });
    scope.dispose();
    settle();
    EXPECT_EQ(steps, (Steps{"E"}));
}

CORO_TEST(ScopeFinally, SeveralErrorsComeAsOne) {
    std::size_t count = 0;
    struct Handler final : ScopeErrorHandler {
        explicit Handler(std::size_t& errors) : count(errors) {}
        Ref<Error> call(ScopeEvent&, Coroutine&, Error& error) override {
            count = CompositeError::of(&error) != nullptr ? CompositeError::of(&error)->errors().size() : 0;
            return {};
        }
        std::size_t& count;
    };
    Scope scope;
    scope.event().set_error_handler(std::make_shared<Handler>(count));
    scope.finally([] { throw std::runtime_error("E"); });
    scope.finally([] { throw std::runtime_error("F"); });
    scope.dispose();
    settle();
    EXPECT_EQ(count, 2U);
}

RUNTIME_TEST(ScopeFinally, ErrorsThatNobodyTakesEndTheProgram) {
    EXPECT_EQ(
        thrown_by([&] {
            in_runtime([&] {
                Scope parent;
                Scope scope = Scope::inherit(parent);
                scope.finally([] { throw std::runtime_error("E"); });
                scope.dispose();
                settle();
            });
        }),
        "E"
    );
}

// --- handlers of coroutines

CORO_TEST(CoroutineFinally, Trace8HandlersBeforeTheAwaiterAndTheirErrorsToTheScope) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr error) { steps.push_back("H " + what(error)); });
    auto handle = scope.spawn([&] {
        suspend();
        steps.emplace_back("body");
        throw std::runtime_error("E");
    });
    for (const char* name : {"f1", "f2", "f3"}) {
        handle.finally([&steps, name] {
            steps.emplace_back(name);
            throw std::runtime_error(name);
        });
    }
    EXPECT_EQ(thrown_by([&] { await(handle); }), "E");
    ASSERT_EQ(steps.size(), 5U);
    EXPECT_EQ(Steps(steps.begin(), steps.begin() + 4), (Steps{"body", "f1", "f2", "f3"}));
    EXPECT_EQ(steps[4].substr(0, 2), "H ");
}

CORO_TEST(CoroutineFinally, Trace9WithoutAnAwaiterTheScopeGetsBoth) {
    Steps steps;
    Scope scope;
    scope.on_error([&](std::exception_ptr error) { steps.push_back(what(error)); });
    const auto handle = scope.spawn(fail_with("E"));
    handle.finally([&] { throw std::runtime_error("F"); });
    settle();
    EXPECT_EQ(steps, (Steps{"E", "F"}));
}

RUNTIME_TEST(CoroutineFinally, Trace12CancelledParent) {
    Steps steps;
    const std::string thrown = thrown_by([&] {
        in_runtime([&] {
            Scope parent;
            Scope child = Scope::inherit(parent);
            const auto first = parent.spawn([] { suspend(); });
            first.finally([&] { steps.emplace_back("h1"); });
            first.finally([&] { steps.emplace_back("h2"); });
            first.finally([&] {
                steps.emplace_back("h3");
                throw std::runtime_error("of h3");
            });
            const auto second = child.spawn([] { suspend(); });
            second.finally([&] { steps.emplace_back("k1"); });
            parent.finally([&] { steps.emplace_back("g"); });
            suspend();
            parent.cancel();
            suspend();
            steps.emplace_back("not reached");
        });
    });
    EXPECT_EQ(steps, (Steps{"h1", "h2", "h3", "k1", "g"}));
    EXPECT_EQ(thrown, "of h3");
}

CORO_TEST(CoroutineFinally, Trace37OvertakesMain) {
    Steps steps;
    spawn([&] { steps.emplace_back("c"); }).finally([&] { steps.emplace_back("f"); });
    suspend();
    steps.emplace_back("main");
    EXPECT_EQ(steps, (Steps{"c", "f", "main"}));
}

RUNTIME_TEST(CoroutineFinally, Trace40OneErrorAfterTheOther) {
    Steps steps;
    const std::string thrown = thrown_by([&] {
        in_runtime([&] {
            Scope scope;
            Scope child = Scope::inherit(scope);
            const auto p = scope.spawn([&] {
                steps.emplace_back("p");
                suspend();
            });
            p.finally([&] {
                steps.emplace_back("f");
                throw std::runtime_error("F");
            });
            child.spawn([&] {
                steps.emplace_back("c");
                throw std::runtime_error("E");
            });
            suspend();
            steps.emplace_back("not reached");
        });
    });
    EXPECT_EQ(steps, (Steps{"p", "c", "f"}));
    EXPECT_EQ(thrown, "E");
    ASSERT_EQ(sink.unhandled.size(), 2U);
    EXPECT_NE(sink.unhandled[1].find(": F"), std::string::npos);
}

CORO_TEST(CoroutineFinally, OnAFinishedOneAtOnce) {
    auto handle = spawn([] {});
    await(handle);
    int calls = 0;
    handle.finally([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

CORO_TEST(CoroutineFinally, RunsWhenItIsCancelledToo) {
    int calls = 0;
    const auto started = spawn([] { sleep_for(1h); });
    started.finally([&] { ++calls; });
    settle();
    started.cancel();
    const auto unstarted = spawn([] {});
    unstarted.finally([&] { ++calls; });
    unstarted.cancel();
    settle();
    EXPECT_EQ(calls, 2);
}

CORO_TEST(CoroutineFinally, BelongsToTheScopeAndIsNotStoppedWithIt) {
    Steps steps;
    Scope scope;
    const auto handle = scope.spawn(fail_with("E"));
    handle.finally([&] {
        EXPECT_EQ(ScopeEvent::current(), &scope.event());
        suspend();
        steps.emplace_back("handler");
    });
    scope.on_error([&](std::exception_ptr) { scope.cancel(); });
    scope.finally([&] { steps.emplace_back("scope"); });
    settle();
    EXPECT_EQ(steps, (Steps{"handler", "scope"})) << "the scope ends after the handlers of its coroutines";
}

// --- the main scope, and everything at random

RUNTIME_TEST(MainScope, IsAScopeLikeAnyOther) {
    class Main final : public Coroutine {
    public:
        void run() override {}
    };
    const SinkScope scope_of_sink(sink);
    const auto scope = ScopeEvent::create();
    scope->set_safe(true);
    const auto main = make_ref<Main>();
    main->set_owner(scope.get());
    scope->adopt(*main);
    Runtime runtime(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(runtime.start(main.get()));
    Steps steps;
    spawn([&] {
        EXPECT_EQ(ScopeEvent::current(), scope.get());
        steps.emplace_back("in main's scope");
    });
    Scope child = Scope::inherit();
    EXPECT_EQ(child.event().parent(), scope.get());
    EXPECT_TRUE(child.event().is_safe());
    suspend();
    auto failing = child.spawn(fail_with("E"));
    suspend();
    EXPECT_TRUE(scope->is_zombie(*main)) << "an error nobody took: what has begun runs on";
    spawn([&] { steps.emplace_back("still usable"); });
    suspend();
    EXPECT_THROW(await(failing), std::runtime_error);
    EXPECT_EQ(runtime.finish(), nullptr);
    EXPECT_EQ(steps, (Steps{"in main's scope", "still usable"}));
    EXPECT_EQ(main->owner(), nullptr);
}

CORO_TEST(ScopeChaos, RandomTreesEndWithNothingLeft) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto roll = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 200; ++round) {
        std::vector<std::unique_ptr<Scope>> scopes;
        std::vector<Handle<void>> handles;
        int ended = 0;
        int scope_ends = 0;
        int made = 0;
        const auto add_scope = [&] {
            auto scope = std::make_unique<Scope>(
                scopes.empty() || roll(4) == 0
                    ? Scope()
                    : Scope::inherit(*scopes[static_cast<std::size_t>(roll(static_cast<int>(scopes.size())))])
            );
            roll(2) == 0 ? scope->allow_zombies() : scope->as_not_safely();
            roll(2) == 0 ? scope->on_error([](std::exception_ptr) {}) : *scope;
            ++made;
            scope->finally([&] { ++scope_ends; });
            scopes.push_back(std::move(scope));
        };
        add_scope();
        for (int step = 0; step < 40; ++step) {
            Scope& scope = *scopes[static_cast<std::size_t>(roll(static_cast<int>(scopes.size())))];
            switch (roll(9)) {
                case 0:
                    add_scope();
                    break;
                case 1:
                    roll(3) == 0 ? scope.cancel() : roll(2) == 0 ? scope.dispose_safely() : scope.dispose_after(1ms);
                    break;
                case 2:
                    suspend();
                    break;
                case 3:
                    handles.push_back(spawn([&] {
                        try {
                            scope.await_completion(roll(2) == 0 ? Limit(1ms) : Limit());
                        } catch (...) {}
                    }));
                    break;
                case 4:
                    if (!handles.empty()) {
                        handles[static_cast<std::size_t>(roll(static_cast<int>(handles.size())))].cancel();
                    }
                    break;
                case 5:
                    if (scopes.size() > 1 && roll(3) == 0) {
                        settle(3);
                    }
                    break;
                default:
                    if (!scope.is_cancelled()) {
                        const int kind = roll(5);
                        handles.push_back(scope.spawn([kind, &ended] {
                            for (int i = 0; i < kind; ++i) {
                                kind == 3 ? sleep_for(1ms) : suspend();
                            }
                            if (kind == 2) {
                                throw std::runtime_error("random");
                            }
                        }));
                        ++ended;
                        handles.back().finally([&ended] { --ended; });
                    }
            }
        }
        for (auto& scope : scopes) {
            scope->cancel();
        }
        for (const auto& handle : handles) {
            try {
                await(handle);
            } catch (...) {}
        }
        settle();
        ASSERT_EQ(ended, 0);
        ASSERT_EQ(scope_ends, made);
        for (auto& scope : scopes) {
            ASSERT_TRUE(scope->is_closed());
            ASSERT_TRUE(scope->is_finished());
            ASSERT_TRUE(scope->event().unfinished().empty());
        }
        ASSERT_TRUE(sink.unhandled.empty()) << sink.unhandled.front();
    }
    EXPECT_EQ(clock().active().visible, 0U);
}

}  // namespace
}  // namespace trueasync::testing
