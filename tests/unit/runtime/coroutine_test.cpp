#include <trueasync/runtime/coroutine.hpp>

#include <memory>
#include <stdexcept>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- where it stands

CORO_TEST(Coroutine, TellsWhereItStands) {
    ManualEvent event;
    auto child = spawn([&] {
        EXPECT_TRUE(current().is_running());
        EXPECT_FALSE(current().is_suspended());
        await(event);
    });
    Coroutine& coroutine = child.coroutine();
    EXPECT_FALSE(coroutine.is_started());
    EXPECT_TRUE(coroutine.is_queued());
    EXPECT_TRUE(coroutine.is_suspended());
    suspend();
    EXPECT_TRUE(coroutine.is_started());
    EXPECT_FALSE(coroutine.is_queued());
    EXPECT_TRUE(coroutine.is_suspended());
    event.notify();
    EXPECT_TRUE(coroutine.is_queued());
    await(child);
    EXPECT_TRUE(coroutine.is_finished());
    EXPECT_FALSE(coroutine.is_suspended());
    EXPECT_FALSE(coroutine.is_cancelled());
}

CORO_TEST(Coroutine, InfoNamesPlaceOfSpawnAndOfSuspension) {
    ManualEvent event;
    std::source_location waits;
    const std::source_location spawns = std::source_location::current();
    auto child = spawn([&] { waits = std::source_location::current(), await(event); });  // spawns.line() + 1
    child.named("worker");
    EXPECT_EQ(child.coroutine().name(), "worker");
    suspend();
    const std::string info = child.coroutine().info();
    EXPECT_TRUE(contains(info, "'worker'")) << info;
    EXPECT_TRUE(contains(info, std::string(spawns.file_name()) + ":" + std::to_string(spawns.line() + 1))) << info;
    EXPECT_TRUE(contains(info, "suspended at " + place_of(waits))) << info;
    EXPECT_EQ(child.coroutine().suspended_at().line, waits.line());
    event.notify();
    await(child);
    EXPECT_FALSE(contains(child.coroutine().info(), "suspended at"));
}

CORO_TEST(Coroutine, SizeIsBounded) {
#if !defined(TA_TSAN)
    EXPECT_LE(sizeof(Coroutine), 256U);
#endif
    EXPECT_EQ(size_of(EventType::Coroutine), sizeof(Coroutine));
}

CORO_TEST(Coroutine, StackIsTakenAtTheStartAndGivenBackAtTheEnd) {
    const std::size_t base = live_stacks();
    auto child = spawn([] { suspend(); });
    EXPECT_EQ(live_stacks(), base);
    suspend();
    EXPECT_EQ(live_stacks(), base + 1);
    await(child);
    EXPECT_EQ(live_stacks(), base);
}

// --- results

CORO_TEST(Coroutine, ResultsOfAllKinds) {
    int target = 5;
    EXPECT_EQ(await(spawn([] { return std::string(1000, 'x'); })).size(), 1000U);
    EXPECT_EQ(&await(spawn([&]() -> int& { return target; })), &target);
    auto moved = spawn([] { return std::make_unique<int>(9); });
    EXPECT_EQ(*await(moved), 9);
    auto nothing = spawn([] {});
    await(nothing);
    EXPECT_NE(nothing.coroutine().result(), nullptr);
}

CORO_TEST(Coroutine, ResultIsReplayedToEveryoneWhoComesLate) {
    auto child = spawn([] { return std::string("once"); });
    EXPECT_EQ(await(child), "once");
    EXPECT_EQ(await(child), "once");
    std::vector<Handle<std::string>> late;
    for (int i = 0; i < 3; ++i) {
        late.push_back(spawn([&] { return await(child); }));
    }
    for (const auto& handle : late) {
        EXPECT_EQ(await(handle), "once");
    }
    void* result = nullptr;
    Ref<Error> error;
    EXPECT_TRUE(child.coroutine().replay(nullptr, &result, &error));
    EXPECT_EQ(*static_cast<std::string*>(result), "once");
    EXPECT_EQ(error, nullptr);
    int calls = 0;
    const auto callback = make_ref<FunctionCallback>([&] { ++calls; });
    EXPECT_TRUE(child.coroutine().replay(callback.get(), nullptr, nullptr));
    EXPECT_EQ(calls, 1);
}

