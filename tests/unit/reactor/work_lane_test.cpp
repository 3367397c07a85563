#include <trueasync/reactor/work_lane.hpp>

#include <pthread.h>
#include <sys/resource.h>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <support/allocation_counter.hpp>
#include <support/coro_test.hpp>
#include <support/threads.hpp>
#include <trueasync/reactor/uv_reactor.hpp>

#if defined(TA_TSAN)
#define SKIP_FORK() GTEST_SKIP() << "the thread sanitizer allows no threads in a forked child"
#else
#define SKIP_FORK() static_cast<void>(0)
#endif

namespace trueasync::testing {
namespace {

/// Remembers what happened to it; ends itself never.
class Item final : public WorkItem {
public:
    explicit Item(std::function<void()> work = [] {}) : work_(std::move(work)) {}

    void run() noexcept override {
        thread = std::this_thread::get_id();
        work_();
        ++runs;
    }
    void done() noexcept override {
        ++dones;
        if (on_done) {
            on_done();
        }
    }
    void detach() noexcept override { ++detaches; }
    void drop() noexcept override { ++drops; }

    std::function<void()> on_done;
    std::thread::id thread;
    std::atomic<int> runs = 0;
    int dones = 0;
    int detaches = 0;
    std::atomic<int> drops = 0;

private:
    std::function<void()> work_;
};

/// Turns the loop until `condition` holds; sleeps in the loop, as a program does.
template <typename F>
void turn_until(Reactor& reactor, F&& condition) {
    while (!condition()) {
        ASSERT_TRUE(reactor.execute(false));
    }
}

TEST(WorkLane, RunsOnAThreadAndIsDoneOnTheLoopsThread) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    // [work_item]
    Item item;  // run() does the work, done() takes the result
    ASSERT_TRUE(lane.submit(reactor, item));
    turn_until(reactor, [&] { return item.dones == 1; });
    // [work_item]
    EXPECT_EQ(item.runs, 1);
    EXPECT_NE(item.thread, std::this_thread::get_id());
    EXPECT_FALSE(item.is_expected());
    EXPECT_FALSE(item.is_lost());
}

TEST(WorkLane, WorksOnTheRealReactors) {
    for (const Backend backend : {Backend::Best, Backend::Portable}) {
        const auto reactor = make_uv_reactor(backend);
        ASSERT_NE(reactor, nullptr);
        WorkLane lane({.name = "test", .max_threads = 4});
        std::array<Item, 20> items;
        for (Item& item : items) {
            ASSERT_TRUE(lane.submit(*reactor, item));
        }
        for (Item& item : items) {
            turn_until(*reactor, [&] { return item.dones == 1; });
        }
        EXPECT_FALSE(reactor->is_alive());
    }
}

TEST(WorkLane, StartsThreadsOnDemandUpToItsMaximum) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test", .max_threads = 3});
    EXPECT_EQ(lane.stats().threads, 0U);
    Gate gate;
    std::array<Item, 5> items{
        Item([&] { gate.wait(); }), Item([&] { gate.wait(); }), Item([&] { gate.wait(); }), Item([&] { gate.wait(); }),
        Item([&] { gate.wait(); })};
    std::size_t submitted = 0;
    for (Item& item : items) {
        ASSERT_TRUE(lane.submit(reactor, item));
        EXPECT_EQ(lane.stats().threads, std::min<std::size_t>(++submitted, 3));
    }
    EXPECT_TRUE(eventually([&] { return lane.stats().running == 3; }));
    EXPECT_EQ(lane.stats().queued, 2U);
    gate.open();
    for (Item& item : items) {
        turn_until(reactor, [&] { return item.dones == 1; });
    }
    EXPECT_TRUE(eventually([&] { return lane.stats().completed == 5; }));
    EXPECT_EQ(lane.stats().threads, 3U);
}

TEST(WorkLane, AnIdleThreadIsUsedAgain) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test", .max_threads = 8});
    std::set<std::thread::id> threads;
    for (int i = 0; i < 20; ++i) {
        Item item;
        ASSERT_TRUE(lane.submit(reactor, item));
        turn_until(reactor, [&] { return item.dones == 1; });
        threads.insert(item.thread);
        ASSERT_TRUE(eventually([&] { return lane.stats().idle == 1; }));
    }
    EXPECT_EQ(threads.size(), 1U);
    EXPECT_EQ(lane.stats().threads, 1U);
}

