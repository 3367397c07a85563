#include <trueasync/api/thread_pool.hpp>

#include <atomic>
#include <random>
#include <stdexcept>
#include <support/runtime_fakes.hpp>
#include <support/threads.hpp>
#include <thread>
#include <trueasync/thread/thread.hpp>

#if defined(TA_TSAN)
#define SKIP_FORK() GTEST_SKIP() << "the thread sanitizer loses sight of the coroutines in a forked child"
#else
#define SKIP_FORK() static_cast<void>(0)
#endif

namespace trueasync::testing {
namespace {

ThreadPoolOptions workers(std::size_t count, std::size_t queue = 0) {
    ThreadPoolOptions options;
    options.workers = count;
    options.queue_size = queue;
    return options;
}

ThreadPoolOptions coroutines(std::size_t count, std::size_t concurrency = 0, std::size_t queue = 0) {
    ThreadPoolOptions options = workers(count, queue);
    options.coroutines = true;
    options.concurrency = concurrency;
    return options;
}

/// Keeps one worker busy.
struct Busy {
    explicit Busy(ThreadPool& pool)
        : future(pool.submit([this] {
              begun.open();
              gate.wait();
          })) {
        begun.wait();
    }
    ~Busy() {
        gate.open();
        await(future);
    }

    Gate begun;
    Gate gate;
    RemoteFuture<void> future;
};

/// Counts copies of itself: whether a closure is gone.
struct Tracer {
    explicit Tracer(std::atomic<int>& counter) : count(&counter) { ++*count; }
    Tracer(const Tracer& other) : count(other.count) { ++*count; }
    ~Tracer() { --*count; }
    std::atomic<int>* count;
};

CORO_TEST(ThreadPool, RunsOnOtherThreads) {
    // [thread_pool]
    ThreadPool pool({.workers = 4});
    auto sum = pool.submit([] {
        long total = 0;
        for (int i = 1; i <= 1000; ++i) {
            total += i;
        }
        return total;
    });
    EXPECT_EQ(await(sum), 500500);  // the other coroutines run meanwhile
    const std::vector<int> squares = pool.map(std::vector<int>{1, 2, 3}, [](int x) { return x * x; });
    EXPECT_EQ(squares, (std::vector<int>{1, 4, 9}));
    // [thread_pool]
    EXPECT_NE(await(pool.submit([] { return std::this_thread::get_id(); })), std::this_thread::get_id());
    EXPECT_EQ(pool.worker_count(), 4U);
    EXPECT_EQ(pool.completed_count(), 5U);
    EXPECT_EQ(pool.running_count(), 0U);
    EXPECT_EQ(pool.pending_count(), 0U);
    EXPECT_EQ(pool.core().info(), "ThreadPool(workers=4, pending=0, running=0, completed=5)");
}

CORO_TEST(ThreadPool, HasDefaults) {
    ThreadPool pool;
    EXPECT_EQ(pool.worker_count(), available_parallelism());
    EXPECT_EQ(pool.core().settings().queue_size, available_parallelism() * 4);
}

CORO_TEST(ThreadPool, ThrowsWhatTheTaskThrew) {
    ThreadPool pool(workers(1));
    auto failing = pool.submit([]() -> int { throw std::range_error("far"); });
    EXPECT_EQ(what_of([&] { await(failing); }), "far");
    EXPECT_TRUE(throws<std::range_error>([&] { await(failing); }));
    EXPECT_EQ(await(pool.submit([] { return 1; })), 1);  // the worker is alive
    EXPECT_EQ(pool.completed_count(), 2U);
}

CORO_TEST(ThreadPool, TakesAndGivesWhatCanOnlyBeMoved) {
    ThreadPool pool(workers(1));
    auto value = std::make_unique<int>(5);
    auto future = pool.submit([value = std::move(value)]() mutable { return std::move(value); });
    EXPECT_EQ(*await(future), 5);
}

CORO_TEST(ThreadPool, SubmitWaitsWhileTheQueueIsFull) {
    ThreadPool pool(workers(1, 1));
    std::atomic<int> done = 0;
    std::optional<Busy> busy(std::in_place, pool);
    auto queued = pool.submit([&] { ++done; });
    EXPECT_EQ(pool.pending_count(), 1U);
    EXPECT_EQ(pool.running_count(), 1U);
    EXPECT_TRUE(throws<TimeoutError>([&] { pool.submit([&] { ++done; }, 5ms); }));
    bool is_submitted = false;
    auto submitter = spawn([&] {
        auto future = pool.submit([&] { ++done; });
        is_submitted = true;
        await(future);
    });
    settle();
    EXPECT_FALSE(is_submitted);
    EXPECT_EQ(submitter.coroutine().awaiting(), (std::vector<std::string>{"ThreadPool(queue is full)"}));
    busy->gate.open();
    await(submitter);
    await(queued);
    busy.reset();
    EXPECT_EQ(done, 2);
}

CORO_TEST(ThreadPool, CancelledSubmitterHandsItsTurnOn) {
    ThreadPool pool(workers(1, 1));
    Busy busy(pool);
    auto queued = pool.submit([] {});
    std::vector<Handle<int>> submitters;
    for (int i = 0; i < 4; ++i) {
        submitters.push_back(spawn([&, i] { return await(pool.submit([i] { return i; })); }));
    }
    settle();
    submitters[0].cancel();
    submitters[2].cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(submitters[0]); }));
    EXPECT_TRUE(throws<Cancellation>([&] { await(submitters[2]); }));
    busy.gate.open();
    EXPECT_EQ(await(submitters[1]), 1);
    EXPECT_EQ(await(submitters[3]), 3);
    await(queued);
}