CORO_TEST(Coroutine, NothingIsReplayedBeforeTheEnd) {
    auto child = spawn([] { return 1; });
    void* result = nullptr;
    EXPECT_FALSE(child.coroutine().replay(nullptr, &result, nullptr));
    EXPECT_EQ(await(child), 1);
}

CORO_TEST(Coroutine, AwaitersAreWokenInTheOrderOfSubscription) {
    ManualEvent gate;
    std::string trace;
    auto child = spawn([&] {
        await(gate);
        return 1;
    });
    std::vector<Handle<void>> awaiters;
    for (const char* name : {"a", "b", "c", "d"}) {
        awaiters.push_back(spawn([&, name] {
            EXPECT_EQ(await(child), 1);
            trace += name;
        }));
    }
    suspend();
    EXPECT_EQ(child.coroutine().callback_count(), 4U);
    gate.notify();
    settle();
    EXPECT_EQ(trace, "abcd");
    EXPECT_EQ(child.coroutine().callback_count(), 0U);
}

CORO_TEST(Coroutine, FunctionGoesWhenItHasRun) {
    auto token = std::make_shared<int>(1);
    std::weak_ptr<int> watch = token;
    auto child = spawn([token = std::move(token)] { return *token; });
    EXPECT_EQ(await(child), 1);
    EXPECT_TRUE(watch.expired());
}

CORO_TEST(Coroutine, FreedWithTheLastHandle) {
    ManualEvent gate;
    auto child = spawn([&] { await(gate); });
    EXPECT_EQ(child.coroutine().ref_count(), 2U);  // ours and the runtime's
    suspend();
    gate.notify();
    await(child);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

// --- exceptions

CORO_TEST(Coroutine, ExceptionIsThrownToEveryAwaiter) {
    auto child = spawn([]() -> int { throw std::invalid_argument("bad"); });
    int caught = 0;
    std::vector<Handle<void>> awaiters;
    for (int i = 0; i < 3; ++i) {
        awaiters.push_back(spawn([&] {
            try {
                await(child);
            } catch (const std::invalid_argument& error) {
                EXPECT_STREQ(error.what(), "bad");
                ++caught;
            }
        }));
    }
    settle();
    EXPECT_EQ(caught, 3);
    EXPECT_THROW(await(child), std::invalid_argument);  // and to the late ones
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_FALSE(child.is_cancelled());
}

CORO_TEST(Coroutine, ExceptionOfAnyType) {
    auto child = spawn([] { throw 42; });
    try {
        await(child);
        FAIL();
    } catch (int value) {
        EXPECT_EQ(value, 42);
    }
}

CORO_TEST(Coroutine, ExceptionRestsOnTheHandle) {
    auto child = spawn([] { throw std::runtime_error("later"); });
    settle();
    EXPECT_TRUE(child.is_finished());
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(runtime().is_accepting());
    EXPECT_THROW(await(child), std::runtime_error);
}

RUNTIME_TEST(Coroutine, ExceptionThatNobodyTakesIsReportedWithThePlaceOfTheSpawn) {
    std::uint32_t line = 0;
    try {
        in_runtime([&] {
            line = std::source_location::current().line() + 1;
            spawn([] { throw std::runtime_error("lost"); });  // the handle goes at once
            sleep_for(1h);
            FAIL() << "main was not cancelled";
        });
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "lost");  // the very exception
    }
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_TRUE(contains(sink.unhandled[0], "coroutine_test.cpp:" + std::to_string(line))) << sink.unhandled[0];
    EXPECT_TRUE(contains(sink.unhandled[0], "lost")) << sink.unhandled[0];
}

