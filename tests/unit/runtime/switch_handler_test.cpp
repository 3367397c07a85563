#include <trueasync/runtime/switch_handler.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

/// Writes down every call; keeps itself, or goes after `calls_left` calls.
struct Recorder {
    std::string* trace;
    std::string name = {};
    int calls_left = -1;

    SwitchHandler handler() { return {&Recorder::record, this}; }

    static bool record(Coroutine& /*coroutine*/, SwitchKind kind, void* data) {
        auto& self = *static_cast<Recorder*>(data);
        *self.trace += self.name + letter(kind) + " ";
        return self.calls_left < 0 || --self.calls_left > 0;
    }
    static const char* letter(SwitchKind kind) {
        switch (kind) {
            case SwitchKind::Enter:
                return "enter";
            case SwitchKind::Leave:
                return "leave";
            case SwitchKind::Finish:
                break;
        }
        return "finish";
    }
};

CORO_TEST(SwitchHandler, IsCalledOnEnterLeaveAndFinish) {
    std::string trace;
    Recorder recorder{&trace};
    ManualEvent event;
    auto child = spawn([&] {
        trace += "a ";
        suspend();
        trace += "b ";
        await(event);
        trace += "c ";
    });
    child.coroutine().add_switch_handler(recorder.handler());
    suspend();
    trace += "| ";
    suspend();
    trace += "| ";
    event.notify();
    await(child);
    EXPECT_EQ(trace, "enter a leave | enter b leave | enter c finish ");
}

RUNTIME_TEST(SwitchHandler, SuspendingWithNobodyElseIsNoSwitch) {
    std::string trace;
    Recorder recorder{&trace};
    in_runtime([&] {
        current().add_switch_handler(recorder.handler());
        suspend();
        suspend();
        EXPECT_EQ(trace, "");
    });
}

CORO_TEST(SwitchHandler, IsToldOnlyOfItsOwnCoroutine) {
    std::string trace;
    Recorder recorder{&trace};
    auto other = spawn([] { settle(5); });
    auto child = spawn([] {});
    child.coroutine().add_switch_handler(recorder.handler());
    await(other);
    await(child);
    EXPECT_EQ(trace, "enter finish ");
}

CORO_TEST(SwitchHandler, ReturnValueDecidesItsLife) {
    std::string trace;
    Recorder once{&trace, "once-", 1};
    Recorder twice{&trace, "twice-", 2};
    Recorder always{&trace, "always-"};
    auto child = spawn([] { suspend(); });
    for (Recorder* recorder : {&once, &twice, &always}) {
        child.coroutine().add_switch_handler(recorder->handler());
    }
    suspend();
    await(child);
    EXPECT_EQ(
        trace,
        "once-enter twice-enter always-enter "
        "twice-leave always-leave "
        "always-enter "
        "always-finish "
    );
}

CORO_TEST(SwitchHandler, OnTheCurrentCoroutineSeesLeaveFirst) {
    std::string trace;
    Recorder recorder{&trace};
    auto child = spawn([&] {
        runtime().add_switch_handler(recorder.handler());
        trace += "a ";
        suspend();
        trace += "b ";
    });
    suspend();
    trace += "| ";
    await(child);
    EXPECT_EQ(trace, "a leave | enter b finish ");
}

CORO_TEST(SwitchHandler, OnASuspendedCoroutineSeesEnterFirst) {
    std::string trace;
    Recorder yields{&trace, "yields-"};
    Recorder waits{&trace, "waits-"};
    ManualEvent event;
    auto yielding = spawn([] { suspend(); });
    auto waiting = spawn([&] { await(event); });
    suspend();
    yielding.coroutine().add_switch_handler(yields.handler());
    waiting.coroutine().add_switch_handler(waits.handler());
    EXPECT_EQ(trace, "");
    await(yielding);
    EXPECT_EQ(trace, "yields-enter yields-finish ");
    event.notify();
    await(waiting);
    EXPECT_EQ(trace, "yields-enter yields-finish waits-enter waits-finish ");
}