CORO_TEST(ThreadPool, CancelledWhileQueuedNeverRuns) {
    ThreadPool pool(workers(1, 4));
    Busy busy(pool);
    std::atomic<int> copies = 0;
    std::atomic<bool> has_run = false;
    auto future = pool.submit([&, tracer = Tracer(copies)] { has_run = true; });
    EXPECT_EQ(copies, 1);
    future.cancel();
    EXPECT_EQ(copies, 0);  // at once
    EXPECT_EQ(pool.pending_count(), 0U);
    EXPECT_EQ(pool.completed_count(), 1U);
    EXPECT_TRUE(future.is_cancelled());
    EXPECT_TRUE(throws<Cancellation>([&] { await(future); }));
    future.cancel();
    busy.gate.open();
    await(busy.future);
    await(pool.submit([] {}));
    EXPECT_FALSE(has_run);
}

CORO_TEST(ThreadPool, CancelledWhileQueuedMakesRoom) {
    ThreadPool pool(workers(1, 1));
    Busy busy(pool);
    auto queued = pool.submit([] {});
    auto submitter = spawn([&] { return pool.submit([] { return 3; }); });
    settle();
    EXPECT_FALSE(submitter.is_finished());
    queued.cancel();
    auto future = await(submitter, 5s);
    busy.gate.open();
    EXPECT_EQ(await(future), 3);
}

CORO_TEST(ThreadPool, LosingItsAwaitersCancelsTheTask) {
    ThreadPool pool(workers(1, 4));
    Busy busy(pool);
    std::atomic<bool> has_run = false;
    auto future = pool.submit([&] { has_run = true; });
    EXPECT_TRUE(throws<TimeoutError>([&] { await(future, 1ms); }));
    EXPECT_EQ(pool.pending_count(), 0U);
    auto other = pool.submit([&] { has_run = true; });
    auto first = spawn([&] { await(other); });
    auto second = spawn([&] { await(other); });
    settle();
    first.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(first); }));
    EXPECT_EQ(pool.pending_count(), 1U);  // one is left
    second.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(second); }));
    EXPECT_EQ(pool.pending_count(), 0U);
    busy.gate.open();
    await(pool.submit([] {}));
    EXPECT_FALSE(has_run);
}

CORO_TEST(ThreadPool, FutureThatNobodyAwaitedLeavesItsTaskAlone) {
    ThreadPool pool(workers(1, 4));
    std::atomic<bool> has_run = false;
    {
        Busy busy(pool);
        pool.submit([&] { has_run = true; });
    }
    await(pool.submit([] {}));
    EXPECT_TRUE(has_run);
    EXPECT_TRUE(sink.warnings.empty());
}

CORO_TEST(ThreadPool, RunningTaskIsAskedToStop) {
    ThreadPool pool(workers(1));
    Gate begun;
    auto future = pool.submit([&](StopToken stop) {
        begun.open();
        return eventually([&] { return stop.is_stop_requested(); });
    });
    begun.wait();
    future.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(future); }));
    EXPECT_EQ(await(pool.submit([] { return 3; })), 3);
    EXPECT_EQ(pool.completed_count(), 2U);
}