RUNTIME_TEST(Coroutine, DroppingTheHandleOfAFailedOneReports) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            {
                auto child = spawn([] { throw std::runtime_error("dropped"); });
                settle();
                EXPECT_TRUE(sink.unhandled.empty());
            }
            EXPECT_EQ(sink.unhandled.size(), 1U);
            EXPECT_FALSE(runtime().is_accepting());
        });
    });
    EXPECT_EQ(what, "dropped");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(Coroutine, HandleThatOutlivesMainReportsWhenItGoes) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            auto* child = new Handle<void>(spawn([] { throw std::runtime_error("kept"); }));
            spawn([child] {
                settle();
                delete child;
            });
        });
    });
    EXPECT_EQ(what, "kept");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(Coroutine, AwaitThatTimedOutTakesNoException) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            auto child = spawn([] {
                sleep_for(10ms);
                throw std::runtime_error("late");
            });
            EXPECT_THROW(await(child, 1ms), TimeoutError);
            sleep_for(20ms);
            EXPECT_TRUE(child.is_finished());
        });
    });
    EXPECT_EQ(what, "late") << "the only await gave up before the error came, and nobody else took it";
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(Coroutine, AwaiterThatWasCancelledTakesNoException) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            auto child = spawn([] {
                sleep_for(10ms);
                throw std::runtime_error("late");
            });
            auto awaiter = spawn([child] { await(child); });
            suspend();
            awaiter.cancel();
            EXPECT_THROW(await(awaiter), Cancellation);
            sleep_for(20ms);
            EXPECT_TRUE(child.is_finished());
        });
    });
    EXPECT_EQ(what, "late");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(Coroutine, FirstOfTwoUnhandledIsWhatRunThrows) {
    try {
        in_runtime([] {
            spawn([] { throw std::runtime_error("first"); });
            spawn([] {
                try {
                    suspend();
                } catch (const Cancellation&) {
                    throw std::runtime_error("second");
                }
            });
            settle();
        });
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_GE(sink.unhandled.size(), 1U);
    EXPECT_TRUE(contains(sink.unhandled[0], "first"));
}

CORO_TEST(Coroutine, CancellationThatNobodyTakesIsQuiet) {
    {
        auto child = spawn([] { sleep_for(1h); });
        suspend();
        child.cancel();
    }
    settle();
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(sink.warnings.empty());
    EXPECT_TRUE(runtime().is_accepting());
}

/// A body that says that it failed, as hosts do that do not throw.
class Failing final : public Coroutine {
protected:
    void run() override { fail(Error::make(ErrorCode::System, "no descriptor")); }
};

CORO_TEST(Coroutine, BodyMayFailWithoutThrowing) {
    auto child = make_ref<Failing>();
    ASSERT_TRUE(scheduler().spawn(*child).ok());
    EXPECT_EQ(wait_for(*child), WaitResult::Failed);
    EXPECT_EQ(Scheduler::take_wait_error()->message(), "no descriptor");
    EXPECT_EQ(code_of([&] { await(*child); }), ErrorCode::System);
}

/// A body that lets an exception through.
class Throwing final : public Coroutine {
protected:
    void run() override { throw std::runtime_error("through"); }
};

CORO_TEST(Coroutine, ExceptionThatLeavesTheBodyBecomesTheError) {
    auto child = make_ref<Throwing>();
    ASSERT_TRUE(scheduler().spawn(*child).ok());
    EXPECT_THROW(await(*child), std::runtime_error);
}

// --- cancellation

CORO_TEST(Cancellation, IsDeliveredAtTheNextSuspensionPointWithItsReason) {
    std::string trace;
    auto child = spawn([&] {
        trace += "1 ";
        suspend();
        trace += "never ";
    });
    suspend();
    scheduler().cancel(child.coroutine(), Error::cancellation(CancelReason::Deadline, "too slow"));
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
    EXPECT_FALSE(child.is_cancelled());  // not before it has ended
    try {
        await(child);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.reason(), CancelReason::Deadline);
        EXPECT_EQ(cancellation.message(), "too slow");
    }
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_EQ(trace, "1 ");
}

