#include <trueasync/reactor/uv_reactor.hpp>

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <support/coro_test.hpp>
#include <support/valgrind.hpp>
#include <thread>

#if defined(__linux__)
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>
#endif

// The only tests that sleep: that is what they are about. A few milliseconds each; upper bounds are generous, lower
// ones exact.

namespace trueasync::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// No machine is this slow, and no wait of these tests lasts this long unless something is wrong.
constexpr auto kLong = 2s;

struct Node final : TimerNode {
    explicit Node(std::function<void()> action_ = [] {}) : action(std::move(action_)) {}
    void on_deadline() noexcept override {
        ++calls;
        action();
    }
    int calls = 0;
    std::function<void()> action;
};

template <typename F>
Duration time_of(F&& body) {
    const auto begin = Clock::now();
    body();
    return Clock::now() - begin;
}

void work_for(Duration duration) {
    const auto end = Clock::now() + duration;
    while (Clock::now() < end) {}
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

class UvReactor : public ::testing::TestWithParam<Backend> {
protected:
    RecordingSink sink;

    std::unique_ptr<Reactor> make() {
        auto reactor = make_uv_reactor(GetParam());
        EXPECT_NE(reactor, nullptr);
        return reactor;
    }

    void in_runtime(const std::function<void()>& body) {
        RunOptions options;
        options.reactor = make();
        options.sink = &sink;
        run([&] { body(); }, std::move(options));
    }

    static Reactor& loop() { return Scheduler::current()->reactor(); }
};

using UvReactorThreads = UvReactor;

std::string name_of(const ::testing::TestParamInfo<Backend>& info) {
    return info.param == Backend::Best ? "Best" : "Portable";
}

INSTANTIATE_TEST_SUITE_P(Backends, UvReactor, ::testing::Values(Backend::Best, Backend::Portable), name_of);
INSTANTIATE_TEST_SUITE_P(Backends, UvReactorThreads, ::testing::Values(Backend::Best, Backend::Portable), name_of);

TEST_P(UvReactor, SleepReallySleepsAndNeverWakesEarly) {
    in_runtime([] {
        for (const Duration delay :
             {Duration(1ns), Duration(50us), Duration(999us), Duration(1ms), Duration(1001us), Duration(1500us),
              Duration(3ms), Duration(5ms)}) {
            const Duration slept = time_of([&] { sleep_for(delay); });
            EXPECT_GE(slept, delay);
            EXPECT_LT(slept, delay + kLong);
        }
    });
}

TEST_P(UvReactor, NeverWakesEarlyAfterWork) {
    // A loop that keeps the time of its last turn would count from then.
    in_runtime([] {
        for (int i = 0; i < 3; ++i) {
            work_for(2ms);
            EXPECT_GE(time_of([] { sleep_for(3ms); }), 3ms);
        }
    });
}

TEST_P(UvReactor, TimersFireInOrder) {
    in_runtime([] {
        std::vector<int> order;
        std::vector<Handle<void>> sleepers;
        for (const int delay : {90, 30, 60}) {  // far apart: a busy machine may start one much later than the other
            sleepers.push_back(spawn([&order, delay] {
                sleep_for(delay * 1ms);
                order.push_back(delay);
            }));
        }
        for (const auto& sleeper : sleepers) {
            await(sleeper);
        }
        EXPECT_EQ(order, (std::vector{30, 60, 90}));
    });
}

TEST_P(UvReactor, SleepsOverlap) {
    in_runtime([] {
        constexpr int kSleepers = 500;
        const Duration passed = time_of([] {
            std::vector<Handle<void>> sleepers;
            for (int i = 0; i < kSleepers; ++i) {
                sleepers.push_back(spawn([] { sleep_for(20ms); }));
            }
            for (const auto& sleeper : sleepers) {
                await(sleeper);
            }
        });
        EXPECT_GE(passed, 20ms);
        EXPECT_LT(passed, kSleepers * 20ms / 2);
    });
}

TEST_P(UvReactor, PeriodicTimerKeepsItsPeriod) {
    in_runtime([] {
        auto timer = TimerEvent::create(loop(), 2ms, 2ms);
        ASSERT_TRUE(timer->start());
        const Instant begin = timer->deadline() - 2ms;
        for (int i = 1; i <= 3; ++i) {
            await(timer);
            EXPECT_GE(loop().now() - begin, i * 2ms);
        }
        ASSERT_TRUE(timer->stop());
    });
}

TEST_P(UvReactor, NowIsMonotonicAndOnTheSteadyClock) {
    auto reactor = make();
    EXPECT_TRUE(reactor->has_real_clock());
    const Instant before = Clock::now();
    Instant last = reactor->now();
    EXPECT_GE(last, before);
    for (int i = 0; i < 10000; ++i) {
        const Instant now = reactor->now();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GT(last, before) << "it stands still";
    EXPECT_LE(last, Instant(Clock::now()));
}

TEST_P(UvReactor, TurnWithoutWaitingDoesNotSleep) {
    auto reactor = make();
    Node node;
    ASSERT_TRUE(reactor->arm(node, reactor->now() + 1h));
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(true)); }), kLong);
    EXPECT_EQ(node.calls, 0);
    reactor->disarm(node);
}

