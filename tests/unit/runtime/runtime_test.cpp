#include <trueasync/runtime/runtime.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <support/allocation_counter.hpp>
#include <support/runtime_fakes.hpp>
#include <thread>

namespace trueasync::testing {
namespace {

// --- life

RUNTIME_TEST(Runtime, StatesOfALife) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    EXPECT_EQ(own.state(), Runtime::State::Created);
    EXPECT_FALSE(own.is_accepting());
    EXPECT_EQ(Runtime::current(), nullptr);
    ASSERT_TRUE(own.start().ok());
    EXPECT_EQ(own.state(), Runtime::State::Running);
    EXPECT_TRUE(own.is_accepting());
    EXPECT_EQ(Runtime::current(), &own);
    EXPECT_EQ(Scheduler::current(), &own.scheduler());
    EXPECT_EQ(own.scheduler().main().name(), "main");
    EXPECT_TRUE(own.scheduler().main().is_running());
    own.shutdown();
    EXPECT_EQ(own.state(), Runtime::State::Stopping);
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(own.state(), Runtime::State::Stopped);
    EXPECT_EQ(Runtime::current(), nullptr);
    EXPECT_EQ(Scheduler::current_coroutine(), nullptr);
}

RUNTIME_TEST(Runtime, CreatingOneTakesNoStack) {
    Runtime own(std::make_unique<VirtualReactor>());
    EXPECT_EQ(own.stacks().stats().slabs, 0U);
}

RUNTIME_TEST(Runtime, HostBringsItsOwnMain) {
    SinkScope scope(sink);
    auto main = make_coroutine([] { ADD_FAILURE() << "the running code is its body"; });
    main->set_name("host");
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start(main.get()).ok());
    EXPECT_EQ(&current(), main.get());
    EXPECT_TRUE(contains(dump(), "'host' (running)"));
    auto child = spawn([] { return 1; });
    EXPECT_EQ(await(child), 1);
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_TRUE(main->is_finished());
    EXPECT_EQ(main->ref_count(), 1U);
}

RUNTIME_TEST(Runtime, MainIsAnEventLikeAnyOther) {
    SinkScope scope(sink);
    bool has_seen = false;
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    spawn([&, &main = current()] {
        await(main);
        has_seen = true;
    });
    suspend();
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_TRUE(has_seen);
}

RUNTIME_TEST(Runtime, FinishReturnsTheErrorOfMain) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    const Ref<Error> outcome = own.finish(Error::make(ErrorCode::System, "main's own"));
    ASSERT_NE(outcome, nullptr);
    EXPECT_EQ(outcome->message(), "main's own");
    EXPECT_TRUE(sink.unhandled.empty());
}

RUNTIME_TEST(Runtime, FinishReturnsACancellationOfMain) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    auto child = spawn([] {
        sleep_for(1ms);
        return 5;
    });
    const Ref<Error> outcome = own.finish(Error::cancellation(CancelReason::UserRequest, "enough"));
    ASSERT_NE(outcome, nullptr);
    EXPECT_TRUE(outcome->is_cancellation());
    EXPECT_FALSE(child.is_cancelled());  // the end of main by cancellation is an end, not a shutdown
    EXPECT_TRUE(child.is_finished());
}

RUNTIME_TEST(Runtime, DestructorFinishes) {
    SinkScope scope(sink);
    bool has_run = false;
    {
        Runtime own(std::make_unique<VirtualReactor>());
        ASSERT_TRUE(own.start().ok());
        spawn([&] { has_run = true; });
    }
    EXPECT_TRUE(has_run);
    EXPECT_EQ(Runtime::current(), nullptr);
}

RUNTIME_TEST(Runtime, OneAfterTheOther) {
    for (int i = 0; i < 3; ++i) {
        int result = 0;
        in_runtime([&] { result = await(spawn([] { return 3; })); });
        EXPECT_EQ(result, 3);
    }
}

RUNTIME_TEST(Runtime, OnePerThread) {
    in_runtime([] {
        int result = 0;
        std::thread other([&] {
            EXPECT_EQ(Runtime::current(), nullptr);
            RunOptions options;
            options.reactor = std::make_unique<VirtualReactor>();
            result = run([] { return await(spawn([] { return 8; })); }, std::move(options));
        });
        other.join();
        EXPECT_EQ(result, 8);
        EXPECT_NE(Runtime::current(), nullptr);
        EXPECT_EQ(await(spawn([] { return 9; })), 9);
    });
}

RUNTIME_TEST(Runtime, EverythingIsGivenBack) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    EXPECT_EQ(own.stacks().stats().live, 2U);  // the scheduler's and the reactor's
    std::vector<Handle<void>> children;
    for (int i = 0; i < 100; ++i) {
        children.push_back(spawn([] { sleep_for(1ms); }));
    }
    sleep_for(2ms);
    children.clear();
    EXPECT_EQ(own.stacks().stats().live, 2U);
    EXPECT_EQ(own.scheduler().stats().spawned, 101U);
    EXPECT_EQ(own.scheduler().stats().finished, 100U);
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(own.stacks().stats().live, 0U);
}

RUNTIME_TEST(Runtime, UnhandledErrorsBeginAShutdown) {
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    ASSERT_TRUE(own.start().ok());
    const Ref<Error> first = Error::make(ErrorCode::System, "one");
    own.unhandled(nullptr, *first);
    EXPECT_EQ(own.state(), Runtime::State::Stopping);
    EXPECT_EQ(sink.unhandled, std::vector<std::string>{"loop: one"});
    const Ref<Error> second = Error::make(ErrorCode::System, "two");
    own.unhandled(nullptr, *second);
    EXPECT_EQ(own.state(), Runtime::State::Final);
    EXPECT_THROW(suspend(), Cancellation);
    EXPECT_THROW(suspend(), Cancellation);  // nothing waits in the last step
    const Ref<Error> outcome = own.finish();
    ASSERT_NE(outcome, nullptr);
    EXPECT_EQ(outcome->message(), "one");
}