CORO_TEST(Cancellation, HandleCancelIsAUserRequest) {
    ManualEvent event;
    auto child = spawn([&] {
        try {
            await(event);
            ADD_FAILURE();
        } catch (const Cancellation& cancellation) {
            EXPECT_EQ(cancellation.reason(), CancelReason::UserRequest);
            EXPECT_EQ(cancellation.message(), "enough");
            throw;
        }
    });
    suspend();
    child.cancel("enough");
    EXPECT_THROW(await(child), Cancellation);
    auto other = spawn([&] { await(event); });
    suspend();
    scheduler().cancel(other.coroutine(), {});  // no reason given
    try {
        await(other);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.reason(), CancelReason::UserRequest);
        EXPECT_FALSE(cancellation.message().empty());
    }
}

CORO_TEST(Cancellation, BeforeTheStartTheBodyNeverRuns) {
    bool has_run = false;
    const std::size_t base = live_stacks();
    auto child = spawn([&] { has_run = true; });
    child.cancel();
    EXPECT_EQ(child.coroutine().waker_state(), WakerState::Ignored);
    EXPECT_FALSE(child.coroutine().is_started());
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_FALSE(has_run);
    EXPECT_FALSE(child.coroutine().is_started());
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_EQ(live_stacks(), base);
    EXPECT_EQ(scheduler().stats().handovers, 0U);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

CORO_TEST(Cancellation, BeforeTheStartWakesAwaitersThatWaitAlready) {
    ManualEvent gate;
    Handle<void> child;
    int woken = 0;
    auto awaiter = spawn([&] {
        child = spawn([] { ADD_FAILURE() << "must not run"; });
        auto canceller = spawn_high([&] { child.cancel("early"); });
        try {
            await(child);
        } catch (const Cancellation& cancellation) {
            EXPECT_EQ(cancellation.message(), "early");
            ++woken;
        }
    });
    await(awaiter);
    EXPECT_EQ(woken, 1);
}

CORO_TEST(Cancellation, BeforeTheSpawnTheBodyNeverRuns) {
    bool has_run = false;
    auto coroutine = make_coroutine([&] { has_run = true; });
    scheduler().cancel(*coroutine, Error::cancellation(CancelReason::UserRequest, "before"));
    ASSERT_TRUE(scheduler().spawn(*coroutine).ok());
    EXPECT_THROW(await(*coroutine), Cancellation);
    EXPECT_FALSE(has_run);
}

CORO_TEST(Cancellation, OneThatIsAboutToStartIsNotStarted) {
    bool has_run = false;
    auto child = spawn([&] { has_run = true; });
    add_microtask([&] { child.cancel(); });  // runs in the very wait that is to start the child
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_FALSE(has_run);
    EXPECT_FALSE(child.coroutine().is_started());
}

CORO_TEST(Cancellation, WhileQueuedItKeepsItsPlace) {
    std::string trace;
    const auto body = [&](const char* name) {
        return [&trace, name] {
            try {
                suspend();
                trace += name;
            } catch (const Cancellation&) {
                trace += std::string(name) + "! ";
                throw;
            }
        };
    };
    auto a = spawn(body("a "));
    auto b = spawn(body("b "));
    auto c = spawn(body("c "));
    suspend();
    a.cancel();  // ready, at the head
    settle();
    EXPECT_EQ(trace, "a ! b c ");
}

CORO_TEST(Cancellation, WhileWaitingItIsAppendedAtTheTail) {
    ManualEvent event;
    std::string trace;
    auto waiter = spawn([&] {
        try {
            await(event);
        } catch (const Cancellation&) {
            trace += "cancelled ";
            throw;
        }
    });
    suspend();
    auto a = spawn([&] { trace += "a "; });
    waiter.cancel();
    auto b = spawn([&] { trace += "b "; });
    settle();
    EXPECT_EQ(trace, "a cancelled b ");
    EXPECT_EQ(event.callback_count(), 0U);
}

CORO_TEST(Cancellation, FiredButNotYetResumedIsCancelled) {
    ManualEvent event;
    auto waiter = spawn([&] { await(event); });
    suspend();
    event.notify();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
}

CORO_TEST(Cancellation, OfOneselfIsDeliveredAtTheNextSuspensionPoint) {
    std::string trace;
    auto child = spawn([&] {
        scheduler().cancel(current(), Error::cancellation(CancelReason::UserRequest, "self"));
        trace += "goes on ";
        try {
            suspend();
        } catch (const Cancellation& cancellation) {
            trace += cancellation.message();
            throw;
        }
    });
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "goes on self");
}

