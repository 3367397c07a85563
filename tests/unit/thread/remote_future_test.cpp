#include <trueasync/api/remote_future.hpp>

#include <memory>
#include <stdexcept>
#include <support/runtime_fakes.hpp>
#include <support/threads.hpp>
#include <thread>

#if defined(TA_TSAN)
#define SKIP_FORK() GTEST_SKIP() << "the thread sanitizer loses sight of the coroutines in a forked child"
#else
#define SKIP_FORK() static_cast<void>(0)
#endif

namespace trueasync::testing {
namespace {

CORO_TEST(RemoteFuture, IsCompletedByAnotherThread) {
    // [remote_future]
    auto [future, promise] = remote_future<std::string>();
    std::thread worker([promise = std::move(promise)]() mutable { promise.complete("done"); });
    EXPECT_EQ(await(future), "done");  // the other coroutines run meanwhile
    // [remote_future]
    worker.join();
    EXPECT_TRUE(future.is_completed());
    EXPECT_EQ(await(future), "done");
}

CORO_TEST(RemoteFuture, IsCompletedByItsOwnThread) {
    auto [future, promise] = remote_future<int>();
    EXPECT_FALSE(promise.is_completed());
    EXPECT_TRUE(promise.complete(3));
    EXPECT_TRUE(promise.is_completed());
    EXPECT_FALSE(promise.complete(4));
    EXPECT_FALSE(promise.fail(std::make_exception_ptr(std::runtime_error("late"))));
    EXPECT_EQ(await(future), 3);
}

CORO_TEST(RemoteFuture, FailsWithWhatTheThreadFailedWith) {
    auto [future, promise] = remote_future<void>();
    std::thread worker([promise = std::move(promise)]() mutable {
        promise.fail(std::make_exception_ptr(std::range_error("far")));
    });
    EXPECT_EQ(what_of([&future = future] { await(future); }), "far");
    worker.join();
    EXPECT_TRUE(throws<std::range_error>([&future = future] { await(future); }));
}

CORO_TEST(RemoteFuture, MovesWhatCanOnlyBeMoved) {
    auto [future, promise] = remote_future<std::unique_ptr<int>>();
    promise.complete(std::make_unique<int>(8));
    EXPECT_EQ(*await(future), 8);
}

CORO_TEST(RemoteFuture, SeveralWaitForOne) {
    auto [future, promise] = remote_future<int>();
    std::vector<Handle<int>> waiters;
    for (int i = 0; i < 3; ++i) {
        waiters.push_back(spawn([future = future] { return await(future); }));
    }
    settle();
    EXPECT_EQ(clock().active().visible, 1U);
    std::thread worker([promise = std::move(promise)]() mutable { promise.complete(5); });
    for (auto& waiter : waiters) {
        EXPECT_EQ(await(waiter), 5);
    }
    worker.join();
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(clock().active().hidden, 0U);
}

CORO_TEST(RemoteFuture, KeepsNothingAliveUnlessItIsAwaited) {
    auto [future, promise] = remote_future<int>();
    EXPECT_EQ(clock().active().visible, 0U);
    auto waiter = spawn([future = future] { return await(future, 1ms); });
    EXPECT_TRUE(throws<TimeoutError>([&] { await(waiter); }));
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_TRUE(promise.is_wanted());  // others may come
    promise.complete(1);
    EXPECT_EQ(await(future), 1);
}

CORO_TEST(RemoteFuture, CancellingIsSeenOnTheOtherSide) {
    auto [future, promise] = remote_future<int>();
    EXPECT_TRUE(promise.is_wanted());
    future.cancel();
    EXPECT_TRUE(future.is_cancelled());
    EXPECT_FALSE(promise.is_wanted());
    EXPECT_FALSE(promise.complete(1));
    EXPECT_TRUE(throws<Cancellation>([&future = future] { await(future); }));
    EXPECT_EQ(clock().active().hidden, 0U);  // nothing is expected any more
}

CORO_TEST(RemoteFuture, DroppingIsSeenOnTheOtherSide) {
    auto pair = remote_future<int>();
    pair.first.ignore();
    pair.first = {};
    EXPECT_FALSE(pair.second.is_wanted());
    EXPECT_FALSE(pair.second.complete(1));
}

CORO_TEST(RemoteFuture, DroppedWhileTheValueIsOnItsWay) {
    auto pair = remote_future<std::shared_ptr<int>>();
    auto value = std::make_shared<int>(1);
    pair.first.ignore();
    pair.second.complete(value);
    pair.first = {};
    pair.second = {};
    settle();
    sleep_for(1ms);
    EXPECT_EQ(value.use_count(), 1);
}

CORO_TEST(RemoteFuture, PromiseThatIsDroppedLeavesItPending) {
    auto pair = remote_future<int>();
    pair.first.ignore();
    std::thread([promise = std::move(pair.second)]() mutable {}).join();
    auto waiter = spawn([future = pair.first] { return await(future, 1ms); });
    EXPECT_TRUE(throws<TimeoutError>([&] { await(waiter); }));
    EXPECT_FALSE(pair.first.is_completed());
}

TEST_F(CoroTest, RemoteFutureWithoutAPromiseIsADeadlock) {
    EXPECT_TRUE(throws<DeadlockError>([&] {
        in_runtime([&] {
            auto pair = remote_future<int>();
            pair.second = {};
            await(pair.first);
        });
    }));
    EXPECT_EQ(sink.deadlocks.size(), 1U);
}

TEST_F(CoroTest, RemoteFutureOutlivesItsRuntime) {
    std::pair<RemoteFuture<int>, RemotePromise<int>> pair;
    in_runtime([&] { pair = remote_future<int>(); });
    EXPECT_TRUE(pair.first.is_completed());
    EXPECT_FALSE(pair.second.is_wanted());
    EXPECT_FALSE(pair.second.complete(1));
    EXPECT_TRUE(sink.warnings.empty());
}

TEST_F(CoroTest, RemotePromiseIsCompletedWhenTheRuntimeHasGone) {
    Gate gate;
    std::thread worker;
    auto value = std::make_shared<int>(1);
    in_runtime([&] {
        auto pair = remote_future<std::shared_ptr<int>>();
        worker = std::thread([&gate, value, promise = std::move(pair.second)]() mutable {
            gate.wait();
            EXPECT_FALSE(promise.complete(value));
        });
        pair.first.ignore();
    });
    gate.open();
    worker.join();
    EXPECT_EQ(value.use_count(), 1);
}

CORO_TEST(RemoteFuture, ChainGoesOnWhenTheFutureIsDropped) {
    const auto twice = [](RemoteFuture<int> future) {
        return Future<int>(Ref<FutureOf<int>>(&future.event())).map([](int number) { return 2 * number; });
    };
    auto pair = remote_future<int>();
    auto doubled = twice(std::exchange(pair.first, {}));
    EXPECT_TRUE(pair.second.is_wanted());
    std::thread([promise = std::move(pair.second)]() mutable { promise.complete(4); }).join();
    EXPECT_EQ(await(doubled), 8);
    auto broken = remote_future<int>();
    auto never = twice(std::exchange(broken.first, {}));
    never.ignore();
    broken.second = {};
    EXPECT_TRUE(throws<TimeoutError>([&] { await(never, 1ms); }));
    EXPECT_EQ(never.state().ref_count(), 1U) << "the chain has gone with the future";
}

CORO_TEST(RemoteFuture, IsAToken) {
    auto token = remote_future<void>();
    ManualEvent never;
    auto sleeper = spawn([&never, future = token.first] { await(never, future.event()); });
    settle();
    token.second.complete();
    EXPECT_TRUE(throws<Cancellation>([&] { await(sleeper); }));
}

TEST_F(CoroTest, RemoteFutureIsLostInTheChildOfAFork) {
    SKIP_FORK();
    in_runtime([&] {
        auto pair = remote_future<int>();
        EXPECT_EQ(in_child([&] { return throws<ThreadPoolError>([&] { await(pair.first); }) ? 0 : 1; }), 0);
        pair.second.complete(2);
        EXPECT_EQ(await(pair.first), 2);
    });
}

TEST(RemoteFutureOutside, NeedsARuntime) {
    EXPECT_EQ(code_of([] { remote_future<int>(); }), ErrorCode::NotRunning);
}

TEST(PortableError, IsCopiedWhenSomebodyElseHoldsIt) {
    Ref<Error> single = Error::make(ErrorCode::Timeout, "one", Error::make(ErrorCode::System, "two"));
    const Error* address = single.get();
    single = portable_error(std::move(single));
    EXPECT_EQ(single.get(), address);
    const Ref<Error> shared = single;
    Ref<Error> copy = portable_error(std::move(single));
    EXPECT_NE(copy.get(), address);
    EXPECT_EQ(copy->describe(), "one; caused by: two");
    EXPECT_EQ(copy->code(), ErrorCode::Timeout);

    const Ref<Error> cancellation = Error::cancellation(CancelReason::Deadline, "stop");
    copy = portable_error(cancellation);
    EXPECT_NE(copy.get(), cancellation.get());
    EXPECT_TRUE(copy->is_cancellation());
    EXPECT_EQ(copy->reason(), CancelReason::Deadline);

    copy = portable_error(CompositeError::make({cancellation, shared}));
    ASSERT_NE(CompositeError::of(copy.get()), nullptr);
    EXPECT_NE(CompositeError::of(copy.get())->errors()[0].get(), cancellation.get());

    Ref<Error> exception;
    try {
        throw std::out_of_range("far");
    } catch (...) {
        exception = ExceptionError::capture();
    }
    copy = portable_error(exception);
    EXPECT_NE(copy.get(), exception.get());
    EXPECT_TRUE(throws<std::out_of_range>([&] { detail::throw_error(copy); }));
    EXPECT_EQ(portable_error({}), nullptr);
}

}  // namespace
}  // namespace trueasync::testing
