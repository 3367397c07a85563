#include <trueasync/api/thread.hpp>

#include <atomic>
#include <stdexcept>
#include <support/runtime_fakes.hpp>
#include <support/threads.hpp>
#include <thread>
#include <trueasync/api/remote_future.hpp>
#include <trueasync/api/thread_channel.hpp>

#if defined(TA_TSAN)
#define SKIP_FORK() GTEST_SKIP() << "the thread sanitizer loses sight of the coroutines in a forked child"
#else
#define SKIP_FORK() static_cast<void>(0)
#endif

namespace trueasync::testing {
namespace {

CORO_TEST(Thread, ResultIsAwaited) {
    // [spawn_thread]
    auto thread = spawn_thread([] { return std::string("from afar"); });
    EXPECT_EQ(await(thread), "from afar");  // the other coroutines run meanwhile
    // [spawn_thread]
    EXPECT_TRUE(thread.is_completed());
    EXPECT_FALSE(thread.is_running());
    EXPECT_FALSE(thread.is_cancelled());
    EXPECT_EQ(await(thread), "from afar");
    EXPECT_EQ(thread.event().info(), "Thread(ta-thread, done)");
    EXPECT_TRUE(thread.event().cancel().ok());
}

CORO_TEST(Thread, RunsBesideTheCoroutines) {
    Gate gate;
    std::thread::id id;
    auto thread = spawn_thread([&] {
        id = std::this_thread::get_id();
        gate.wait();
    });
    EXPECT_TRUE(thread.is_running());
    EXPECT_FALSE(thread.is_completed());
    EXPECT_EQ(thread.event().info(), "Thread(ta-thread, running)");
    const Status status = thread.event().cancel();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error()->message(), "Thread cancellation is not yet implemented");
    EXPECT_EQ(clock().active().visible, 0U);  // nobody waits yet
    gate.open();
    await(thread);
    EXPECT_NE(id, std::this_thread::get_id());
}

CORO_TEST(Thread, ThrowsWhatItThrew) {
    auto thread = spawn_thread([]() -> int { throw std::out_of_range("far"); });
    EXPECT_TRUE(throws<std::out_of_range>([&] { await(thread); }));
    EXPECT_TRUE(throws<std::out_of_range>([&] { await(thread); }));
    EXPECT_EQ(thread.event().info(), "Thread(ta-thread, failed)");
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Thread, ErrorThatNobodyTookIsReported) {
    {
        auto thread = spawn_thread([] { throw std::runtime_error("nobody looks"); });
        while (!thread.is_completed()) {
            suspend();
        }
    }
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_EQ(sink.unhandled[0], "Thread(ta-thread, failed): std::runtime_error: nobody looks");
}

CORO_TEST(Thread, SeveralWaitAndOneLeaves) {
    Gate gate;
    auto thread = spawn_thread([&] {
        gate.wait();
        return 4;
    });
    auto first = spawn([&] { return await(thread); });
    auto second = spawn([&] { return await(thread); });
    settle();
    first.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(first); }));
    EXPECT_TRUE(throws<TimeoutError>([&] { await(thread, 1ms); }));
    gate.open();
    EXPECT_EQ(await(second), 4);
}

CORO_TEST(Thread, IsAwaitedAmongOthers) {
    auto [future, promise] = remote_future<std::unique_ptr<int>>();
    auto number = spawn_thread([] { return 1; });
    auto nothing =
        spawn_thread([promise = std::move(promise)]() mutable { promise.complete(std::make_unique<int>(2)); });
    auto [one, two, three, none] = await_all(number, future, spawn([] { return 3; }), nothing);
    static_assert(std::is_same_v<decltype(none), detail::Nothing>);
    EXPECT_EQ(one + *two + three, 6);
    const auto winner = await_any(std::vector{number});
    EXPECT_EQ(winner->value, 1);
    auto failing = spawn_thread([]() -> int { throw std::range_error("far"); });
    EXPECT_EQ(what_of([&] { await_all(std::vector{number, failing}); }), "far");
}