// --- nothing is allocated on the hot paths

#define SKIP_WITHOUT_COUNTER()                                          \
    if (!AllocationCounter::works()) {                                  \
        GTEST_SKIP() << "the sanitizer has an operator new of its own"; \
    }

CORO_TEST(Allocations, YieldHasNone) {
    SKIP_WITHOUT_COUNTER();
    bool is_done = false;
    auto other = spawn([&] {
        while (!is_done) {
            suspend();
        }
    });
    settle(10);
    const AllocationCounter counter;
    settle(5000);
    EXPECT_EQ(counter.count(), 0U);
    is_done = true;
    await(other);
}

CORO_TEST(Allocations, WarmSpawnAndJoinHaveNone) {
    SKIP_WITHOUT_COUNTER();
    const auto round = [] {
        int sum = 0;
        for (int i = 0; i < 100; ++i) {
            sum += await(spawn([i] { return i; }));
        }
        return sum;
    };
    EXPECT_EQ(round(), 4950);
    const AllocationCounter counter;
    EXPECT_EQ(round(), 4950);
    EXPECT_EQ(counter.count(), 0U);
}

CORO_TEST(Allocations, AwaitOfACompletedOneHasNone) {
    SKIP_WITHOUT_COUNTER();
    auto child = spawn([] { return 1; });
    await(child);
    const AllocationCounter counter;
    int sum = 0;
    for (int i = 0; i < 1000; ++i) {
        sum += await(child);
        sum += wait_for(child.coroutine()) == WaitResult::Ready ? 1 : 0;
    }
    EXPECT_EQ(counter.count(), 0U);
    EXPECT_EQ(sum, 2000);
}

CORO_TEST(Allocations, WaitForOneEventHasNone) {
    SKIP_WITHOUT_COUNTER();
    ManualEvent event;
    bool is_done = false;
    auto waiter = spawn([&] {
        while (!is_done) {
            await(event);
        }
    });
    settle(3);
    const AllocationCounter counter;
    for (int i = 0; i < 1000; ++i) {
        event.notify();
        suspend();
    }
    EXPECT_EQ(counter.count(), 0U);
    is_done = true;
    event.notify();
    await(waiter);
}

CORO_TEST(Allocations, WarmSleepHasNone) {
    SKIP_WITHOUT_COUNTER();
    sleep_for(1ms);
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) {
        sleep_for(1ms);
    }
    EXPECT_EQ(counter.count(), 0U);
}

CORO_TEST(Allocations, DirectWaitHasNone) {
    SKIP_WITHOUT_COUNTER();
    ManualEvent source;
    IntrusiveList<DirectWait> waiters;
    auto waiter = spawn([&] {
        for (int i = 0; i < 1000; ++i) {
            DirectWait wait(source);
            waiters.push_back(wait);
            EXPECT_EQ(wait.park(), WaitResult::Ready);
        }
    });
    suspend();
    const AllocationCounter counter;
    while (DirectWait* wait = waiters.pop_front()) {
        wait->wake();
        suspend();
    }
    EXPECT_EQ(counter.count(), 0U);
    await(waiter);
}

// --- stack overflow

/// What a child process wrote to its standard error before it died, and whether it died.
struct Death {
    std::string text;
    bool has_died = false;
};

template <typename F>
Death in_child(F&& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    Death death;
    char buffer[512];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        death.text.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    death.has_died = WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
    return death;
}

[[gnu::noinline]] int overflow(int depth) {
    volatile char frame[512];
    frame[depth % 512] = static_cast<char>(depth);
    return depth < 1000000 ? overflow(depth + 1) + frame[(depth * 7) % 512] : 0;
}

void overflow_in_a_coroutine(bool is_reporting) {
    RunOptions options;
    options.reactor = std::make_unique<VirtualReactor>();
    options.settings.report_overflow = is_reporting;
    run(
        [] {
            auto innocent = spawn([] { sleep_for(1h); });
            innocent.named("innocent");
            auto deep = spawn([] {
                suspend();
                return overflow(0);
            });
            deep.named("bottomless");
            await(deep);
        },
        std::move(options)
    );
}

TEST(StackOverflow, IsReportedWithTheNameOfTheCoroutine) {
    const Death death = in_child([] { overflow_in_a_coroutine(true); });
    EXPECT_TRUE(death.has_died);
    EXPECT_TRUE(contains(death.text, "trueasync: stack overflow in ")) << death.text;
    EXPECT_TRUE(contains(death.text, "'bottomless'")) << death.text;
    EXPECT_TRUE(contains(death.text, "runtime_test.cpp:")) << death.text;
    EXPECT_FALSE(contains(death.text, "innocent")) << death.text;
}

RUNTIME_TEST(Runtime, FinishWithoutAStartAndTwiceIsHarmless) {
    const Death death = in_child([] {
        Runtime own(std::make_unique<VirtualReactor>());
        const bool is_quiet = own.finish() == nullptr;
        const bool has_started = own.start().ok();
        const bool is_quiet_again = own.finish() == nullptr && own.finish() == nullptr;
        ::_exit(is_quiet && has_started && is_quiet_again ? 0 : 1);
    });
    EXPECT_FALSE(death.has_died) << death.text;
}

TEST(StackOverflow, ReportIsASetting) {
    const Death death = in_child([] { overflow_in_a_coroutine(false); });
    EXPECT_TRUE(death.has_died);
    EXPECT_FALSE(contains(death.text, "trueasync: stack overflow in ")) << death.text;
}

}  // namespace
}  // namespace trueasync::testing