CORO_TEST(ThreadPool, CancellingAfterTheEndDoesNothing) {
    ThreadPool pool(workers(1));
    auto future = pool.submit([] { return 3; });
    EXPECT_EQ(await(future), 3);
    future.cancel();
    EXPECT_FALSE(future.is_cancelled());
    EXPECT_EQ(await(future), 3);
}

CORO_TEST(ThreadPool, CloseDoesWhatIsThereAndRefusesTheRest) {
    ThreadPool pool(workers(2, 8));
    RemoteFuture<int> queued;
    {
        Busy one(pool);
        Busy other(pool);
        queued = pool.submit([] { return 7; });
        pool.close();
        EXPECT_TRUE(pool.is_closed());
        pool.close();
        EXPECT_TRUE(throws<ThreadPoolError>([&] { pool.submit([] {}); }));
        EXPECT_EQ(what_of([&] { pool.submit([] {}); }), "ThreadPool is closed");
        EXPECT_EQ(what_of([&] { pool.map(std::vector<int>{1}, [](int x) { return x; }); }), "ThreadPool is closed");
        EXPECT_EQ(pool.worker_count(), 2U);
    }
    EXPECT_EQ(await(queued), 7);
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
}

CORO_TEST(ThreadPool, CloseWakesWhoWaitsForRoom) {
    ThreadPool pool(workers(1, 1));
    Busy busy(pool);
    auto queued = pool.submit([] {});
    auto submitter = spawn([&] { return what_of([&] { pool.submit([] {}); }); });
    settle();
    pool.close();
    EXPECT_EQ(await(submitter), "ThreadPool is closed");
    busy.gate.open();
    await(queued);
}

CORO_TEST(ThreadPool, CancelRejectsWhatIsQueuedAndLetsSyncTasksFinish) {
    ThreadPool pool(workers(1, 4));
    std::atomic<int> copies = 0;
    Gate begun;
    Gate gate;
    auto running = pool.submit([&](StopToken stop) {
        begun.open();
        gate.wait();
        return stop.is_stop_requested();
    });
    begun.wait();
    auto queued = pool.submit([tracer = Tracer(copies)] { return 1; });
    pool.cancel();
    EXPECT_EQ(copies, 0);
    EXPECT_TRUE(pool.is_closed());
    EXPECT_TRUE(throws<Cancellation>([&] { await(queued); }));
    EXPECT_EQ(pool.completed_count(), 1U);
    gate.open();
    EXPECT_FALSE(await(running));
    EXPECT_EQ(pool.completed_count(), 2U);
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
}

CORO_TEST(ThreadPool, MapKeepsTheOrderAndThrowsTheFirst) {
    ThreadPool pool(workers(3, 2));
    EXPECT_TRUE(pool.map(std::vector<int>{}, [](int x) { return x; }).empty());
    std::vector<int> items;
    for (int i = 0; i < 50; ++i) {
        items.push_back(i);
    }
    EXPECT_EQ(pool.map(items, [](int x) { return x; }), items);
    EXPECT_EQ(
        what_of([&] {
            pool.map(items, [](int x) {
                if (x == 3 || x == 40) {
                    throw std::runtime_error("no " + std::to_string(x));
                }
            });
        }),
        "no 3"
    );
    EXPECT_TRUE(sink.warnings.empty());
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(ThreadPool, CancellingMapCancelsTheBatch) {
    ThreadPool pool(workers(1, 8));
    std::optional<Busy> busy(std::in_place, pool);
    std::atomic<int> runs = 0;
    auto mapper = spawn([&] { pool.map(std::vector<int>{1, 2, 3}, [&runs](int) { ++runs; }); });
    settle();
    EXPECT_EQ(pool.pending_count(), 3U);
    mapper.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(mapper); }));
    EXPECT_EQ(pool.pending_count(), 0U);
    busy.reset();
    EXPECT_EQ(runs, 0);
}

CORO_TEST(ThreadPool, BootloaderRunsFirstOnEachWorker) {
    std::atomic<int> boots = 0;
    ThreadPoolOptions options = workers(3);
    static thread_local int booted = 0;
    options.bootloader = [&boots] {
        ++boots;
        booted = 42;
    };
    ThreadPool pool(std::move(options));
    EXPECT_EQ(await(pool.submit([] { return booted; })), 42);
    EXPECT_TRUE(eventually([&] { return boots == 3; }));
}

