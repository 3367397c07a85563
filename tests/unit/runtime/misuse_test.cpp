#include <trueasync/runtime/runtime.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <fstream>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- outside a coroutine

TEST(MisuseOutside, SuspendingIsRefused) {
    ManualEvent event;
    EXPECT_EQ(code_of([] { suspend(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { sleep_for(std::chrono::milliseconds(1)); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { sleep_for(std::chrono::milliseconds(0)); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([&] { await(event, std::chrono::seconds(1)); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(code_of([] { current(); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(wait_for(event), WaitResult::Refused);
    EXPECT_EQ(sleep_until(Deadline::never()), WaitResult::Refused);
    Scheduler::take_wait_error();
    {
        WaitGuard guard;
        EXPECT_EQ(guard.add(event), WaitResult::Refused);
        EXPECT_EQ(guard.park(), WaitResult::Refused);
        EXPECT_EQ(guard.fired(), nullptr);
        EXPECT_EQ(guard.coroutine(), nullptr);
    }
    const Ref<Error> error = Scheduler::take_wait_error();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code(), ErrorCode::NotInCoroutine);
    EXPECT_EQ(event.callback_count(), 0U);
}

TEST(MisuseOutside, SpawningIsRefused) {
    EXPECT_EQ(code_of([] { spawn([] {}); }), ErrorCode::NotRunning);
    EXPECT_EQ(code_of([] { timeout(std::chrono::seconds(1)); }), ErrorCode::NotRunning);
    shutdown();  // does nothing
    EXPECT_EQ(protect([] { return 3; }), 3);
}

RUNTIME_TEST(Misuse, HandlesAfterTheRunAreHarmless) {
    Handle<int> finished;
    Handle<void> cancelled;
    in_runtime([&] {
        finished = spawn([] { return 4; });
        cancelled = spawn([] { sleep_for(1h); });
        suspend();
        shutdown();
    });
    EXPECT_TRUE(finished.is_finished());
    finished.cancel();
    EXPECT_EQ(await(finished), 4);  // complete: needs no runtime
    EXPECT_TRUE(cancelled.is_cancelled());
    EXPECT_THROW(await(cancelled), Cancellation);
    EXPECT_EQ(code_of([&] { await(static_cast<Event&>(finished.coroutine())); }), ErrorCode::NotInCoroutine);
}

// --- oneself

CORO_TEST(Misuse, AwaitOfOneself) {
    EXPECT_EQ(code_of([] { await(current()); }), ErrorCode::AwaitSelf);
    EXPECT_EQ(code_of([] { await(current(), 1s); }), ErrorCode::AwaitSelf);
    EXPECT_EQ(wait_for(current()), WaitResult::Refused);
    Handle<void> self;
    self = spawn([&] { EXPECT_EQ(code_of([&] { await(self); }), ErrorCode::AwaitSelf); });
    await(self);
    auto other = spawn([] {
        WaitGuard guard;
        EXPECT_EQ(guard.add(current()), WaitResult::Refused);
        EXPECT_EQ(guard.park(), WaitResult::Refused);
    });
    await(other);
    EXPECT_EQ(current().callback_count(), 0U);
}

// --- where nothing may suspend

/// Tries every way to suspend; each must be refused.
void expect_refused(const char* where) {
    ManualEvent event;
    EXPECT_EQ(code_of([] { suspend(); }), ErrorCode::SuspendRefused) << where;
    EXPECT_EQ(code_of([] { sleep_for(1ms); }), ErrorCode::SuspendRefused) << where;
    EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::SuspendRefused) << where;
    EXPECT_EQ(code_of([&] { await(event, 1s); }), ErrorCode::SuspendRefused) << where;
    {
        WaitGuard guard;
        guard.add(event);
        EXPECT_EQ(guard.park(), WaitResult::Refused) << where;
        Scheduler::take_wait_error();
    }
    {
        DirectWait wait(event);
        EXPECT_EQ(wait.park(), WaitResult::Refused) << where;
        Scheduler::take_wait_error();
    }
    EXPECT_EQ(event.callback_count(), 0U);
    EXPECT_TRUE(Scheduler::is_inside_callback()) << where;
}

CORO_TEST(Misuse, SuspendingInATimerCallback) {
    int calls = 0;
    const auto timer = call_after(1ms, [&] {
        expect_refused("blocking turn");
        ++calls;
    });
    sleep_for(2ms);
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(sink.warnings.empty());
    EXPECT_FALSE(Scheduler::is_inside_callback());
}

RUNTIME_TEST(Misuse, SuspendingInACallbackOfANonBlockingTurn) {
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 1;
    in_runtime(
        [] {
            int calls = 0;
            bool is_done = false;
            auto other = spawn([&] {
                while (!is_done) {
                    suspend();
                }
            });
            const auto timer = call_after(1ms, [&] {
                expect_refused("non-blocking turn");
                ++calls;
            });
            clock().advance(1ms);
            settle(5);
            EXPECT_EQ(calls, 1);
            is_done = true;
            await(other);
        },
        settings
    );
}

CORO_TEST(Misuse, SuspendingInAMicrotask) {
    int calls = 0;
    auto other = spawn([] { settle(3); });
    add_microtask([&] {
        expect_refused("microtask");
        ++calls;
    });
    suspend();
    EXPECT_EQ(calls, 1);
    await(other);
}

CORO_TEST(Misuse, SuspendingInASwitchHandler) {
    int calls = 0;
    auto child = spawn([] { suspend(); });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind, void* data) {
             expect_refused("switch handler");
             ++*static_cast<int*>(data);
             return true;
         },
         &calls}
    );
    suspend();
    await(child);
    EXPECT_EQ(calls, 4);
}

/// Suspends in its destructor.
struct SuspendsAtItsEnd {
    ErrorCode* code;
    bool is_live = true;
    explicit SuspendsAtItsEnd(ErrorCode* target) : code(target) {}
    SuspendsAtItsEnd(SuspendsAtItsEnd&& other) noexcept : code(other.code) { other.is_live = false; }
    ~SuspendsAtItsEnd() {
        if (is_live) {
            *code = code_of([] { suspend(); });
        }
    }
};

CORO_TEST(Misuse, SuspendingInTheDestructorOfADroppedResult) {
    ErrorCode code = ErrorCode::System;
    spawn([&] { return SuspendsAtItsEnd(&code); });  // nobody holds the result: it ends with its coroutine
    auto other = spawn([] { settle(3); });
    settle(3);
    EXPECT_EQ(code, ErrorCode::SuspendRefused);
    await(other);
}

CORO_TEST(Misuse, SuspendingInADroppedBody) {
    ErrorCode code = ErrorCode::System;
    auto child = spawn([guard = SuspendsAtItsEnd(&code)] {});
    child.cancel();  // never runs
    settle(2);
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_EQ(code, ErrorCode::SuspendRefused);
}

CORO_TEST(Misuse, AwaitOfACompleteOneWorksInACallback) {
    auto child = spawn([] { return 6; });
    await(child);
    int result = 0;
    add_microtask([&] { result = await(child); });
    suspend();
    EXPECT_EQ(result, 6);
}

// --- two waits at once

CORO_TEST(Misuse, TwoGuardsAtOnce) {
    ManualEvent a;
    ManualEvent b;
    auto child = spawn([&] {
        WaitGuard first;
        first.add(a);
        {
            WaitGuard second;
            EXPECT_EQ(second.add(b), WaitResult::Refused);
            EXPECT_EQ(second.park(), WaitResult::Refused);
            const Ref<Error> error = Scheduler::take_wait_error();
            ASSERT_NE(error, nullptr);
            EXPECT_EQ(error->code(), ErrorCode::IllegalState);
        }
        EXPECT_EQ(code_of([&] { await(b); }), ErrorCode::IllegalState);
        EXPECT_EQ(code_of([&] { sleep_for(1ms); }), ErrorCode::IllegalState);
        EXPECT_EQ(first.park(), WaitResult::Ready);  // the first one is not disturbed
        EXPECT_EQ(first.fired()->event(), &a);
    });
    suspend();
    EXPECT_EQ(b.callback_count(), 0U);
    a.notify();
    await(child);
}

CORO_TEST(Misuse, AwaitInsideADirectWait) {
    ManualEvent source;
    ManualEvent event;
    IntrusiveList<DirectWait> waiters;
    auto child = spawn([&] {
        DirectWait wait(source);
        waiters.push_back(wait);
        EXPECT_EQ(code_of([&] { await(event); }), ErrorCode::IllegalState);
        EXPECT_EQ(wait.park(), WaitResult::Ready);
    });
    suspend();
    EXPECT_EQ(event.callback_count(), 0U) << "a wait inside a wait has begun";
    ASSERT_FALSE(waiters.empty());
    waiters.pop_front()->wake();
    event.notify();
    settle();
    EXPECT_TRUE(child.is_finished());
    event.notify();
}

// --- spawning

CORO_TEST(Misuse, SpawningTwice) {
    auto coroutine = make_coroutine([] { suspend(); });
    ASSERT_TRUE(scheduler().spawn(*coroutine).ok());
    EXPECT_TRUE(scheduler().spawn(*coroutine).is(ErrorCode::IllegalState));  // queued
    suspend();
    EXPECT_TRUE(scheduler().spawn(*coroutine).is(ErrorCode::IllegalState));  // suspended
    await(*coroutine);
    EXPECT_TRUE(scheduler().spawn(*coroutine).is(ErrorCode::IllegalState));  // finished
    EXPECT_TRUE(scheduler().spawn(scheduler().main()).is(ErrorCode::IllegalState));
    EXPECT_EQ(scheduler().alive_count(), 1U);
    EXPECT_EQ(coroutine->ref_count(), 1U);
}

RUNTIME_TEST(Misuse, SpawningIntoARuntimeThatDoesNotRun) {
    Runtime own(std::make_unique<VirtualReactor>());
    auto coroutine = make_coroutine([] { ADD_FAILURE(); });
    EXPECT_TRUE(own.scheduler().spawn(*coroutine).is(ErrorCode::NotRunning));
    in_runtime([&] { EXPECT_TRUE(own.scheduler().spawn(*coroutine).is(ErrorCode::NotRunning)); });
    EXPECT_EQ(coroutine->ref_count(), 1U);
}

// --- running

CORO_TEST(Misuse, RunInsideRun) {
    EXPECT_EQ(code_of([] { run([] { ADD_FAILURE(); }); }), ErrorCode::AlreadyRunning);
    auto child = spawn([] { EXPECT_EQ(code_of([] { run([] { ADD_FAILURE(); }); }), ErrorCode::AlreadyRunning); });
    await(child);
    EXPECT_EQ(Runtime::current()->state(), Runtime::State::Running);
    auto closed = ManualEvent::create();
    closed->close();
    EXPECT_EQ(wait_for(*closed), WaitResult::Refused);
    EXPECT_TRUE(sink.has(Warning::ClosedEvent));  // reports still go where this run sends them
}

RUNTIME_TEST(Misuse, StartingTwice) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    EXPECT_TRUE(own.start().is(ErrorCode::AlreadyRunning));
    Runtime second(std::make_unique<VirtualReactor>());
    EXPECT_TRUE(second.start().is(ErrorCode::AlreadyRunning));
    EXPECT_EQ(second.state(), Runtime::State::Created);
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_TRUE(own.start().is(ErrorCode::IllegalState));
    ASSERT_TRUE(second.start().ok());
    EXPECT_EQ(second.finish(), nullptr);
}

RUNTIME_TEST(Misuse, FinishingOneThatDoesNotRun) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    own.shutdown();
    EXPECT_EQ(own.state(), Runtime::State::Created);
    ASSERT_TRUE(own.start().ok());
    EXPECT_EQ(own.finish(), nullptr);
    own.shutdown();
    EXPECT_EQ(own.state(), Runtime::State::Stopped);
}

RUNTIME_TEST(Misuse, CancellingTheSchedulersOwnCoroutine) {
    in_runtime([] {
        scheduler().cancel(scheduler().own_coroutine(), {});
        EXPECT_FALSE(scheduler().own_coroutine().is_cancel_requested());
        sleep_for(1ms);
    });
}

// --- memory for stacks

RUNTIME_TEST(Misuse, NoMemoryForTheFirstStacks) {
    RuntimeSettings settings;
    settings.stacks.stack_size = std::size_t{1} << 48;
    EXPECT_EQ(code_of([&] { in_runtime([] { ADD_FAILURE(); }, settings); }), ErrorCode::OutOfMemory);
    EXPECT_EQ(Runtime::current(), nullptr);
    in_runtime([] { EXPECT_EQ(await(spawn([] { return 1; })), 1); });
}

/// Leaves this process so much more address space and no more.
class AddressSpaceLimit {
public:
    explicit AddressSpaceLimit(std::size_t more) {
        ::getrlimit(RLIMIT_AS, &before_);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = before_;
        limit.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more;
        ::setrlimit(RLIMIT_AS, &limit);
    }
    ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }
    AddressSpaceLimit(const AddressSpaceLimit&) = delete;
    AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

private:
    rlimit before_{};
};

CORO_TEST(Misuse, NoMemoryForOneMoreStack) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
    ManualEvent gate;
    std::vector<Handle<void>> children;
    children.reserve(10000);
    const auto one = [] { return 1; };
    EXPECT_EQ(await(spawn(one)), 1);  // the memory for its like is there from now on: only the stack can be missing
    const std::size_t base = live_stacks();
    {
        const AddressSpaceLimit limit(32 * 1024 * 1024);
        ErrorCode code = ErrorCode::System;
        for (int i = 0; i < 10000 && code == ErrorCode::System; ++i) {
            try {
                children.push_back(spawn([&] { await(gate); }));
            } catch (const AsyncError& error) {
                code = error.code();
                EXPECT_TRUE(contains(error.what(), std::to_string(children.size() + 1) + " are alive")) << error.what();
            }
        }
        EXPECT_EQ(code, ErrorCode::OutOfMemory);
        EXPECT_GT(children.size(), 10U);
        EXPECT_EQ(scheduler().alive_count(), children.size() + 1);
        suspend();  // those that were accepted have their stacks, every one of them
        EXPECT_EQ(live_stacks(), base + children.size());
        EXPECT_EQ(gate.callback_count(), children.size());
        EXPECT_EQ(code_of([] { spawn([] {}); }), ErrorCode::OutOfMemory);
        gate.notify();
        await(children.back());
        children.pop_back();              // its memory, should the last of that be used up too
        EXPECT_EQ(await(spawn(one)), 1);  // stacks have come back
    }
    for (const auto& child : children) {
        EXPECT_TRUE(child.is_finished());
    }
    std::vector<Handle<void>> more;
    for (std::size_t i = 0; i < children.size() * 2; ++i) {
        more.push_back(spawn([] { suspend(); }));  // the limit has gone
    }
    settle(5);
    EXPECT_TRUE(more.back().is_finished());
    EXPECT_TRUE(runtime().is_accepting());
}

// --- exceptions out of callbacks

CORO_TEST(Misuse, CallbackThatThrowsIsContained) {
    ManualEvent event;
    std::string trace;
    subscribe(event, [&]() -> void {
        trace += "first ";
        throw std::runtime_error("callback threw");
    });
    subscribe(event, [&] { trace += "second "; });
    auto waiter = spawn([&] {
        await(event);
        trace += "waiter";
    });
    suspend();
    event.notify();
    await(waiter);
    EXPECT_EQ(trace, "first second waiter");
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::CallbackThrew);
    EXPECT_TRUE(contains(sink.warnings[0].text, "callback threw"));
}

CORO_TEST(Misuse, TimerCallbackThatThrowsIsContained) {
    const auto blocking = call_after(1ms, []() -> void { throw std::runtime_error("timer threw"); });
    sleep_for(2ms);
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::CallbackThrew);
    EXPECT_TRUE(runtime().is_accepting());
}