TEST_P(UvReactor, TurnWithoutWaitingFiresWhatIsDue) {
    auto reactor = make();
    Node node;
    ASSERT_TRUE(reactor->arm(node, reactor->now()));
    ASSERT_TRUE(reactor->execute(true));
    EXPECT_EQ(node.calls, 1);
}

TEST_P(UvReactor, BlockingTurnWithSomethingDueDoesNotSleep) {
    auto reactor = make();
    Node due;
    Node later;
    ASSERT_TRUE(reactor->arm(due, reactor->now()));
    ASSERT_TRUE(reactor->arm(later, reactor->now() + kLong));
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(false)); }), kLong);
    EXPECT_EQ(due.calls, 1);
    EXPECT_EQ(later.calls, 0);
    reactor->disarm(later);
}

TEST_P(UvReactor, BlockingTurnWithAFiredTriggerDoesNotSleep) {
    auto reactor = make();
    Node later;
    ASSERT_TRUE(reactor->arm(later, reactor->now() + kLong));
    auto trigger = TriggerEvent::create(*reactor);
    ASSERT_TRUE(trigger->start());
    trigger->fire();
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(false)); }), kLong);
    // Ending another one takes the queue over from the threads; what is in it must still be delivered at once.
    trigger->fire();
    TriggerEvent::create(*reactor)->fire();
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(false)); }), kLong);
    EXPECT_EQ(later.calls, 0);
    reactor->disarm(later);
}

TEST_P(UvReactor, WakeUpBeforeABlockingTurnEndsItAtOnce) {
    auto reactor = make();
    Node later;
    ASSERT_TRUE(reactor->arm(later, reactor->now() + kLong));
    reactor->wake_up();
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(false)); }), kLong);
    EXPECT_EQ(later.calls, 0);
    reactor->disarm(later);
}

TEST_P(UvReactor, WorkLongerThanASleepDoesNotDelayIt) {
    in_runtime([] {
        Duration woken{};
        const auto begin = Clock::now();
        auto late = spawn([] { sleep_for(kLong); });
        auto sleeper = spawn([&] {
            sleep_for(1ms);
            woken = Clock::now() - begin;
        });
        auto worker = spawn([] { work_for(3ms); });
        await(sleeper);
        EXPECT_LT(woken, kLong);
        late.cancel();
        await(worker);
    });
}

TEST_P(UvReactor, LoneCoroutineThatSuspendsSeesTimers) {
    in_runtime([] {
        auto timer = TimerEvent::create(loop(), 1ms);
        ASSERT_TRUE(timer->start());
        const auto give_up = Clock::now() + kLong;
        while (!timer->is_closed() && Clock::now() < give_up) {
            suspend();
        }
        EXPECT_TRUE(timer->is_closed());
    });
}

TEST_P(UvReactor, BusyCoroutinesDoNotHoldBackTimers) {
    in_runtime([] {
        bool is_awake = false;
        auto sleeper = spawn([&] {
            sleep_for(1ms);
            is_awake = true;
        });
        const auto give_up = Clock::now() + kLong;
        std::vector<Handle<void>> busy;
        for (int i = 0; i < 3; ++i) {
            busy.push_back(spawn([&] {
                while (!is_awake && Clock::now() < give_up) {
                    suspend();
                }
            }));
        }
        for (const auto& one : busy) {
            await(one);
        }
        EXPECT_TRUE(is_awake);
        await(sleeper);
    });
}

TEST_P(UvReactor, NothingVisibleEndsTheRun) {
    EXPECT_LT(
        time_of([&] {
            in_runtime([] {
                spawn([] {
                    auto hidden = TimerEvent::create(loop(), 1h);
                    hidden->set_hidden(true);
                    ASSERT_TRUE(hidden->start());
                    auto trigger = TriggerEvent::create(loop());
                    trigger->set_hidden(true);
                    ASSERT_TRUE(trigger->start());
                    suspend();
                });
            });
        }),
        kLong
    );
    EXPECT_TRUE(sink.deadlocks.empty());
}