CORO_TEST(SwitchHandler, SeesFinishOfOneThatNeverStarted) {
    std::string trace;
    Recorder recorder{&trace};
    auto child = spawn([] {});
    child.coroutine().add_switch_handler(recorder.handler());
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "finish ");
}

CORO_TEST(SwitchHandler, SeesTheSwitchesOfACancelledWait) {
    std::string trace;
    Recorder recorder{&trace};
    auto child = spawn([] { sleep_for(1h); });
    child.coroutine().add_switch_handler(recorder.handler());
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "enter leave enter finish ");
}

CORO_TEST(SwitchHandler, FollowsAHandedOverContext) {
    std::string trace;
    Recorder a{&trace, "a-"};
    Recorder b{&trace, "b-"};
    auto first = spawn([] {});
    auto second = spawn([] {});
    first.coroutine().add_switch_handler(a.handler());
    second.coroutine().add_switch_handler(b.handler());
    await(second);
    EXPECT_EQ(trace, "a-enter a-finish b-enter b-finish ");
    EXPECT_EQ(scheduler().stats().handovers, 1U);
}

CORO_TEST(SwitchHandler, SeesWhoRuns) {
    struct Seen {
        std::vector<const Coroutine*> coroutines;
    } seen;
    auto child = spawn([] { suspend(); });
    child.coroutine().add_switch_handler(
        {[](Coroutine& coroutine, SwitchKind, void* data) {
             EXPECT_TRUE(Scheduler::is_inside_callback());
             EXPECT_EQ(Scheduler::current_coroutine(), &coroutine);
             static_cast<Seen*>(data)->coroutines.push_back(&coroutine);
             return true;
         },
         &seen}
    );
    suspend();
    await(child);
    EXPECT_EQ(seen.coroutines, std::vector<const Coroutine*>(4, &child.coroutine()));
    EXPECT_FALSE(Scheduler::is_inside_callback());
}

CORO_TEST(SwitchHandler, MayAddHandlers) {
    struct Adder {
        std::string trace;
        Recorder added{&trace, "added-"};
    } adder;
    auto child = spawn([] { suspend(); });
    child.coroutine().add_switch_handler(
        {[](Coroutine& coroutine, SwitchKind, void* data) {
             auto& self = *static_cast<Adder*>(data);
             self.trace += "adder ";
             for (int i = 0; i < 10; ++i) {  // the array moves
                 coroutine.add_switch_handler({[](Coroutine&, SwitchKind, void*) { return false; }, nullptr});
             }
             coroutine.add_switch_handler(self.added.handler());
             return false;
         },
         &adder}
    );
    suspend();
    await(child);
    EXPECT_EQ(adder.trace, "adder added-leave added-enter added-finish ");
}

CORO_TEST(SwitchHandler, OneThatThrowsIsRemovedAndReported) {
    std::string trace;
    Recorder after{&trace};
    auto child = spawn([&] {
        suspend();
        trace += "body ";
    });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind, void*) -> bool { throw std::runtime_error("handler threw"); }, nullptr}
    );
    child.coroutine().add_switch_handler(after.handler());
    suspend();
    await(child);
    EXPECT_EQ(trace, "enter leave enter body finish ");
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::CallbackThrew);
    EXPECT_TRUE(contains(sink.warnings[0].text, "handler threw"));
    EXPECT_TRUE(runtime().is_accepting());
}

CORO_TEST(SwitchHandler, ThrowingOneDoesNotDisturbAnExceptionInFlight) {
    auto child = spawn([&] {
        try {
            throw std::logic_error("mine");
        } catch (const std::logic_error&) {
            suspend();
            throw;
        }
    });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind kind, void*) -> bool {
             if (kind != SwitchKind::Enter) {
                 throw std::runtime_error("handler threw");
             }
             return true;
         },
         nullptr}
    );
    suspend();
    EXPECT_THROW(await(child), std::logic_error);
}