CORO_TEST(Thread, MovesWhatCanOnlyBeMoved) {
    auto value = std::make_unique<int>(1);
    auto thread = spawn_thread([value = std::move(value)]() mutable { return std::move(value); });
    EXPECT_EQ(*await(thread), 1);
}

CORO_TEST(Thread, CanBeAskedToStop) {
    auto thread = spawn_thread([](ThreadStop stop) { return eventually([&] { return stop.is_requested(); }); });
    thread.request_stop();
    EXPECT_TRUE(await(thread));
    thread.request_stop();
}

CORO_TEST(Thread, MayHaveARuntime) {
    auto thread = spawn_thread(
        [] {
            auto one = spawn([] {
                sleep_for(1ms);
                return 20;
            });
            auto other = spawn([] { return 22; });
            return await(one) + await(other);
        },
        {.name = "busy", .has_runtime = true}
    );
    EXPECT_EQ(await(thread), 42);
    auto ending = spawn_thread(
        []() -> int {
            shutdown();
            suspend();
            return 1;
        },
        {.has_runtime = true}
    );
    EXPECT_TRUE(throws<Cancellation>([&] { await(ending); }));
}

CORO_TEST(Thread, FinallyIsCalledHere) {
    Gate gate;
    auto thread = spawn_thread([&] { gate.wait(); });
    std::string trace;
    const auto here = std::this_thread::get_id();
    thread.finally([&] { trace += std::this_thread::get_id() == here ? "first " : "elsewhere "; });
    thread.finally([&] { trace += "second "; });
    settle();
    EXPECT_EQ(trace, "");
    gate.open();
    await(thread);
    settle();
    EXPECT_EQ(trace, "first second ");
    thread.finally([&] { trace += "late "; });
    settle();
    EXPECT_EQ(trace, "first second late ");
}

CORO_TEST(Thread, DroppedThreadGoesOn) {
    auto done = std::make_shared<Gate>();
    auto gate = std::make_shared<Gate>();
    spawn_thread([done, gate] {
        gate->wait();
        done->open();
    });
    gate->open();
    done->wait();
    EXPECT_TRUE(ThreadEvent::wait_for_all(9s));
    EXPECT_EQ(ThreadEvent::live(), 0U);
}

TEST_F(CoroTest, ThreadOutlivesTheRuntime) {
    auto gate = std::make_shared<Gate>();
    std::optional<Thread<int>> thread;
    in_runtime([&] {
        thread = spawn_thread([gate] {
            gate->wait();
            return 1;
        });
        EXPECT_FALSE(ThreadEvent::wait_for_all(1ms));
    });
    EXPECT_EQ(thread->event().info(), "Thread(ta-thread, closed)");
    gate->open();
    EXPECT_TRUE(ThreadEvent::wait_for_all(9s));
}

CORO_TEST(Thread, ClosesItsChannelsBeforeItsEndIsTold) {
    auto thread = spawn_thread([] { return ThreadChannel<int>(1); });
    EXPECT_TRUE(await(thread).is_closed());
}

TEST_F(CoroTest, ThreadIsLostInTheChildOfAFork) {
    SKIP_FORK();
    in_runtime([&] {
        Gate gate;
        auto thread = spawn_thread([&] { gate.wait(); });
        EXPECT_EQ(
            in_child([&] {
                const bool is_lost = throws<ThreadPoolError>([&] { await(thread); });
                return is_lost && ThreadEvent::live() == 0 && await(spawn_thread([] { return 5; })) == 5 ? 0 : 1;
            }),
            0
        );
        gate.open();
        await(thread);
    });
}

TEST(ThreadOutside, NeedsARuntime) {
    EXPECT_EQ(code_of([] { spawn_thread([] {}); }), ErrorCode::NotRunning);
}

}  // namespace
}  // namespace trueasync::testing