TEST_P(UvReactor, RunWaitsForCoroutinesThatSleep) {
    bool is_done = false;
    in_runtime([&] {
        spawn([&] {
            sleep_for(2ms);
            is_done = true;
        });
    });
    EXPECT_TRUE(is_done);
}

TEST_P(UvReactor, DeadlockIsFoundWithoutWaiting) {
    EXPECT_LT(
        time_of([&] {
            EXPECT_THROW(
                in_runtime([] {
                    ManualEvent never;
                    await(never);
                }),
                DeadlockError
            );
        }),
        kLong
    );
}

TEST_P(UvReactor, SignalsDoNotEndASleep) {
    SKIP_ON_VALGRIND("delivers signals late, here when nobody waits for them any more");
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) {};  // no SA_RESTART: system calls end with EINTR
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    itimerval every{};
    every.it_value.tv_usec = every.it_interval.tv_usec = 500;
    ASSERT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
    in_runtime([] { EXPECT_GE(time_of([] { sleep_for(5ms); }), 5ms); });
    const itimerval off{};
    ASSERT_EQ(setitimer(ITIMER_REAL, &off, nullptr), 0);
    ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
}

TEST_P(UvReactor, IsAliveWhileAnythingIsInTheLoop) {
    auto reactor = make();
    EXPECT_FALSE(reactor->is_alive());
    Node node;
    ASSERT_TRUE(reactor->arm(node, reactor->now() + 1h));
    EXPECT_TRUE(reactor->is_alive());
    reactor->disarm(node);
    EXPECT_FALSE(reactor->is_alive());
    auto trigger = TriggerEvent::create(*reactor);
    trigger->set_hidden(true);
    ASSERT_TRUE(trigger->start());
    EXPECT_TRUE(reactor->is_alive());
    trigger.reset();
    EXPECT_FALSE(reactor->is_alive());
}

TEST_P(UvReactor, CloseNamesWhatIsStillArmed) {
    auto reactor = make();
    Node node;
    ASSERT_TRUE(reactor->arm(node, reactor->now() + 1h));
    const std::vector<std::string> open = reactor->close();
    ASSERT_EQ(open.size(), 1U);
    EXPECT_NE(open[0].find("1 armed timer"), std::string::npos);
    reactor->disarm(node);
    EXPECT_TRUE(make()->close().empty());
}

TEST_P(UvReactor, FarDeadlinesDoNotOverflow) {
    auto reactor = make();
    Node never;
    Node soon;
    ASSERT_TRUE(reactor->arm(never, Instant::max()));
    ASSERT_TRUE(reactor->execute(true));
    reactor->wake_up();
    ASSERT_TRUE(reactor->execute(false));
    EXPECT_EQ(never.calls, 0);
    ASSERT_TRUE(reactor->arm(soon, reactor->now() + 1ms));
    while (soon.calls == 0) {
        ASSERT_TRUE(reactor->execute(false));
    }
    EXPECT_EQ(never.calls, 0);
    reactor->disarm(never);
}

TEST_P(UvReactor, DeadlinesLongPastDoNotOverflow) {
    auto reactor = make();
    Node past;
    Node never;
    ASSERT_TRUE(reactor->arm(past, Instant::min()));
    ASSERT_TRUE(reactor->arm(never, Instant::max()));
    ASSERT_TRUE(reactor->execute(false));
    EXPECT_EQ(past.calls, 1);
    EXPECT_EQ(never.calls, 0);
    reactor->disarm(never);
}

TEST_P(UvReactor, RunsLeaveNoDescriptorsBehind) {
    in_runtime([] { suspend(); });  // libuv keeps a few of its own from the first time on
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 300; ++i) {
        in_runtime([i] {
            spawn([] { suspend(); });
            if (i % 10 == 0) {
                sleep_for(10us);
            }
        });
        try {
            in_runtime([] {
                auto timer = TimerEvent::create(loop(), 1h);
                ASSERT_TRUE(timer->start());
                throw 1;
            });
        } catch (int) {}
    }
    EXPECT_EQ(open_descriptors(), before);
}

#if defined(__linux__)

/// Lets a function open only so many descriptors; returns how many are open afterwards that were not before.
template <typename F>
std::ptrdiff_t with_descriptors_left(int count, F&& body) {
    const auto before = static_cast<std::ptrdiff_t>(open_descriptors());
    const int lowest = ::dup(0);
    EXPECT_GE(lowest, 0);
    ::close(lowest);
    rlimit limit{};
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlimit tight = limit;
    tight.rlim_cur = static_cast<rlim_t>(lowest + count);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    body();
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return static_cast<std::ptrdiff_t>(open_descriptors()) - before;
}