CORO_TEST(SwitchHandler, MaySpawnOnLeave) {
    std::string trace;
    auto child = spawn([&] {
        suspend();
        trace += "goes-on ";
    });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind kind, void* data) {
             if (kind == SwitchKind::Leave) {
                 spawn_high([data] { *static_cast<std::string*>(data) += "spawned "; });
                 return false;
             }
             return true;
         },
         &trace}
    );
    suspend();
    await(child);
    EXPECT_EQ(trace, "spawned goes-on ");
}

CORO_TEST(SwitchHandler, MayAddMicrotasks) {
    std::string trace;
    auto child = spawn([&] {
        trace += "child ";
        suspend();
    });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind, void* data) {
             add_microtask([data] { *static_cast<std::string*>(data) += "task "; });
             return false;
         },
         &trace}
    );
    suspend();
    EXPECT_EQ(trace, "child task ");
    await(child);
}

// --- main

RUNTIME_TEST(SwitchHandler, AddedBeforeTheStartGoesToMain) {
    std::string trace;
    Recorder recorder{&trace};
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    own.add_switch_handler(recorder.handler());
    EXPECT_EQ(trace, "");
    ASSERT_TRUE(own.start().ok());
    EXPECT_EQ(trace, "enter ");
    spawn([&] { trace += "child "; });
    suspend();
    EXPECT_EQ(trace, "enter leave child enter ");
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(trace, "enter leave child enter finish ") << "main ends once and does not run again";
}

RUNTIME_TEST(SwitchHandler, OfMainSeesNothingAfterFinish) {
    std::string trace;
    Recorder recorder{&trace};
    in_runtime([&] {
        current().add_switch_handler(recorder.handler());
        spawn([] { sleep_for(1ms); });  // main ends first
    });
    EXPECT_EQ(trace, "finish ");
}

RUNTIME_TEST(SwitchHandler, MainStartHandlersAreCopiedIntoEveryMain) {
    std::string trace;
    Recorder recorder{&trace, "global-"};
    Recorder own{&trace, "own-"};
    Runtime::add_main_start_handler(recorder.handler());
    for (int round = 0; round < 2; ++round) {
        trace.clear();
        in_runtime([&] {
            EXPECT_EQ(trace, "global-enter ");
            current().add_switch_handler(own.handler());
            auto child = spawn([&] { trace += "child "; });  // only main has it
            await(child);
            EXPECT_EQ(trace, "global-enter global-leave own-leave child global-enter own-enter ");
        });
    }
    Runtime::clear_main_start_handlers();
    trace.clear();
    in_runtime([] { settle(2); });
    EXPECT_EQ(trace, "");
}

RUNTIME_TEST(SwitchHandler, MainStartHandlerMayGoAfterItsFirstCall) {
    std::string trace;
    Recorder recorder{&trace, "", 1};
    Runtime::add_main_start_handler(recorder.handler());
    in_runtime([&] {
        auto child = spawn([] {});
        await(child);
    });
    EXPECT_EQ(trace, "enter ");
    recorder.calls_left = 1;
    in_runtime([] {});  // it went from that main only
    EXPECT_EQ(trace, "enter enter ");
    Runtime::clear_main_start_handlers();
}

// --- the list by itself

CORO_TEST(SwitchHandlers, FireKeepsTheOrderOfThoseThatStay) {
    std::string trace;
    Recorder a{&trace, "a-"};
    Recorder b{&trace, "b-", 1};
    Recorder c{&trace, "c-"};
    SwitchHandlers handlers;
    EXPECT_TRUE(handlers.empty());
    for (Recorder* recorder : {&a, &b, &c}) {
        handlers.add(recorder->handler());
    }
    SwitchHandlers copy;
    copy.add_all(handlers);
    handlers.fire(current(), SwitchKind::Enter);
    EXPECT_EQ(handlers.size(), 2U);
    EXPECT_EQ(copy.size(), 3U);
    handlers.fire(current(), SwitchKind::Leave);
    EXPECT_EQ(trace, "a-enter b-enter c-enter a-leave c-leave ");
    handlers.clear();
    EXPECT_TRUE(handlers.empty());
}

}  // namespace
}  // namespace trueasync::testing