TEST(WorkLane, ThreadsEndWhenTheyHaveBeenIdle) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test", .max_threads = 4, .idle = 1ms});
    for (int round = 1; round <= 2; ++round) {
        std::array<Item, 4> items;
        for (Item& item : items) {
            ASSERT_TRUE(lane.submit(reactor, item));
        }
        for (Item& item : items) {
            turn_until(reactor, [&] { return item.dones == 1; });
        }
        EXPECT_TRUE(eventually([&] { return lane.stats().threads == 0; }));
    }
}

TEST(WorkLane, ServesFirstComeFirst) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Gate gate;
    Item first([&] { gate.wait(); });
    ASSERT_TRUE(lane.submit(reactor, first));
    std::vector<int> order;
    std::vector<std::unique_ptr<Item>> items;
    for (int i = 0; i < 10; ++i) {
        items.push_back(std::make_unique<Item>([&order, i] { order.push_back(i); }));
        ASSERT_TRUE(lane.submit(reactor, *items.back()));
    }
    gate.open();
    turn_until(reactor, [&] { return items.back()->dones == 1; });
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(WorkLane, FullQueueRefusesAndSaysSo) {
    VirtualReactor reactor;
    WorkLane lane({.name = "tiny", .max_threads = 1, .max_queued = 1});
    Gate gate;
    Gate begun;
    Item busy([&] {
        begun.open();
        gate.wait();
    });
    Item waiting;
    Item refused;
    ASSERT_TRUE(lane.submit(reactor, busy));
    begun.wait();
    ASSERT_TRUE(lane.submit(reactor, waiting));
    const Status status = lane.submit(reactor, refused);
    ASSERT_TRUE(status.is(ErrorCode::QueueFull));
    EXPECT_EQ(status.error()->message(), "lane 'tiny' is full: 1 at work, 1 waiting");
    EXPECT_FALSE(refused.is_expected());
    EXPECT_EQ(refused.state(), LaneItem::State::Idle);
    gate.open();
    turn_until(reactor, [&] { return waiting.dones == 1; });
    ASSERT_TRUE(lane.submit(reactor, refused));  // another day
    turn_until(reactor, [&] { return refused.dones == 1; });
}

TEST(WorkLane, CancelledBeforeItBeganIsNeitherRunNorDone) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Gate gate;
    Item busy([&] { gate.wait(); });
    ASSERT_TRUE(lane.submit(reactor, busy));
    auto cancelled = std::make_unique<Item>();
    Item after;
    ASSERT_TRUE(lane.submit(reactor, *cancelled));
    ASSERT_TRUE(lane.submit(reactor, after));
    EXPECT_EQ(cancelled->state(), LaneItem::State::Queued);
    EXPECT_TRUE(lane.cancel(*cancelled));
    EXPECT_FALSE(lane.cancel(*cancelled));  // it is there no more
    EXPECT_FALSE(cancelled->is_expected());
    EXPECT_EQ(cancelled->runs + cancelled->dones, 0);
    cancelled.reset();  // nobody holds it
    gate.open();
    turn_until(reactor, [&] { return after.dones == 1; });
}

TEST(WorkLane, WhatHasBegunCannotBeCancelled) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Gate begun;
    Gate gate;
    Item item([&] {
        begun.open();
        gate.wait();
    });
    ASSERT_TRUE(lane.submit(reactor, item));
    begun.wait();
    EXPECT_EQ(item.state(), LaneItem::State::Running);
    EXPECT_FALSE(lane.cancel(item));
    gate.open();
    turn_until(reactor, [&] { return item.dones == 1; });
    EXPECT_FALSE(lane.cancel(item));
}

TEST(WorkLane, AnItemCanGoAgainFromItsOwnDone) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Item item;
    item.on_done = [&] {
        if (item.dones < 3) {
            ASSERT_TRUE(lane.submit(reactor, item));
        }
    };
    ASSERT_TRUE(lane.submit(reactor, item));
    turn_until(reactor, [&] { return item.dones == 3; });
    EXPECT_EQ(item.runs, 3);
    EXPECT_EQ(reactor.active().hidden, 0U);
}

TEST(WorkLane, IsInvisibleToTheLoopWhenNothingIsOut) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Gate gate;
    Item item([&] { gate.wait(); });
    ASSERT_TRUE(lane.submit(reactor, item));
    EXPECT_EQ(reactor.active().visible, 0U);  // what is visible is the event that the work is for
    EXPECT_EQ(reactor.active().hidden, 1U);
    EXPECT_TRUE(reactor.is_alive());
    gate.open();
    turn_until(reactor, [&] { return item.dones == 1; });
    EXPECT_EQ(reactor.active().hidden, 0U);
    EXPECT_FALSE(reactor.is_alive());
}