CORO_TEST(Misuse, CompletionCallbackThatThrowsIsContained) {
    auto child = spawn([] { return 1; });
    subscribe(child.coroutine(), []() -> void { throw std::runtime_error("callback threw"); });
    EXPECT_EQ(await(child), 1);
    EXPECT_TRUE(sink.has(Warning::CallbackThrew));
}

CORO_TEST(Misuse, SuspendingInACompletionCallback) {
    ErrorCode code = ErrorCode::System;
    auto child = spawn([] {});
    subscribe(child.coroutine(), [&] { code = code_of([] { suspend(); }); });
    auto other = spawn([] { settle(3); });
    settle(5);
    EXPECT_EQ(code, ErrorCode::SuspendRefused) << "it ran in the turn of a coroutine that has ended";
    await(other);
}

CORO_TEST(Misuse, OnlyACoroutineItselfFiresAndCloses) {
    auto child = spawn([] {
        suspend();
        return 5;
    });
    suspend();
    Event& event = child.coroutine();
    EXPECT_TRUE(event.notify(nullptr, nullptr).is(ErrorCode::IllegalState));
    event.close();
    ASSERT_EQ(sink.warnings.size(), 1U);
    EXPECT_EQ(sink.warnings[0].kind, Warning::WrongUse);
    EXPECT_TRUE(contains(sink.warnings[0].text, "cannot close an event that ends by itself"));
    EXPECT_FALSE(child.is_finished());
    EXPECT_EQ(await(child), 5);
    EXPECT_TRUE(event.notify(nullptr, nullptr).is(ErrorCode::EventClosed));
}

CORO_TEST(Misuse, TheEndOfACoroutineCannotBeStopped) {
    auto child = spawn([] {
        suspend();
        return 6;
    });
    child.coroutine().set_notify_handler([](Event&, void*&, Error*&) { return Event::Notify::Stop; });
    EXPECT_EQ(await(child), 6);
    EXPECT_TRUE(child.is_finished());
}

}  // namespace
}  // namespace trueasync::testing
