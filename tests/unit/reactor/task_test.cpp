#include <trueasync/reactor/task.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <support/coro_test.hpp>
#include <support/threads.hpp>
#include <trueasync/reactor/uv_reactor.hpp>

namespace trueasync::testing {
namespace {

/// Runs a function; counts how many bodies there are.
class Body final : public TaskBody {
public:
    explicit Body(std::function<int()> function) : function_(std::move(function)) { ++alive; }
    ~Body() override { --alive; }
    void run() override { value_ = function_(); }
    void* result() noexcept override { return &value_; }

    static inline std::atomic<int> alive = 0;

private:
    std::function<int()> function_;
    int value_ = 0;
};

Ref<TaskEvent> make_task(std::function<int()> function, const char* name = "test", WorkLane& lane = WorkLane::work()) {
    return TaskEvent::create(Scheduler::current()->reactor(), std::make_unique<Body>(std::move(function)), name, lane);
}

int result_of(TaskEvent& task) {
    void* result = nullptr;
    return task.replay(nullptr, &result, nullptr) && result != nullptr ? *static_cast<int*>(result) : -1;
}

/// Keeps the only thread of a lane busy while it lives.
class Busy {
public:
    explicit Busy(WorkLane& lane) {
        task_ = make_task(
            [this] {
                begun_.open();
                gate_.wait();
                return 0;
            },
            "busy", lane
        );
        EXPECT_TRUE(task_->start());
        begun_.wait();
    }
    ~Busy() {
        open();
        EXPECT_EQ(wait_for(*task_), WaitResult::Ready);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    void open() { gate_.open(); }
    TaskEvent& task() { return *task_; }

private:
    Gate begun_;
    Gate gate_;
    Ref<TaskEvent> task_;
};

CORO_TEST(TaskEvent, EndThatAHandlerHasStoppedCannotBeWaitedForAgain) {
    auto task = make_task([] { return 1; });
    task->set_notify_handler([](Event&, void*&, Error*&) { return Event::Notify::Stop; });
    ASSERT_TRUE(task->start());
    while (!task->is_finished()) {
        suspend();
    }
    EXPECT_TRUE(task->start().is(ErrorCode::IllegalState));
}

CORO_TEST(TaskEvent, FiresWithTheResult) {
    // [await_task]
    auto task = TaskEvent::create(scheduler().reactor(), std::make_unique<Body>([] { return 42; }), "sum");
    await(task);  // the other coroutines run meanwhile
    EXPECT_EQ(*static_cast<int*>(task->body()->result()), 42);
    // [await_task]
    EXPECT_TRUE(task->is_finished());
    EXPECT_EQ(task->error(), nullptr);
    EXPECT_TRUE(task->is_closed());
}

CORO_TEST(TaskEvent, OthersRunMeanwhileAndTheThreadIsAnother) {
    Gate gate;
    std::thread::id thread;
    auto task = make_task([&] {
        thread = std::this_thread::get_id();
        gate.wait();
        return 1;
    });
    auto other = spawn([&] { gate.open(); });
    await(task);
    await(other);
    EXPECT_NE(thread, std::this_thread::get_id());
}

CORO_TEST(TaskEvent, WhatTheFunctionThrowsIsTheError) {
    auto task = make_task([]() -> int { throw std::out_of_range("too far"); });
    try {
        await(task);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
        EXPECT_STREQ(error.what(), "too far");
    }
    ASSERT_NE(task->error(), nullptr);
    EXPECT_EQ(task->error()->code(), ErrorCode::Exception);
    EXPECT_EQ(task->error()->message(), "std::out_of_range: too far");
    EXPECT_EQ(task->info(), "Task(test, failed)");
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(TaskEvent, AnErrorThatNobodyTookIsReported) {
    {
        auto task = make_task([]() -> int { throw std::runtime_error("nobody looks"); });
        ASSERT_TRUE(task->start());
        while (!task->is_finished()) {
            suspend();
        }
    }
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_EQ(sink.unhandled[0], "Task(test, failed): std::runtime_error: nobody looks");
}

CORO_TEST(TaskEvent, LateComersGetTheResultToo) {
    auto task = make_task([] { return 7; });
    await(task);
    await(task);  // does not suspend
    auto late = spawn([&] {
        await(task);
        return result_of(*task);
    });
    EXPECT_EQ(await(late), 7);
}

CORO_TEST(TaskEvent, SeveralWaitForOne) {
    std::atomic<int> runs = 0;
    auto task = make_task([&] { return ++runs; });
    std::vector<Handle<int>> waiters;
    for (int i = 0; i < 5; ++i) {
        waiters.push_back(spawn([&] {
            await(task);
            return result_of(*task);
        }));
    }
    for (const auto& waiter : waiters) {
        EXPECT_EQ(await(waiter), 1);
    }
    EXPECT_EQ(runs, 1);
}

CORO_TEST(TaskEvent, TellsWhatItDoes) {
    WorkLane lane({.name = "one"});
    Busy busy(lane);
    EXPECT_EQ(busy.task().info(), "Task(busy, running)");
    auto task = make_task([] { return 0; }, "next", lane);
    EXPECT_EQ(task->info(), "Task(next, created)");
    auto waiter = spawn([&] { await(task); });
    settle();
    EXPECT_EQ(task->info(), "Task(next, queued)");
    EXPECT_EQ(waiter.coroutine().awaiting(), std::vector<std::string>{"Task(next, queued)"});
    busy.open();
    await(waiter);
    EXPECT_EQ(task->info(), "Task(next, done)");
    auto closed = make_task([] { return 0; }, "never");
    closed->close();
    EXPECT_EQ(closed->info(), "Task(never, closed)");
}

CORO_TEST(TaskEvent, CancelledBeforeItBeganIsNotDone) {
    WorkLane lane({.name = "one"});
    bool has_run = false;
    const int alive = Body::alive;
    {
        Busy busy(lane);
        auto task = make_task(
            [&] {
                has_run = true;
                return 0;
            },
            "test", lane
        );
        auto waiter = spawn([&] { await(task); });
        settle();
        EXPECT_EQ(lane.stats().queued, 1U);
        waiter.cancel();
        EXPECT_THROW(await(waiter), Cancellation);
        EXPECT_EQ(lane.stats().queued, 0U);
        EXPECT_EQ(task->info(), "Task(test, created)");
        task.reset();
        EXPECT_EQ(Body::alive, alive + 1);  // that of `busy`
    }
    EXPECT_FALSE(has_run);
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
}

CORO_TEST(TaskEvent, CanBeStartedAgainAfterItWasTakenBack) {
    WorkLane lane({.name = "one"});
    auto busy = std::make_unique<Busy>(lane);
    auto task = make_task([] { return 5; }, "test", lane);
    ASSERT_TRUE(task->start());
    ASSERT_TRUE(task->stop());
    EXPECT_EQ(task->state(), EventState::Stopped);
    EXPECT_EQ(lane.stats().queued, 0U);
    busy->open();
    await(task);
    EXPECT_EQ(result_of(*task), 5);
}

CORO_TEST(TaskEvent, WhatHasBegunGoesOnAndItsResultIsKept) {
    WorkLane lane({.name = "one"});
    Gate begun;
    Gate gate;
    auto task = make_task(
        [&] {
            begun.open();
            gate.wait();
            return 9;
        },
        "test", lane
    );
    auto waiter = spawn([&] { await(task); });
    settle();
    begun.wait();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_EQ(task->info(), "Task(test, running)");
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
    gate.open();
    while (!task->is_finished()) {
        suspend();
    }
    EXPECT_TRUE(task->is_closed());
    await(task);
    EXPECT_EQ(result_of(*task), 9);
}

CORO_TEST(TaskEvent, AwaitedAgainWhileItStillRuns) {
    Gate begun;
    Gate gate;
    std::atomic<int> runs = 0;
    auto task = make_task([&] {
        begun.open();
        gate.wait();
        return ++runs;
    });
    auto starter = spawn([&] { begun.wait(); });  // before the clock jumps to the deadline
    EXPECT_THROW(await(task, 1ms), TimeoutError);
    auto opener = spawn([&] { gate.open(); });
    await(task);
    EXPECT_EQ(result_of(*task), 1);
    EXPECT_EQ(runs, 1);
    await(opener);
}

CORO_TEST(TaskEvent, OneWaiterLeavesTheOthersStay) {
    WorkLane lane({.name = "one"});
    auto busy = std::make_unique<Busy>(lane);
    auto task = make_task([] { return 3; }, "test", lane);
    auto first = spawn([&] { await(task); });
    auto second = spawn([&] { await(task); });
    settle();
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(lane.stats().queued, 1U);
    busy->open();
    await(second);
    EXPECT_EQ(result_of(*task), 3);
}

CORO_TEST(TaskEvent, DroppedWhileItRunsOwnsWhatItNeeds) {
    const int alive = Body::alive;
    Gate begun;
    Gate gate;
    auto shared = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = shared;
    auto task = make_task([&begun, &gate, shared = std::move(shared)] {
        begun.open();
        gate.wait();
        return ++*shared;
    });
    ASSERT_TRUE(task->start());
    begun.wait();
    task.reset();
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
    EXPECT_FALSE(watched.expired());
    gate.open();
    while (Body::alive != alive) {
        suspend();
    }
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(scheduler().reactor().active().hidden, 0U);
}

CORO_TEST(TaskEvent, DroppedUnstartedAndDroppedInItsOwnCallback) {
    const int alive = Body::alive;
    make_task([] { return 0; });
    EXPECT_EQ(Body::alive, alive);
    class Dropper final : public Callback {
    public:
        explicit Dropper(Ref<TaskEvent>& task) : task_(task) {}
        void call(Event& /*event*/, void* result, Error* /*error*/) override {
            value = *static_cast<int*>(result);
            task_.reset();
        }
        int value = 0;

    private:
        void destroy() noexcept override {}
        Ref<TaskEvent>& task_;
    };
    auto task = make_task([] { return 6; });
    Dropper dropper(task);
    ASSERT_TRUE(task->add_callback(dropper));
    ASSERT_TRUE(task->start());
    while (dropper.value == 0) {
        suspend();
    }
    EXPECT_EQ(dropper.value, 6);
    EXPECT_EQ(Body::alive, alive);
}

CORO_TEST(TaskEvent, ClosedByHandThrowsItsResultAway) {
    Gate begun;
    Gate gate;
    auto task = make_task([&] {
        begun.open();
        gate.wait();
        return 1;
    });
    auto waiter = spawn([&] { await(task); });
    settle();
    begun.wait();
    task->close();
    EXPECT_EQ(code_of([&] { await(waiter); }), ErrorCode::EventClosed);
    gate.open();
    while (scheduler().reactor().active().hidden != 0) {
        suspend();
    }
    EXPECT_FALSE(task->is_finished());
    EXPECT_EQ(result_of(*task), -1);
}

CORO_TEST(TaskEvent, FullQueueIsAnErrorForTheWaiter) {
    WorkLane lane({.name = "tiny", .max_threads = 1, .max_queued = 0});
    lane.set_limits(1, 1);
    Busy busy(lane);
    auto waiting = make_task([] { return 0; }, "waiting", lane);
    ASSERT_TRUE(waiting->start());
    auto refused = make_task([] { return 0; }, "refused", lane);
    EXPECT_EQ(code_of([&] { await(refused); }), ErrorCode::QueueFull);
    busy.open();
    await(waiting);
    await(refused);  // there is room now
}

RUNTIME_TEST(TaskEvent, IsSeenByDeadlockDetection) {
    Gate gate;
    in_runtime([&] {
        auto task = make_task([&] {
            gate.wait();
            return 0;
        });
        auto opener = spawn([&] { gate.open(); });
        EXPECT_EQ(scheduler().reactor().active().visible, 0U);
        await(task);  // nobody else is ready: this is not a deadlock
    });
    EXPECT_TRUE(sink.deadlocks.empty());
}

RUNTIME_TEST(TaskEvent, OutlivesItsReactor) {
    Gate begun;
    Gate gate;
    const int alive = Body::alive;
    Ref<TaskEvent> running;
    Ref<TaskEvent> queued;
    Ref<TaskEvent> created;
    WorkLane lane({.name = "one"});
    in_runtime([&] {
        running = make_task(
            [&] {
                begun.open();
                gate.wait();
                return 1;
            },
            "running", lane
        );
        queued = make_task([] { return 1; }, "queued", lane);
        created = make_task([] { return 1; }, "created", lane);
        running->set_hidden(true);
        queued->set_hidden(true);
        ASSERT_TRUE(running->start());
        ASSERT_TRUE(queued->start());
        begun.wait();
    });
    EXPECT_EQ(running->info(), "Task(running, closed)");
    EXPECT_EQ(queued->info(), "Task(queued, closed)");
    running.reset();
    queued.reset();
    created.reset();
    EXPECT_EQ(Body::alive, alive + 1);
    gate.open();
    EXPECT_TRUE(eventually([&] { return Body::alive == alive; }));
}

RUNTIME_TEST(TaskEvent, ShutdownDoesNotWaitForAThread) {
    Gate begun;
    Gate gate;
    const int alive = Body::alive;
    in_runtime([&] {
        auto waiter = spawn([&] {
            auto task = make_task([&] {
                begun.open();
                gate.wait();
                return 1;
            });
            await(task);
        });
        settle();
        begun.wait();
        shutdown();
    });
    EXPECT_EQ(Body::alive, alive + 1);
    gate.open();
    EXPECT_TRUE(eventually([&] { return Body::alive == alive; }));
}

RUNTIME_TEST(TaskEvent, InTheChildOfAForkItFails) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer allows no threads in a forked child";
#endif
    in_runtime([&] {
        WorkLane lane({.name = "one"});
        Busy busy(lane);
        auto queued = make_task([] { return 1; }, "queued", lane);
        ASSERT_TRUE(queued->start());
        const int child = in_child([&] {
            for (TaskEvent* task : {&busy.task(), queued.get()}) {
                if (wait_for(*task) != WaitResult::Failed || task->error()->code() != ErrorCode::System) {
                    return 1;
                }
            }
            if (queued->error()->message() !=
                "the process forked before the task 'queued' had ended; it goes on in the parent only") {
                return 2;
            }
            auto fresh = make_task([] { return 11; }, "fresh", lane);
            return wait_for(*fresh) == WaitResult::Ready ? result_of(*fresh) : 3;
        });
        EXPECT_EQ(child, 11);
        busy.open();
        await(queued);
        EXPECT_EQ(result_of(*queued), 1);
    });
}

/// Waiters come, leave by cancellation or deadline, and drop their tasks at any moment.
void random_cancellations(std::uint32_t seed) {
    std::mt19937 random(seed);
    WorkLane lane({.name = "few", .max_threads = 2, .max_queued = 30});
    const int alive = Body::alive;
    std::atomic<int> runs = 0;
    int outcomes = 0;
    std::vector<Handle<void>> waiters;
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t choice = random() % 4;
        waiters.push_back(spawn([&, choice] {
            auto task = make_task([&] { return ++runs; }, "random", lane);
            try {
                if (choice == 0) {
                    await(task, 0ms);
                } else {
                    await(task);
                }
                EXPECT_GT(result_of(*task), 0);
            } catch (const Cancellation&) {
            } catch (const AsyncError& error) {
                EXPECT_TRUE(error.code() == ErrorCode::QueueFull || error.code() == ErrorCode::Timeout);
            }
            ++outcomes;
        }));
        for (std::uint32_t turns = random() % 3; turns != 0; --turns) {
            suspend();
        }
        if (random() % 3 == 0) {
            waiters[random() % waiters.size()].cancel();
        }
    }
    int unstarted = 0;
    for (const auto& waiter : waiters) {
        try {
            await(waiter);
        } catch (const Cancellation&) {
            ++unstarted;  // cancelled before its first turn
        }
    }
    EXPECT_EQ(outcomes + unstarted, 300);
    while (Scheduler::current()->reactor().active().hidden != 0) {
        suspend();
    }
    EXPECT_EQ(Body::alive, alive);
    EXPECT_EQ(lane.stats().queued, 0U);
    EXPECT_EQ(Scheduler::current()->reactor().active().visible, 0U);
}

CORO_TEST(TaskEvent, RandomCancellationLosesNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_cancellations(seed);
}

TEST(TaskEventReal, RandomCancellationOnTheRealReactors) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Backend backend : {Backend::Best, Backend::Portable}) {
        RunOptions options;
        options.reactor = make_uv_reactor(backend);
        run([&] { random_cancellations(seed); }, std::move(options));
    }
}

}  // namespace
}  // namespace trueasync::testing