TEST(WorkLane, SignalsAreBlockedExceptThoseAThreadBringsUponItself) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    sigset_t inside;
    sigemptyset(&inside);
    Item item([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
    sigset_t before;
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    ASSERT_TRUE(lane.submit(reactor, item));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    turn_until(reactor, [&] { return item.dones == 1; });
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGALRM, SIGPIPE, SIGWINCH}) {
        EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
        EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
    }
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        EXPECT_EQ(sigismember(&inside, signal), 0) << signal;
    }
}

TEST(WorkLane, WorkWithoutALoop) {
    class Plain final : public LaneItem {
    public:
        void execute() noexcept override { ran.open(); }
        Gate ran;
    };
    WorkLane lane({.name = "test"});
    Plain item;
    ASSERT_TRUE(lane.submit(item));
    item.ran.wait();
    EXPECT_TRUE(eventually([&] { return lane.stats().completed == 1; }));
}

TEST(WorkLane, RaisedMaximumServesWhatWaits) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Gate gate;
    Item blocking([&] { gate.wait(); });
    Item waiting;
    ASSERT_TRUE(lane.submit(reactor, blocking));
    ASSERT_TRUE(lane.submit(reactor, waiting));
    EXPECT_EQ(lane.stats().threads, 1U);
    lane.set_limits(2, 10);
    turn_until(reactor, [&] { return waiting.dones == 1; });
    EXPECT_EQ(blocking.dones, 0);
    gate.open();
    turn_until(reactor, [&] { return blocking.dones == 1; });
    lane.set_limits(1, 10);
    EXPECT_TRUE(eventually([&] { return lane.stats().threads == 1; }));
}

TEST(WorkLane, ThreadsCanBeAskedToEnd) {
    VirtualReactor reactor;
    WorkLane lane({.name = "test", .max_threads = 2});
    EXPECT_TRUE(lane.stop_threads(0ms));
    Gate begun;
    Gate gate;
    Item item([&] {
        begun.open();
        gate.wait();
    });
    ASSERT_TRUE(lane.submit(reactor, item));
    begun.wait();
    EXPECT_FALSE(lane.stop_threads(0ms));
    gate.open();
    EXPECT_TRUE(lane.stop_threads(9s));
    EXPECT_EQ(lane.stats().threads, 0U);
    turn_until(reactor, [&] { return item.dones == 1; });
    Item again;
    ASSERT_TRUE(lane.submit(reactor, again));
    turn_until(reactor, [&] { return again.dones == 1; });
}

TEST(WorkLane, TheLanesOfTheProcess) {
    EXPECT_EQ(WorkLane::dns().name(), "dns");
    EXPECT_EQ(WorkLane::dns().max_threads(), 32U);
    EXPECT_EQ(WorkLane::work().name(), "work");
    EXPECT_GE(WorkLane::work().max_threads(), 4U);
    EXPECT_EQ(WorkLane::file().name(), "file");
    EXPECT_EQ(WorkLane::file().max_threads(), 16U);
}

TEST(WorkLane, SubmittingAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer brings its own operator new";
    }
    VirtualReactor reactor;
    WorkLane lane({.name = "test"});
    Item item;
    ASSERT_TRUE(lane.submit(reactor, item));
    turn_until(reactor, [&] { return item.dones == 1; });
    ASSERT_TRUE(eventually([&] { return lane.stats().idle == 1; }));
    const AllocationCounter counter;
    ASSERT_TRUE(lane.submit(reactor, item));
    turn_until(reactor, [&] { return item.dones == 2; });
    EXPECT_EQ(counter.count(), 0U);
}

// --- the loop closes

TEST(WorkLane, ClosingTheLoopTakesBackWhatWaits) {
    WorkLane lane({.name = "test"});
    VirtualReactor other;
    Gate begun;
    Gate gate;
    Item busy([&] {
        begun.open();
        gate.wait();
    });
    Item waiting;
    {
        VirtualReactor reactor;
        ASSERT_TRUE(lane.submit(other, busy));
        begun.wait();
        ASSERT_TRUE(lane.submit(reactor, waiting));
        reactor.close();
        EXPECT_EQ(waiting.detaches, 1);
        EXPECT_EQ(waiting.drops, 1);
        EXPECT_EQ(lane.stats().queued, 0U);
        const Status status = lane.submit(reactor, waiting);
        EXPECT_TRUE(status.is(ErrorCode::ShuttingDown));
    }
    gate.open();
    turn_until(other, [&] { return busy.dones == 1; });
    EXPECT_EQ(waiting.runs + waiting.dones, 0);
}