CORO_TEST(ThreadPool, BootloaderThatFailsClosesThePool) {
    Gate gate;
    ThreadPoolOptions options = workers(1);
    options.bootloader = [&] {
        gate.wait();
        throw std::runtime_error("no ground");
    };
    ::testing::internal::CaptureStderr();
    ThreadPool pool(std::move(options));
    auto queued = pool.submit([] {});
    gate.open();
    EXPECT_EQ(what_of([&] { await(queued); }), "no ground");
    EXPECT_TRUE(pool.is_closed());
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
    EXPECT_TRUE(contains(::testing::internal::GetCapturedStderr(), "no ground"));
}

CORO_TEST(ThreadPool, ReloadReplacesTheWorkers) {
    std::atomic<int> boots = 0;
    ThreadPoolOptions options = workers(2, 4);
    options.bootloader = [&boots] { ++boots; };
    ThreadPool pool(std::move(options));
    const auto before = await(pool.submit([] { return std::this_thread::get_id(); }));
    std::optional<Busy> busy(std::in_place, pool);
    auto reloader = spawn([&] { pool.reload(); });
    settle();
    EXPECT_FALSE(reloader.is_finished());  // an old one is busy
    EXPECT_EQ(await(pool.submit([] { return 1; })), 1);
    busy.reset();
    await(reloader);
    EXPECT_EQ(pool.worker_count(), 2U);
    EXPECT_TRUE(eventually([&] { return boots == 4; }));
    EXPECT_NE(await(pool.submit([] { return std::this_thread::get_id(); })), before);
}

CORO_TEST(ThreadPool, OverlappingReloadsBecomeOneMore) {
    std::atomic<int> boots = 0;
    ThreadPoolOptions options = workers(1, 4);
    options.bootloader = [&boots] { ++boots; };
    ThreadPool pool(std::move(options));
    std::optional<Busy> busy(std::in_place, pool);
    std::vector<Handle<void>> reloaders;
    for (int i = 0; i < 5; ++i) {
        reloaders.push_back(spawn([&] { pool.reload(); }));
    }
    settle();
    busy.reset();
    for (auto& reloader : reloaders) {
        await(reloader);
    }
    await(pool.submit([] {}));
    EXPECT_EQ(boots, 3);  // the first crew, the first reload, one for all the others
    EXPECT_EQ(pool.worker_count(), 1U);
    pool.close();
    EXPECT_TRUE(throws<ThreadPoolError>([&] { pool.reload(); }));
}

CORO_TEST(ThreadPool, ReloadReturnsWhenTheNewOnesDie) {
    std::atomic<bool> is_failing = false;
    ThreadPoolOptions options = workers(1);
    options.bootloader = [&] {
        if (is_failing) {
            throw std::runtime_error("no more");
        }
    };
    ::testing::internal::CaptureStderr();
    ThreadPool pool(std::move(options));
    await(pool.submit([] {}));
    is_failing = true;
    pool.reload();
    EXPECT_TRUE(eventually([&] { return pool.is_closed(); }));
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
    ::testing::internal::GetCapturedStderr();
}

CORO_TEST(ThreadPool, TaskCannotReloadItsOwnPool) {
    for (const auto& options : {workers(1), coroutines(1)}) {
        ThreadPool pool(options);
        EXPECT_EQ(await(pool.submit([&] { return code_of([&] { pool.reload(5s); }); })), ErrorCode::IllegalState);
        EXPECT_EQ(await(pool.submit([] { return 1; })), 1);
    }
}

CORO_TEST(ThreadPool, OutsideARuntimeNothingIsSubmitted) {
    ThreadPool pool(workers(1));
    ErrorCode code = ErrorCode::System;
    std::thread([&] { code = code_of([&] { pool.submit([] {}); }); }).join();
    EXPECT_EQ(code, ErrorCode::NotRunning);
}

CORO_TEST(ThreadPool, DroppedPoolStops) {
    std::atomic<int> copies = 0;
    RemoteFuture<void> queued;
    RemoteFuture<bool> running;
    {
        ThreadPool pool(workers(1, 4));
        Gate begun;
        running = pool.submit([&](StopToken stop) {
            begun.open();
            return eventually([&] { return stop.is_stop_requested(); });
        });
        begun.wait();
        queued = pool.submit([tracer = Tracer(copies)] {});
    }
    EXPECT_EQ(copies, 0);
    EXPECT_TRUE(await(running));
    EXPECT_TRUE(throws<Cancellation>([&] { await(queued); }));
}

