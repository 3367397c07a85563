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

TEST(FinallyList, AHostIsAskedForARuntimeOnce) {
    static int asked = 0;
    FinallyList::set_start([] { ++asked; });
    int calls = 0;
    { Scope plain; }
    EXPECT_EQ(asked, 0) << "nothing is due";
    {
        Scope scope;
        scope.finally([&] { ++calls; });
        scope.finally([&] { ++calls; });
    }
    FinallyList::set_start(nullptr);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(calls, 2) << "it has started none";
}

RUNTIME_TEST(ScopeFinally, OneThatWaitsWhenAShutdownBeginsRunsToItsEnd) {
    Steps steps;
    ManualEvent event;
    in_runtime([&] {
        Scope scope;
        scope.finally([&] {
            steps.emplace_back("begins");
            await(event);
            steps.emplace_back("ends");
        });
        scope.dispose();
        settle();
        shutdown();
        EXPECT_THROW(suspend(), Cancellation);
        event.notify();
    });
    EXPECT_EQ(steps, (Steps{"begins", "ends"}));
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
    std::unique_ptr<FinallyHandler> handler = detail::make_finally([] {});
    EXPECT_FALSE(scope->add_finally(handler));
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

CORO_TEST(ScopeFinally, CancelledHandlersHaveNotFailed) {
    int calls = 0;
    int errors = 0;
    Scope scope;
    scope.on_error([&](std::exception_ptr) { ++errors; });
    for (int i = 0; i < 2; ++i) {
        scope.finally([&] {
            ++calls;
            cancel_youngest();
            suspend();
        });
    }
    scope.dispose();
    settle();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(errors, 0);
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

CORO_TEST(CoroutineFinally, TheScopeIsKeptUntilTheHandlersHaveRunNotByACoroutineThatIsHeld) {
    int told = 0;
    auto scope = ScopeEvent::create();
    const ScopeEvent* address = scope.get();
    const auto coroutine = make_coroutine([] {});
    for (const bool fails : {false, true}) {
        std::unique_ptr<FinallyHandler> handler = detail::make_finally([&, fails] {
            suspend();
            EXPECT_TRUE(coroutine->is_finished());
            EXPECT_EQ(address->ref_count(), 2U) << "the helper's, and the test's";
            if (fails) {
                throw std::runtime_error("F");
            }
        });
        ASSERT_TRUE(coroutine->add_finally(handler));
    }
    class Handler final : public ScopeErrorHandler {
    public:
        explicit Handler(int& told) : told_(told) {}
        Ref<Error> call(ScopeEvent& /*scope*/, Coroutine& /*coroutine*/, Error& /*error*/) override {
            ++told_;
            return {};
        }

    private:
        int& told_;
    };
    scope->set_error_handler(std::make_shared<Handler>(told));
    ASSERT_TRUE(scheduler().spawn(*coroutine, scope.get()));
    settle();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(coroutine->owner(), nullptr);
    EXPECT_EQ(scope->ref_count(), 1U);
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

/// Has a microtask run between the end of a coroutine and its handlers.
template <void (*Task)()>
void after_end(const Handle<void>& handle) {
    handle.coroutine().add_switch_handler({[](Coroutine&, SwitchKind kind, void*) {
        if (kind == SwitchKind::Finish) {
            add_microtask(Task);
        }
        return true;
    }});
}

CORO_TEST(CoroutineFinally, BeginsEvenIfCancelledBefore) {
    int begun = 0;
    int ended = 0;
    const auto handle = spawn([] {});
    handle.finally([&] {
        ++begun;
        suspend();
        ++ended;
    });
    handle.finally([&] { ++begun; });
    after_end<cancel_youngest>(handle);
    settle();
    EXPECT_EQ(begun, 2);
    EXPECT_EQ(ended, 0) << "the cancellation comes where it first waits";
    EXPECT_TRUE(sink.unhandled.empty()) << "one that was cancelled has not failed";
}

RUNTIME_TEST(CoroutineFinally, BeginsEvenIfAShutdownComesBefore) {
    int calls = 0;
    in_runtime([&] {
        const auto handle = spawn([] {});
        handle.finally([&] { ++calls; });
        after_end<shutdown>(handle);
    });
    EXPECT_EQ(calls, 1);
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