TEST(WorkLane, WorkGoesOnWhenItsLoopIsGoneAndIsThenDropped) {
    WorkLane lane({.name = "test"});
    Gate begun;
    Gate gate;
    Item item([&] {
        begun.open();
        gate.wait();
    });
    {
        VirtualReactor reactor;
        ASSERT_TRUE(lane.submit(reactor, item));
        begun.wait();
        reactor.close();
        EXPECT_EQ(item.detaches, 1);
        EXPECT_EQ(item.drops, 0);
    }
    gate.open();
    EXPECT_TRUE(eventually([&] { return item.drops == 1; }));
    EXPECT_EQ(item.runs, 1);
    EXPECT_EQ(item.dones, 0);
}

TEST(WorkLane, WhatIsBackButNotDeliveredIsDroppedWithTheLoop) {
    WorkLane lane({.name = "test"});
    Item item;
    {
        VirtualReactor reactor;
        ASSERT_TRUE(lane.submit(reactor, item));
        ASSERT_TRUE(eventually([&] { return lane.stats().completed == 1; }));
    }
    EXPECT_EQ(item.detaches, 1);
    EXPECT_EQ(item.drops, 1);
    EXPECT_EQ(item.dones, 0);
}

// --- fork and exit

TEST(WorkLane, ChildOfAForkStartsAfresh) {
    SKIP_FORK();
    VirtualReactor reactor;
    WorkLane lane({.name = "test", .max_threads = 2});
    Gate begun;
    Gate gate;
    Item running([&] {
        begun.open();
        gate.wait();
    });
    ASSERT_TRUE(lane.submit(reactor, running));
    begun.wait();
    lane.set_limits(1, 10);
    Item queued;
    ASSERT_TRUE(lane.submit(reactor, queued));
    const int child = in_child([&] {
        if (lane.stats().threads != 0 || lane.stats().queued != 0 || lane.stats().running != 0) {
            return 1;
        }
        Item fresh;
        if (!lane.submit(reactor, fresh)) {
            return 2;
        }
        turn_until(reactor, [&] { return fresh.dones == 1; });
        // The parent's items are told that they are lost, and are not run.
        turn_until(reactor, [&] { return running.dones + queued.dones == 2; });
        if (!running.is_lost() || !running.is_torn() || !queued.is_lost() || queued.is_torn()) {
            return 3;
        }
        if (fresh.is_lost() || fresh.runs != 1 || queued.runs != 0 || running.runs != 0) {
            return 4;
        }
        return reactor.active().hidden == 0 ? 0 : 5;
    });
    EXPECT_EQ(child, 0);
    EXPECT_EQ(running.dones, 0);  // the parent has noticed nothing
    gate.open();
    turn_until(reactor, [&] { return queued.dones == 1; });
    EXPECT_EQ(running.dones, 1);
    EXPECT_FALSE(running.is_lost());
    EXPECT_FALSE(queued.is_lost());
}

TEST(WorkLane, ClosingTheLoopInTheChildOfAForkFreesOnlyWhatIsWhole) {
    SKIP_FORK();
    WorkLane lane({.name = "test"});
    VirtualReactor reactor;
    Gate begun;
    Gate gate;
    Item running([&] {
        begun.open();
        gate.wait();
    });
    Item queued;
    ASSERT_TRUE(lane.submit(reactor, running));
    ASSERT_TRUE(lane.submit(reactor, queued));
    begun.wait();
    EXPECT_EQ(
        in_child([&] {
            reactor.close();
            return running.drops == 0 && running.detaches == 1 && queued.drops == 1 && queued.detaches == 1 ? 0 : 1;
        }),
        0
    );
    gate.open();
    turn_until(reactor, [&] { return queued.dones == 1; });
}