CORO_TEST(ThreadPool, DroppedPoolDoesNotWaitForEver) {
    auto gate = std::make_shared<Gate>();
    {
        ThreadPoolOptions options = workers(1);
        options.patience = 1ms;
        ThreadPool pool(std::move(options));
        pool.submit([gate] { gate->wait(); });
    }
    gate->open();
    EXPECT_TRUE(ThreadEvent::wait_for_all(9s));
}

TEST_F(CoroTest, ThreadPoolOutlivesTheRuntimeThatUsedIt) {
    std::optional<ThreadPool> pool(std::in_place, workers(1, 4));
    Gate gate;
    RemoteFuture<int> future;
    in_runtime([&] {
        pool->submit([&] { gate.wait(); });
        future = pool->submit([] { return 1; });
    });
    EXPECT_TRUE(future.is_completed());  // the runtime has ended
    gate.open();
    in_runtime([&] { EXPECT_EQ(await(pool->submit([] { return 2; })), 2); });
    pool.reset();
}

TEST_F(CoroTest, ThreadPoolIsRefusedInTheChildOfAFork) {
    SKIP_FORK();
    ThreadPool pool(workers(1));
    in_runtime([&] {
        await(pool.submit([] {}));
        EXPECT_EQ(
            in_child([&] {
                if (!pool.is_closed() || pool.worker_count() != 0) {
                    return 1;
                }
                pool.close();
                pool.cancel();
                return throws<ThreadPoolError>([&] { pool.submit([] {}); }) ? 0 : 2;
            }),
            0
        );
    });
}

// --- coroutine mode

CORO_TEST(ThreadPool, CoroutineTasksShareAWorker) {
    ThreadPool pool(coroutines(1));
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::vector<RemoteFuture<void>> futures;
    for (int i = 0; i < 4; ++i) {
        futures.push_back(pool.submit([&] {
            most = std::max(most.load(), ++inside);
            sleep_for(1ms);
            --inside;
        }));
    }
    for (auto& future : futures) {
        await(future);
    }
    EXPECT_GT(most, 1);
    EXPECT_EQ(pool.completed_count(), 4U);
}

CORO_TEST(ThreadPool, ConcurrencyIsLimited) {
    ThreadPool pool(coroutines(1, 2, 16));
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::vector<RemoteFuture<void>> futures;
    for (int i = 0; i < 8; ++i) {
        futures.push_back(pool.submit([&] {
            most = std::max(most.load(), ++inside);
            suspend();
            sleep_for(100us);
            --inside;
        }));
    }
    for (auto& future : futures) {
        await(future);
    }
    EXPECT_LE(most, 2);
}

CORO_TEST(ThreadPool, CancellingTheFutureCancelsTheCoroutine) {
    ThreadPool pool(coroutines(1));
    Gate begun;
    std::atomic<bool> was_cancelled = false;
    std::atomic<int> copies = 0;
    auto future = pool.submit([&, tracer = Tracer(copies)] {
        begun.open();
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            was_cancelled = true;
            throw;
        }
    });
    begun.wait();
    future.cancel();
    EXPECT_TRUE(eventually([&] { return pool.running_count() == 0; }));
    EXPECT_TRUE(was_cancelled);
    EXPECT_TRUE(eventually([&] { return copies == 0; }));
    EXPECT_EQ(await(pool.submit([] { return Scheduler::current()->alive_count(); })), 2U);  // main and itself
}

CORO_TEST(ThreadPool, CancelReachesRunningCoroutines) {
    ThreadPool pool(coroutines(2));
    Gate begun;
    auto running = pool.submit([&] {
        begun.open();
        sleep_for(1h);
    });
    begun.wait();
    pool.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(running); }));
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
}

CORO_TEST(ThreadPool, CancelMayLeaveRunningCoroutinesAlone) {
    ThreadPoolSettings settings;
    settings.workers = 1;
    settings.has_runtime = true;
    settings.is_cancelling_running = false;
    Status status;
    const auto core = ThreadPoolCore::create(std::move(settings), status);
    ASSERT_TRUE(status);
    Gate begun;
    const auto body = [&] {
        begun.open();
        while (!core->is_closed()) {
            suspend();
        }
        suspend();
        return 4;
    };
    auto task = make_ref<detail::TypedThreadTask<std::decay_t<decltype(body)>, int>>(body);
    const RemoteFuture<int> running(make_ref<RemoteFuture<int>::Event>(task));
    ASSERT_EQ(core->submit(task, running.event()), WaitResult::Ready);
    begun.wait();
    core->cancel();
    EXPECT_EQ(await(running), 4);
}