CORO_TEST(Cancellation, OfOneselfWithoutSuspendingDropsTheResult) {
    auto child = spawn([] {
        scheduler().cancel(current(), {});
        return 5;
    });
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_TRUE(child.is_cancelled());
    void* result = &child;
    EXPECT_TRUE(child.coroutine().replay(nullptr, &result, nullptr));
    EXPECT_EQ(result, nullptr);
}

CORO_TEST(Cancellation, PendingOneDoesNotSwallowAnException) {
    auto child = spawn([] {
        scheduler().cancel(current(), {});
        throw std::runtime_error("real trouble");
    });
    EXPECT_THROW(await(child), std::runtime_error) << "an error was lost behind a cancellation that was never delivered";
}

CORO_TEST(Cancellation, EverySuspensionPointDelivers) {
    ManualEvent event;
    auto finished = spawn([] {});
    await(finished);
    const std::function<void()> points[] = {
        [] { suspend(); },
        [] { sleep_for(1ms); },
        [] { sleep_for(0ms); },
        [&] { await(event); },
        [&] { await(event, 1s); },
        [&] { await(spawn([] {})); },
        [] { protect([] {}); },
    };
    for (const auto& point : points) {
        auto pending = spawn([&] {  // cancelled before it gets there
            scheduler().cancel(current(), {});
            point();
            ADD_FAILURE();
        });
        EXPECT_THROW(await(pending), Cancellation);
        EXPECT_EQ(event.callback_count(), 0U);
        EXPECT_EQ(clock().timer_count(), 0U);
    }
    settle();
}

CORO_TEST(Cancellation, SecondRequestWhilePendingHasNoEffect) {
    ManualEvent event;
    int deliveries = 0;
    auto child = spawn([&] {
        for (int i = 0; i < 2; ++i) {
            try {
                await(event);
            } catch (const Cancellation& cancellation) {
                EXPECT_EQ(cancellation.message(), "one");
                ++deliveries;
            }
        }
    });
    suspend();
    child.cancel("one");
    child.cancel("two");
    settle();
    EXPECT_EQ(deliveries, 1);
    EXPECT_EQ(event.callback_count(), 1U);  // it waits again
    event.notify();
    await(child);
}

CORO_TEST(Cancellation, RequestAfterDeliveryIsDeliveredAgain) {
    ManualEvent event;
    std::string trace;
    auto child = spawn([&] {
        for (int i = 0; i < 2; ++i) {
            try {
                await(event);
            } catch (const Cancellation& cancellation) {
                trace += cancellation.message() + " ";
            }
        }
    });
    suspend();
    child.cancel("one");
    suspend();
    child.cancel("two");
    await(child);
    EXPECT_EQ(trace, "one two ");
}

CORO_TEST(Cancellation, AfterTheEndHasNoEffect) {
    auto child = spawn([] { return 1; });
    EXPECT_EQ(await(child), 1);
    child.cancel();
    EXPECT_EQ(await(child), 1);
    EXPECT_FALSE(child.is_cancelled());
    EXPECT_FALSE(child.coroutine().is_cancel_requested());
}

