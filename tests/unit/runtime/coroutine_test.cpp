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
#if !defined(TA_TSAN) && !defined(TA_ASAN)
    EXPECT_LE(sizeof(Coroutine), 288U);
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

CORO_TEST(Coroutine, LateWaitTakesTheException) {
    {
        auto child = spawn([] { throw std::runtime_error("later"); });
        settle();
        EXPECT_EQ(wait_for(child.coroutine()), WaitResult::Failed);
        EXPECT_TRUE(contains(Scheduler::take_wait_error()->message(), "later"));
    }
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(runtime().is_accepting());
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

RUNTIME_TEST(Coroutine, AwaiterThatSomethingElseHasWokenTakesNoException) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            ManualEvent begin;
            auto child = spawn([&] {
                await(begin);
                throw std::runtime_error("same turn");
            });
            auto awaiter = spawn([child] { EXPECT_THROW(await(child), Cancellation); });
            settle();
            begin.notify();    // first in the queue
            awaiter.cancel();  // woken before the child fails, runs after it
            await(awaiter);
        });
    });
    EXPECT_EQ(what, "same turn");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

RUNTIME_TEST(Coroutine, AwaitThatATokenEndedTakesNoException) {
    const std::string what = what_of([&] {
        in_runtime([&] {
            ManualEvent begin;
            ManualEvent token;
            auto child = spawn([&] {
                await(begin);
                throw std::runtime_error("same turn");
            });
            auto awaiter = spawn([&, child] { EXPECT_THROW(await(child, token), Cancellation); });
            settle();
            begin.notify();
            token.notify();
            await(awaiter);
        });
    });
    EXPECT_EQ(what, "same turn");
    EXPECT_EQ(sink.unhandled.size(), 1U);
}

CORO_TEST(Coroutine, ExceptionThatCameInTheTurnOfADeadlineIsTaken) {
    ManualEvent begin;
    auto child = spawn([&] {
        await(begin);
        throw std::runtime_error("same turn");
    });
    const auto timer = call_after(1ms, [&] { begin.notify(); });  // before the deadline, at the same time
    auto awaiter = spawn([child] { EXPECT_THROW(await(child, 1ms), std::runtime_error); });
    await(awaiter);
    EXPECT_TRUE(sink.unhandled.empty());
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
        suspending = Scheduler::suspend(std::source_location::current());
        Scheduler::take_wait_error();
        return is_handling;
    }
    void on_dispose(Coroutine& /*coroutine*/) noexcept override { trace += "dispose "; }

    static bool main_is_queued() { return Scheduler::current()->main().is_queued(); }

    std::string trace;
    const Coroutine* adopted = nullptr;
    bool is_handling = false;
    bool awaiters_queued = false;
    WaitResult suspending = WaitResult::Ready;  // what came of the attempt when it was told of an end
};

CORO_TEST(Owner, CannotWaitWhenToldOfAnEnd) {
    for (const bool is_awaited : {false, true}) {
        FakeOwner owner;
        auto child = make_coroutine([] {});
        ASSERT_TRUE(scheduler().spawn(*child, &owner).ok());
        is_awaited ? await(*child) : suspend();
        EXPECT_EQ(owner.trace, "adopt finished ");
        EXPECT_EQ(owner.suspending, WaitResult::Refused);
        child->set_owner(nullptr);
    }
}

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