CORO_TEST(ThreadPool, WhatATaskSpawnedEndsWithIt) {
    ThreadPool pool(coroutines(1));
    std::atomic<int> cancelled = 0;
    const int result = await(pool.submit([&] {
        for (int i = 0; i < 3; ++i) {
            spawn([&] {
                try {
                    sleep_for(1h);
                } catch (const Cancellation&) {
                    ++cancelled;
                    throw;
                }
            });
        }
        await(spawn([] { suspend(); }));
        return 5;
    }));
    EXPECT_EQ(result, 5);
    EXPECT_EQ(cancelled, 3);  // before the outcome was told
    EXPECT_EQ(await(pool.submit([] { return Scheduler::current()->alive_count(); })), 2U);
}

CORO_TEST(ThreadPool, FailingChildrenDoNotEndTheWorker) {
    ::testing::internal::CaptureStderr();
    ThreadPool pool(coroutines(1));
    EXPECT_EQ(
        await(pool.submit([] {
            spawn([] { throw std::runtime_error("astray"); });
            suspend();
            auto awaited = spawn([]() -> int { throw std::runtime_error("taken"); });
            return what_of([&] { await(awaited); });
        })),
        "taken"
    );
    EXPECT_EQ(await(pool.submit([] { return 1; })), 1);
    const std::string output = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(output, "astray")) << output;
    EXPECT_FALSE(contains(output, "taken")) << output;
}

CORO_TEST(ThreadPool, CoroutineTaskThrows) {
    ThreadPool pool(coroutines(1));
    auto future = pool.submit([]() -> int {
        suspend();
        throw std::out_of_range("far");
    });
    EXPECT_TRUE(throws<std::out_of_range>([&] { await(future); }));
}

CORO_TEST(ThreadPool, ClosedCoroutinePoolFinishesItsTasks) {
    ThreadPool pool(coroutines(2, 1));
    std::vector<RemoteFuture<int>> futures;
    for (int i = 0; i < 6; ++i) {
        futures.push_back(pool.submit([i] {
            sleep_for(1ms);
            return i;
        }));
    }
    pool.close();
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(await(futures[static_cast<std::size_t>(i)]), i);
    }
    EXPECT_TRUE(eventually([&] { return pool.worker_count() == 0; }));
}

CORO_TEST(ThreadPool, DroppedCoroutinePoolStops) {
    RemoteFuture<void> running;
    {
        ThreadPool pool(coroutines(1));
        Gate begun;
        running = pool.submit([&] {
            begun.open();
            sleep_for(1h);
        });
        begun.wait();
    }
    EXPECT_TRUE(throws<Cancellation>([&] { await(running); }));
}

/// Random submits, cancels, timeouts and reloads from two runtimes: every future ends, and no closure is left.
TEST(ThreadPoolChaos, LosesNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::atomic<int> copies = 0;
    for (const bool is_coroutines : {false, true}) {
        auto pool = std::make_unique<ThreadPool>(is_coroutines ? coroutines(2, 2, 3) : workers(2, 3));
        const auto user = [&](std::uint32_t own_seed) {
            trueasync::run([&] {
                std::mt19937 random(own_seed);
                std::vector<Handle<void>> all;
                for (int i = 0; i < 40; ++i) {
                    all.push_back(spawn([&] {
                        const auto dice = random() % 6;
                        auto future = pool->submit([&copies, dice, is_coroutines, tracer = Tracer(copies)]() -> int {
                            if (is_coroutines) {
                                suspend();
                            }
                            if (dice == 0) {
                                throw std::runtime_error("chance");
                            }
                            return static_cast<int>(dice);
                        });
                        if (dice == 1) {
                            future.cancel();
                        }
                        try {
                            EXPECT_EQ(await(future), static_cast<int>(dice));
                            EXPECT_NE(dice, 0U);
                        } catch (const std::runtime_error& error) {
                            EXPECT_EQ(dice, 0U) << error.what();
                        }
                    }));
                }
                for (int i = 0; i < 30; ++i) {
                    if (random() % 3 == 0) {
                        all[random() % all.size()].cancel();
                    }
                    if (random() % 10 == 0) {
                        pool->reload();
                    }
                    suspend();
                }
                for (auto& one : all) {
                    try {
                        await(one);
                    } catch (const Cancellation&) {}
                }
            });
        };
        std::thread other(user, seed + 1);
        user(seed);
        other.join();
        pool.reset();
        EXPECT_EQ(copies, 0);
    }
}

}  // namespace
}  // namespace trueasync::testing