TEST(WorkLane, ForksAmidTrafficLeaveNoLockBehind) {
    SKIP_FORK();
#if defined(TA_ASAN)
    GTEST_SKIP() << "the allocator of the address sanitizer may stay locked in a child";
#endif
    WorkLane lane({.name = "test", .max_threads = 4, .idle = 1ms});
    std::atomic<bool> is_over = false;
    std::thread traffic([&] {
        VirtualReactor reactor;
        while (!is_over) {
            std::array<Item, 8> items;
            for (Item& item : items) {
                EXPECT_TRUE(lane.submit(reactor, item));
            }
            for (Item& item : items) {
                if (!lane.cancel(item)) {
                    turn_until(reactor, [&] { return item.dones == 1; });
                }
            }
        }
    });
    VirtualReactor reactor;
    for (int i = 0; i < 20; ++i) {
        const int child = in_child([&] {
            Item item;
            if (!lane.submit(reactor, item)) {
                return 1;
            }
            turn_until(reactor, [&] { return item.dones == 1; });
            return 0;
        });
        EXPECT_EQ(child, 0) << "fork " << i;
    }
    is_over = true;
    traffic.join();
}

[[noreturn]] void exit_while_busy() {
    auto& reactor = *new VirtualReactor;
    auto& begun = *new Gate;
    auto& busy = *new Item([&begun] {
        begun.open();
        ::pause();
    });
    auto& waiting = *new Item;
    WorkLane::work().set_limits(1, 10);
    const bool is_submitted = WorkLane::work().submit(reactor, busy) && WorkLane::work().submit(reactor, waiting);
    begun.wait();
    std::exit(is_submitted ? 42 : 1);
}

TEST(WorkLane, ProcessExitsWhileThreadsAreBusy) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_while_busy(), ::testing::ExitedWithCode(42), "");
}

TEST(WorkLane, SaysSoWhenNotEvenOneThreadCanBeStarted) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    GTEST_SKIP() << "sanitizers need address space without limit";
#endif
    const int child = in_child([] {
        auto& reactor = *new VirtualReactor;
        auto& lane = *new WorkLane({.name = "test"});
        auto& item = *new Item;
        LoopReturns::of(reactor);  // takes its memory while there is some
        std::free(std::malloc(std::size_t{64} * 1024));
        const rlimit nothing{};
        if (::setuid(65534) != 0 && ::geteuid() == 0) {
            return 77;
        }
        setrlimit(RLIMIT_NPROC, &nothing);
        setrlimit(RLIMIT_AS, &nothing);
        const Status status = lane.submit(reactor, item);
        if (status) {
            return 77;
        }
        if (!status.is(ErrorCode::System) || item.is_expected()) {
            return 1;
        }
        return status.error()->message().find("start a thread of the lane 'test': E") == 0 ? 0 : 2;
    });
    if (child == 77) {
        GTEST_SKIP() << "limits on processes and address space have no effect here";
    }
    EXPECT_EQ(child, 0);
}

// --- everything at once

/// Several loops on several threads submit to one small lane, cancel, and close with work outstanding. Every item ends once.
TEST(WorkLane, RandomTrafficLosesNothing) {
    struct Heap final : WorkItem {
        explicit Heap(std::atomic<int>& alive_count) : alive(alive_count) { ++alive; }
        ~Heap() override { --alive; }
        void run() noexcept override {}
        void done() noexcept override {
            if (owner != nullptr) {
                std::erase(*owner, this);
            }
            delete this;
        }
        void detach() noexcept override { owner = nullptr; }
        void drop() noexcept override { delete this; }
        std::atomic<int>& alive;
        std::vector<Heap*>* owner = nullptr;
    };
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    WorkLane lane({.name = "test", .max_threads = 3, .max_queued = 40, .idle = 1ms});
    std::atomic<int> alive = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            std::mt19937 random(seed + i);
            for (int round = 0; round < 10; ++round) {
                VirtualReactor reactor;
                std::vector<Heap*> mine;
                for (int step = 0; step < 200; ++step) {
                    const std::uint32_t what = random() % 10;
                    if (what < 6) {
                        auto* item = new Heap(alive);
                        item->owner = &mine;
                        if (lane.submit(reactor, *item)) {
                            mine.push_back(item);
                        } else {
                            delete item;
                        }
                    } else if (what < 8 && !mine.empty()) {
                        const std::size_t index = random() % mine.size();
                        Heap* item = mine[index];
                        mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(index));
                        item->owner = nullptr;
                        if (lane.cancel(*item)) {
                            delete item;
                        }
                    } else {
                        EXPECT_TRUE(reactor.execute(true));
                    }
                }
                if (round % 2 == 0) {
                    turn_until(reactor, [&] { return mine.empty(); });
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(eventually([&] { return alive == 0; }));
    EXPECT_TRUE(lane.stop_threads(9s));
    EXPECT_EQ(lane.stats().queued, 0U);
}

}  // namespace
}  // namespace trueasync::testing