CORO_TEST(Cancellation, OneThatCatchesItAndReturnsDeliversItsValue) {
    auto child = spawn([] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            return 11;
        }
        return 0;
    });
    suspend();
    child.cancel();
    EXPECT_EQ(await(child), 11);
    EXPECT_FALSE(child.is_cancelled());
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
}

CORO_TEST(Cancellation, CatchOfStdExceptionDoesNotSwallowIt) {
    auto child = spawn([] {
        try {
            sleep_for(1h);
        } catch (const std::exception&) {
            ADD_FAILURE();
        }
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
}

CORO_TEST(Cancellation, OfAnAwaiterDoesNotCancelWhatItAwaits) {
    ManualEvent gate;
    auto child = spawn([&] {
        await(gate);
        return 3;
    });
    auto awaiter = spawn([&] { return await(child); });
    settle(2);
    awaiter.cancel();
    EXPECT_THROW(await(awaiter), Cancellation);
    EXPECT_EQ(child.coroutine().callback_count(), 0U);
    gate.notify();
    EXPECT_EQ(await(child), 3);
}

CORO_TEST(Cancellation, CleanUpMaySuspend) {
    std::string trace;
    auto child = spawn([&] {
        try {
            sleep_for(1h);
        } catch (...) {
            trace += "cleaning ";
            sleep_for(5ms);  // the one request was delivered: this works
            trace += "cleaned";
            throw;
        }
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "cleaning cleaned");
}

CORO_TEST(Cancellation, OfMainIsDeliveredLikeAnyOther) {
    spawn([] { scheduler().cancel(scheduler().main(), Error::cancellation(CancelReason::UserRequest, "main")); });
    try {
        sleep_for(1h);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "main");
    }
    suspend();
}

// --- protect

CORO_TEST(Protect, DefersACancellationToItsEnd) {
    std::string trace;
    auto child = spawn([&] {
        try {
            protect([&] {
                EXPECT_TRUE(current().is_protected());
                sleep_for(10ms);
                trace += "whole ";
                suspend();
            });
            trace += "never ";
        } catch (const Cancellation& cancellation) {
            trace += cancellation.message();
            EXPECT_FALSE(current().is_protected());
            throw;
        }
    });
    suspend();
    child.cancel("deferred");
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "whole deferred");
}

CORO_TEST(Protect, ReturnsWhatTheFunctionReturns) {
    EXPECT_EQ(protect([] { return 4; }), 4);
    protect([] {});
    EXPECT_FALSE(current().is_protected());
}

CORO_TEST(Protect, OnlyTheOutermostSectionDelivers) {
    std::string trace;
    auto child = spawn([&] {
        protect([&] {
            protect([&] {
                suspend();
                trace += "inner ";
            });
            suspend();
            trace += "outer ";
        });
        trace += "never ";
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "inner outer ");
}

CORO_TEST(Protect, ExceptionLeavesTheSectionAndTheCancellationFollows) {
    std::string trace;
    auto child = spawn([&] {
        try {
            protect([&] {
                suspend();
                throw std::runtime_error("inside");
            });
        } catch (const std::runtime_error&) {
            trace += "error ";
        }
        EXPECT_FALSE(current().is_protected());
        suspend();
        trace += "never";
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "error ");
}

CORO_TEST(Protect, SecondRequestInsideHasNoEffect) {
    auto child = spawn([] { protect([] { sleep_for(5ms); }); });
    suspend();
    child.cancel("one");
    child.cancel("two");
    try {
        await(child);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "one");
    }
}

CORO_TEST(Protect, SectionsOfOthersDoNotMatter) {
    ManualEvent gate;
    auto guarded = spawn([&] { protect([&] { await(gate); }); });
    auto plain = spawn([&] { await(gate); });
    suspend();
    guarded.cancel();
    plain.cancel();
    EXPECT_THROW(await(plain), Cancellation);
    EXPECT_FALSE(guarded.is_finished());
    gate.notify();
    EXPECT_THROW(await(guarded), Cancellation);
}

CORO_TEST(Protect, TokensAndDeadlinesWorkInside) {
    ManualEvent event;
    protect([&] { EXPECT_THROW(await(event, 1ms), TimeoutError); });
    auto token = spawn([] {});
    protect([&] { EXPECT_THROW(await(event, token), Cancellation); });
}

TEST(ProtectOutside, DoesNothing) {
    ProtectGuard guard;
    EXPECT_EQ(guard.leave(), WaitResult::Ready);
}

// --- owners

/// Records what it is told.
class FakeOwner final : public Owner {
public:
    void adopt(Coroutine& coroutine) noexcept override {
        trace += "adopt ";
        adopted = &coroutine;
        EXPECT_EQ(coroutine.owner(), this);
    }
    bool finished(Coroutine& coroutine, Error* error) noexcept override {
        trace += error == nullptr ? "finished " : error->is_cancellation() ? "cancelled " : "failed ";
        EXPECT_TRUE(coroutine.is_finished());
        awaiters_queued = main_is_queued();
        return is_handling;
    }
    void on_dispose(Coroutine& /*coroutine*/) noexcept override { trace += "dispose "; }

    static bool main_is_queued() { return Scheduler::current()->main().is_queued(); }

    std::string trace;
    const Coroutine* adopted = nullptr;
    bool is_handling = false;
    bool awaiters_queued = false;
};

CORO_TEST(Owner, IsToldOfTheWholeLife) {
    FakeOwner owner;
    {
        auto child = make_coroutine([&] { owner.trace += "runs "; });
        ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
        EXPECT_EQ(owner.adopted, child.get());
        await(*child);
        EXPECT_TRUE(owner.awaiters_queued);  // before the owner was told
        EXPECT_EQ(owner.trace, "adopt runs finished ");
    }
    EXPECT_EQ(owner.trace, "adopt runs finished dispose ");
}

CORO_TEST(Owner, MayDealWithAnError) {
    FakeOwner owner;
    owner.is_handling = true;
    {
        auto child = make_coroutine([] { throw std::runtime_error("for the owner"); });
        ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
    }
    settle();
    EXPECT_EQ(owner.trace, "adopt failed dispose ");
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(runtime().is_accepting());
}

RUNTIME_TEST(Owner, MayLeaveAnErrorToTheRuntime) {
    FakeOwner owner;
    const std::string what = what_of([&] {
        in_runtime([&] {
            {
                auto child = make_coroutine([] { throw std::runtime_error("for nobody"); });
                ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
            }
            settle();
        });
    });
    EXPECT_EQ(what, "for nobody");
    EXPECT_EQ(owner.trace, "adopt failed dispose ");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

CORO_TEST(Owner, HandledErrorIsStillThrownToThoseWhoAsk) {
    FakeOwner owner;
    owner.is_handling = true;
    auto child = make_coroutine([] { throw std::runtime_error("handled"); });
    ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
    settle();
    EXPECT_THROW(await(*child), std::runtime_error);
    child->set_owner(nullptr);
}

CORO_TEST(Owner, IsToldOfCancellationBeforeTheStart) {
    FakeOwner owner;
    auto child = make_coroutine([] { ADD_FAILURE(); });
    ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
    scheduler().cancel(*child, {});
    settle();
    EXPECT_EQ(owner.trace, "adopt cancelled ");
    child.reset();
    EXPECT_EQ(owner.trace, "adopt cancelled dispose ");
}

CORO_TEST(Owner, MayTakeItselfAway) {
    auto child = make_coroutine([] { suspend(); });
    {
        FakeOwner owner;
        ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
        child->set_owner(nullptr);
        EXPECT_EQ(owner.trace, "adopt ");
    }
    await(*child);
}

}  // namespace
}  // namespace trueasync::testing