TEST_P(UvReactor, NullWhenTheSystemRefusesDescriptors) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    make();  // what libuv opens once is open
    bool was_made = false;
    for (int left = 0; left < 16 && !was_made; ++left) {
        SCOPED_TRACE("with " + std::to_string(left) + " descriptors left");
        int error = 0;
        const std::ptrdiff_t leaked = with_descriptors_left(left, [&] {
            errno = 0;
            was_made = make_uv_reactor(GetParam()) != nullptr;
            error = errno;
        });
        // Some versions of libuv leave one behind when they fail; we add none. One descriptor is ours before libuv has its turn.
        const std::ptrdiff_t leaked_by_libuv = left == 0 ? 0 : with_descriptors_left(left - 1, [] {
            uv_loop_t loop;
            if (uv_loop_init(&loop) == 0) {
                uv_loop_close(&loop);
            }
        });
        EXPECT_LE(leaked, leaked_by_libuv);
        if (!was_made) {
            EXPECT_EQ(error, EMFILE);
        }
    }
    EXPECT_TRUE(was_made);
}

TEST(UvReactorBest, SleepsLessThanAMillisecond) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    const timespec at_once{};
    const bool has_pwait2 = epoll_pwait2(epoll, &event, 1, &at_once, nullptr) == 0;
    ::close(epoll);
    if (!has_pwait2) {
        GTEST_SKIP() << "this kernel has no epoll_pwait2";
    }
    Duration best = Duration::max();
    run([&] {
        for (int i = 0; i < 20; ++i) {
            best = std::min(best, time_of([] { sleep_for(100us); }));
        }
    });
    EXPECT_GE(best, 100us);
    EXPECT_LT(best, 1ms);
#else
    GTEST_SKIP() << "this libc has no epoll_pwait2";
#endif
}

#endif

// --- across threads; the thread sanitizer watches these

TEST_P(UvReactorThreads, TriggerFromAThreadEndsABlockingTurn) {
    in_runtime([] {
        auto trigger = TriggerEvent::create(loop());
        auto late = spawn([] { sleep_for(1h); });
        std::thread thread([&] {
            std::this_thread::sleep_for(3ms);  // the loop is asleep by then; if not, nothing is lost but the point
            trigger->fire();
        });
        const Duration waited = time_of([&] { await(trigger); });
        thread.join();
        EXPECT_LT(waited, kLong);
        late.cancel();
    });
}

TEST_P(UvReactorThreads, WakeUpEndsABlockingTurn) {
    auto reactor = make();
    Node later;
    ASSERT_TRUE(reactor->arm(later, reactor->now() + kLong));
    std::thread thread([&] {
        std::this_thread::sleep_for(3ms);
        reactor->wake_up();
    });
    EXPECT_LT(time_of([&] { ASSERT_TRUE(reactor->execute(false)); }), kLong);
    thread.join();
    EXPECT_EQ(later.calls, 0);
    reactor->disarm(later);
}

TEST_P(UvReactorThreads, EveryFireIsFollowedByAWakeUp) {
    in_runtime([] {
        constexpr int kRounds = 1000;
        auto trigger = TriggerEvent::create(loop());
        std::atomic<int> asked = 0;
        std::atomic<int> answered = 0;
        std::thread thread([&] {
            for (int n = 1; n <= kRounds; ++n) {
                asked.store(n, std::memory_order_relaxed);
                trigger->fire();
                while (answered.load(std::memory_order_relaxed) != n) {
                    std::this_thread::yield();
                }
            }
        });
        for (int n = 1; n <= kRounds; ++n) {
            while (asked.load(std::memory_order_relaxed) != n) {
                await(trigger);
            }
            answered.store(n, std::memory_order_relaxed);
        }
        thread.join();
    });
}

TEST_P(UvReactorThreads, ManyThreadsManyFires) {
    in_runtime([] {
        constexpr std::size_t kThreads = 4;
        constexpr int kFires = 3000;
        auto trigger = TriggerEvent::create(loop());
        std::array<std::atomic<int>, kThreads> published{};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                for (int n = 1; n <= kFires; ++n) {
                    published[i].store(n, std::memory_order_relaxed);
                    trigger->fire();
                }
            });
        }
        const auto is_complete = [&] {
            return std::all_of(published.begin(), published.end(), [](const auto& value) {
                return value.load(std::memory_order_relaxed) == kFires;
            });
        };
        while (!is_complete()) {
            await(trigger);
        }
        for (auto& thread : threads) {
            thread.join();
        }
    });
}

}  // namespace
}  // namespace trueasync::testing
