#include <trueasync/reactor/signal.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <random>
#include <support/descriptors.hpp>
#include <thread>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

struct sigaction action_of(int number) {
    struct sigaction action {};
    EXPECT_EQ(sigaction(number, nullptr, &action), 0);
    return action;
}

/// After each test every signal does what it did before.
class SignalEvents : public BackendTest {
protected:
    void SetUp() override {
        BackendTest::SetUp();
        for (const int number : kUsed) {
            before_.push_back(action_of(number).sa_handler);
        }
    }
    void TearDown() override {
        for (std::size_t i = 0; i < before_.size(); ++i) {
            EXPECT_EQ(action_of(kUsed[i]).sa_handler, before_[i]) << signal_name(kUsed[i]);
        }
        BackendTest::TearDown();
    }

private:
    static constexpr int kUsed[] = {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGPIPE};
    std::vector<void (*)(int)> before_;
};
ON_BOTH_BACKENDS(SignalEvents);

class Counter final : public Callback {
public:
    explicit Counter(std::function<void()> action = [] {}) : action_(std::move(action)) {}
    void call(Event& event, void* result, Error* /*error*/) override {
        ++calls;
        sum += static_cast<SignalEvent&>(event).count();
        last = result != nullptr ? *static_cast<const int*>(result) : 0;
        action_();
    }
    int calls = 0;
    std::uint64_t sum = 0;
    int last = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> action_;
};

void send(int number) { ASSERT_EQ(::kill(::getpid(), number), 0); }

std::atomic<int> host_calls = 0;
void host_handler(int /*number*/) { ++host_calls; }

int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(8);
        _exit(body());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// --- waiting

TEST_P(SignalEvents, AwaitSuspendsUntilTheSignalComes) {
    in_runtime([](IoReactor& reactor) {
        auto sender = spawn([] { send(SIGUSR1); });
        /// [await_signal]
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        await(signal);  // the other coroutines run meanwhile
        /// [await_signal]
        EXPECT_EQ(signal->count(), 1U);
        EXPECT_EQ(signal->number(), SIGUSR1);
        EXPECT_EQ(signal->state(), EventState::Stopped);
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST_P(SignalEvents, WakesALoopThatSleeps) {
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        ASSERT_TRUE(signal->start());
        const std::uint64_t before = reactor.io_stats().sleeps;
        std::atomic<bool> is_asleep = false;
        std::thread sender([&] {
            while (!is_asleep) {
                std::this_thread::yield();
            }
#if defined(TA_TSAN)
            // The thread sanitizer puts off a signal that comes at a bad time, and forgets it when the coroutine changes.
            ASSERT_EQ(::pthread_kill(::pthread_self(), SIGUSR1), 0);
#else
            send(SIGUSR1);
#endif
        });
        auto teller = spawn([&] { is_asleep = true; });  // runs last: the loop is about to sleep
        await(signal);
        EXPECT_LE(before, reactor.io_stats().sleeps);
        sender.join();
        ASSERT_TRUE(signal->stop());
    });
}

TEST_P(SignalEvents, AllWaitersOfASignalAreWoken) {
    in_runtime([](IoReactor& reactor) {
        int woken = 0;
        auto shared = SignalEvent::create(reactor, SIGUSR1);
        std::vector<Handle<void>> waiters;
        for (int i = 0; i < 10; ++i) {
            waiters.push_back(spawn([&, own = i % 2 == 0] {
                await(own ? SignalEvent::create(reactor, SIGUSR1) : shared);
                ++woken;
            }));
        }
        suspend();
        send(SIGUSR1);
        for (auto& waiter : waiters) {
            await(waiter);
        }
        EXPECT_EQ(woken, 10);
    });
}

TEST_P(SignalEvents, OnlyTheOneThatCame) {
    in_runtime([](IoReactor& reactor) {
        auto other = SignalEvent::create(reactor, SIGUSR2);
        Counter counter;
        ASSERT_TRUE(other->add_callback(counter));
        ASSERT_TRUE(other->start());
        auto sender = spawn([] { send(SIGUSR1); });
        await(SignalEvent::create(reactor, SIGUSR1));
        EXPECT_EQ(counter.calls, 0);
        EXPECT_TRUE(other->del_callback(counter));
    });
}

TEST_P(SignalEvents, FasterThanTheLoopCountsAsOneFiring) {
    in_runtime([](IoReactor& reactor) {
        auto sender = spawn([] {
            for (int i = 0; i < 5; ++i) {
                ASSERT_EQ(::raise(SIGUSR1), 0);
            }
        });
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        await(signal);
        EXPECT_EQ(signal->count(), 5U);
    });
}

TEST_P(SignalEvents, WhatComesWhileNobodyListensIsKept) {
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        ASSERT_TRUE(signal->start());
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(::raise(SIGUSR1), 0);
            settle();
            sleep_for(10us);  // turns of the loop
            await(signal);
            EXPECT_EQ(signal->count(), 1U);
        }
        EXPECT_EQ(code_of([&] { await(signal, 1ms); }), ErrorCode::Timeout);
        ASSERT_TRUE(signal->stop());
    });
}

TEST_P(SignalEvents, FiresAgainAndAgain) {
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        for (int i = 0; i < 20; ++i) {
            auto sender = spawn([] { send(SIGUSR1); });
            await(signal);
        }
    });
}

TEST_P(SignalEvents, ASignalBeforeTheStartIsNotReported) {
    in_runtime([](IoReactor& reactor) {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        struct sigaction before {};
        ASSERT_EQ(sigaction(SIGUSR1, &ignore, &before), 0);
        ASSERT_EQ(::raise(SIGUSR1), 0);
        EXPECT_EQ(code_of([&] { await(SignalEvent::create(reactor, SIGUSR1), 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_IGN);
        ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
    });
}

TEST_P(SignalEvents, RealtimeSignals) {
    in_runtime([](IoReactor& reactor) {
        auto sender = spawn([] { send(SIGRTMIN + 3); });
        auto signal = SignalEvent::create(reactor, SIGRTMIN + 3);
        await(signal);
        EXPECT_EQ(signal->info(), "Signal(signum=" + std::to_string(SIGRTMIN + 3) + ")");
    });
}

// --- the action before

TEST_P(SignalEvents, TheHostsHandlerComesBackUnchanged) {
    struct sigaction mine {};
    mine.sa_handler = &host_handler;
    mine.sa_flags = SA_NODEFER;
    sigaddset(&mine.sa_mask, SIGUSR2);
    struct sigaction before {};
    ASSERT_EQ(sigaction(SIGHUP, &mine, &before), 0);
    host_calls = 0;
    in_runtime([](IoReactor& reactor) {
        auto first = SignalEvent::create(reactor, SIGHUP);
        auto second = SignalEvent::create(reactor, SIGHUP);
        ASSERT_TRUE(first->start());
        ASSERT_TRUE(second->start());
        ASSERT_EQ(::raise(SIGHUP), 0);
        EXPECT_EQ(host_calls, 0);
        ASSERT_TRUE(first->stop());
        ASSERT_EQ(::raise(SIGHUP), 0);
        EXPECT_EQ(host_calls, 0);
        ASSERT_TRUE(second->stop());  // the last one
        ASSERT_EQ(::raise(SIGHUP), 0);
        EXPECT_EQ(host_calls, 1);
    });
    const struct sigaction now = action_of(SIGHUP);
    EXPECT_EQ(now.sa_handler, &host_handler);
    EXPECT_EQ(now.sa_flags & SA_NODEFER, SA_NODEFER);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR2), 1);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR1), 0);
    ASSERT_EQ(sigaction(SIGHUP, &before, nullptr), 0);
}

TEST_P(SignalEvents, AHandlerThatTheHostInstalledMeanwhileStays) {
    const struct sigaction before = action_of(SIGHUP);
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGHUP);
        ASSERT_TRUE(signal->start());
        struct sigaction mine {};
        mine.sa_handler = &host_handler;
        ASSERT_EQ(sigaction(SIGHUP, &mine, nullptr), 0);
        ASSERT_TRUE(signal->stop());
        EXPECT_EQ(action_of(SIGHUP).sa_handler, &host_handler);
    });
    ASSERT_EQ(sigaction(SIGHUP, &before, nullptr), 0);
}

TEST_P(SignalEvents, TheDefaultActionWhenNobodyWaits) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer does not follow a fork into coroutines";
#endif
    EXPECT_EQ(
        in_child([&] {
            in_runtime([](IoReactor& reactor) {
                auto sender = spawn([] { send(SIGTERM); });
                await(SignalEvent::create(reactor, SIGTERM));
                send(SIGTERM);
            });
            return 1;
        }),
        -SIGTERM
    );
}

// --- what is refused

TEST_P(SignalEvents, WhatCannotBeWaitedForIsRefused) {
    in_runtime([](IoReactor& reactor) {
        for (const int number : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 0, -1, 65, 1000000}) {
            auto signal = SignalEvent::create(reactor, number);
            const Status status = signal->start();
            ASSERT_FALSE(status.ok()) << number;
            EXPECT_EQ(SystemError::number_of(status.error()), EINVAL);
            EXPECT_NE(status.error()->message().find(signal_name(number)), std::string::npos);
            EXPECT_EQ(reactor.active().visible, 0U);
            EXPECT_EQ(code_of([&] { await(signal); }), ErrorCode::System);
        }
        auto kill = SignalEvent::create(reactor, SIGKILL);
        EXPECT_EQ(
            kill->start().error()->message(), "wait for SIGKILL, but no program can catch it: EINVAL (invalid argument)"
        );
        EXPECT_FALSE(SignalEvent::create(reactor, 32)->start().ok());  // the C library's own
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST(SignalName, OfEveryKind) {
    EXPECT_EQ(signal_name(SIGINT), "SIGINT");
    EXPECT_EQ(signal_name(SIGRTMIN), "SIGRTMIN");
    EXPECT_EQ(signal_name(SIGRTMAX), "SIGRTMIN+" + std::to_string(SIGRTMAX - SIGRTMIN));
    EXPECT_EQ(signal_name(0), "signal 0");
    EXPECT_EQ(signal_name(1000), "signal 1000");
}

// --- life

TEST_P(SignalEvents, Info) {
    in_runtime([](IoReactor& reactor) { EXPECT_EQ(SignalEvent::create(reactor, SIGINT)->info(), "Signal(signum=2)"); });
}

TEST_P(SignalEvents, DroppedInsideItsOwnCallback) {
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        auto neighbour = SignalEvent::create(reactor, SIGUSR1);
        Counter heard;
        Counter dropping([&] {
            signal.reset();
            neighbour.reset();
        });
        ASSERT_TRUE(signal->add_callback(dropping));
        ASSERT_TRUE(neighbour->add_callback(heard));
        ASSERT_TRUE(signal->start());
        ASSERT_TRUE(neighbour->start());
        ASSERT_EQ(::raise(SIGUSR1), 0);
        sleep_for(10us);
        EXPECT_EQ(dropping.calls, 1);
        EXPECT_EQ(heard.calls, 0);
        EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_DFL);
    });
}

TEST_P(SignalEvents, OneThatStartsAnotherInItsCallback) {
    in_runtime([](IoReactor& reactor) {
        auto first = SignalEvent::create(reactor, SIGUSR1);
        auto second = SignalEvent::create(reactor, SIGUSR1);
        Counter heard;
        ASSERT_TRUE(second->add_callback(heard));
        Counter starting([&] {
            ASSERT_TRUE(first->stop());
            ASSERT_TRUE(second->start());
        });
        ASSERT_TRUE(first->add_callback(starting));
        ASSERT_TRUE(first->start());
        ASSERT_EQ(::raise(SIGUSR1), 0);
        sleep_for(10us);
        EXPECT_EQ(heard.calls, 0);
        ASSERT_EQ(::raise(SIGUSR1), 0);
        sleep_for(10us);
        EXPECT_EQ(heard.calls, 1);
        first->del_callback(starting);
        second->del_callback(heard);
    });
}

TEST_P(SignalEvents, OutlivesItsReactor) {
    Ref<SignalEvent> signal;
    in_runtime([&](IoReactor& reactor) {
        signal = SignalEvent::create(reactor, SIGUSR1);
        signal->set_hidden(true);
        ASSERT_TRUE(signal->start());
    });
    EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_DFL);
    EXPECT_FALSE(signal->start().ok());
}

TEST_P(SignalEvents, CancelledWaiterLeavesTheOthers) {
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        auto leaver = spawn([&] { await(signal); });
        auto stayer = spawn([&] { await(signal); });
        suspend();
        leaver.cancel("enough");
        EXPECT_THROW(await(leaver), Cancellation);
        send(SIGUSR1);
        await(stayer);
    });
}

TEST_P(SignalEvents, CancelledAtAnyMoment) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& reactor) {
        std::mt19937 random(seed);
        auto keeper = SignalEvent::create(reactor, SIGUSR1);
        keeper->set_hidden(true);
        ASSERT_TRUE(keeper->start());
        for (int round = 0; round < 100; ++round) {
            auto waiter = spawn([&] { await(SignalEvent::create(reactor, SIGUSR1)); });
            for (unsigned i = random() % 4; i != 0; --i) {
                suspend();
            }
            if (random() % 2 == 0) {
                ASSERT_EQ(::raise(SIGUSR1), 0);
            }
            for (unsigned i = random() % 3; i != 0; --i) {
                suspend();
            }
            waiter.cancel("any moment");
            try {
                await(waiter);
            } catch (const Cancellation&) {}
        }
        ASSERT_TRUE(keeper->stop());
    });
}

// --- threads

TEST_P(SignalEvents, EveryLoopThatWaitsGetsIt) {
    constexpr int kLoops = 4;
    std::atomic<int> ready = 0;
    std::atomic<int> woken = 0;
    std::vector<std::thread> loops;
    for (int i = 0; i < kLoops; ++i) {
        loops.emplace_back([&] {
            RunOptions options;
            options.reactor = make_uv_reactor(GetParam());
            run(
                [&] {
                    auto signal = SignalEvent::create(Scheduler::current()->reactor(), SIGUSR1);
                    ASSERT_TRUE(signal->start());
                    ++ready;
                    await(signal);
                    ++woken;
                    ASSERT_TRUE(signal->stop());
                },
                std::move(options)
            );
        });
    }
    while (ready != kLoops) {
        std::this_thread::yield();
    }
    send(SIGUSR1);
    for (std::thread& loop : loops) {
        loop.join();
    }
    EXPECT_EQ(woken, kLoops);
}

TEST_P(SignalEvents, RaisedByManyThreadsNothingIsLost) {
    in_runtime([](IoReactor& reactor) {
        constexpr std::uint64_t kThreads = 4;
        constexpr std::uint64_t kEach = 200;
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        ASSERT_TRUE(signal->start());
        std::vector<std::thread> threads;
        for (std::uint64_t i = 0; i < kThreads; ++i) {
            threads.emplace_back([] {
                for (std::uint64_t k = 0; k < kEach; ++k) {
                    ::pthread_kill(::pthread_self(), SIGUSR1);
                }
            });
        }
        std::uint64_t sum = 0;
        while (sum < kThreads * kEach) {
            await(signal);
            sum += signal->count();
        }
        EXPECT_EQ(sum, kThreads * kEach);
        for (std::thread& thread : threads) {
            thread.join();
        }
        ASSERT_TRUE(signal->stop());
    });
}

TEST_P(SignalEvents, WatchesComeAndGoWhileSignalsArrive) {
    in_runtime([](IoReactor& reactor) {
        auto keeper = SignalEvent::create(reactor, SIGUSR1);  // the default action must not come back in between
        keeper->set_hidden(true);
        ASSERT_TRUE(keeper->start());
        std::atomic<bool> is_over = false;
        std::thread sender([&] {
            while (!is_over) {
                ::pthread_kill(::pthread_self(), SIGUSR1);
            }
        });
        std::vector<std::thread> loops;
        std::latch made(2);  // the thread sanitizer does not see libuv close what another thread then opens
        for (int i = 0; i < 2; ++i) {
            loops.emplace_back([&] {
                run([&] {
                    made.arrive_and_wait();
                    for (int round = 0; round < 200; ++round) {
                        await(SignalEvent::create(Scheduler::current()->reactor(), SIGUSR1));
                    }
                });
            });
        }
        for (std::thread& loop : loops) {
            loop.join();
        }
        is_over = true;
        sender.join();
        ASSERT_TRUE(keeper->stop());
    });
}

// --- forks

TEST_P(SignalEvents, ChildOfAForkHasNothingPending) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer does not follow a fork into coroutines";
#endif
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        ASSERT_TRUE(signal->start());
        ASSERT_EQ(::raise(SIGUSR1), 0);
        EXPECT_EQ(
            in_child([&] {
                if (code_of([&] { await(signal, 1ms); }) != ErrorCode::Timeout) {
                    return 1;
                }
                auto sender = spawn([] { send(SIGUSR1); });
                await(signal);
                return signal->count() == 1 ? 0 : 2;
            }),
            0
        );
        await(signal);  // the parent's own
        ASSERT_TRUE(signal->stop());
    });
}

TEST_P(SignalEvents, WhatOtherThreadsWaitForHasItsOldEffectInAChild) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer does not follow a fork into coroutines";
#endif
    std::atomic<bool> is_ready = false;
    std::thread other([&] {
        run([&] {
            auto signal = SignalEvent::create(Scheduler::current()->reactor(), SIGUSR2);
            ASSERT_TRUE(signal->start());
            is_ready = true;
            await(signal);
            ASSERT_TRUE(signal->stop());
        });
    });
    while (!is_ready) {
        std::this_thread::yield();
    }
    EXPECT_EQ(
        in_child([] {
            ::raise(SIGUSR2);
            return 1;
        }),
        -SIGUSR2
    );
    send(SIGUSR2);
    other.join();
}

// --- together with a host's handlers

siginfo_t last_info{};
std::atomic<int> info_calls = 0;
void info_handler(int /*number*/, siginfo_t* info, void* /*context*/) {
    last_info = *info;
    ++info_calls;
}

/// Sets an action and takes it back.
class HostAction {
public:
    HostAction(int number, void (*handler)(int)) : number_(number) {
        struct sigaction action {};
        action.sa_handler = handler;
        EXPECT_EQ(sigaction(number, &action, &before_), 0);
    }
    HostAction(int number, void (*handler)(int, siginfo_t*, void*)) : number_(number) {
        struct sigaction action {};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO;
        EXPECT_EQ(sigaction(number, &action, &before_), 0);
    }
    HostAction(const HostAction&) = delete;
    HostAction& operator=(const HostAction&) = delete;
    ~HostAction() { sigaction(number_, &before_, nullptr); }

private:
    int number_;
    struct sigaction before_ {};
};

class ChainAll {
public:
    ChainAll() {
        set_signal_chain([](int number) noexcept { return number != SIGUSR2; });
    }
    ChainAll(const ChainAll&) = delete;
    ChainAll& operator=(const ChainAll&) = delete;
    ~ChainAll() { set_signal_chain(nullptr); }
};

TEST_P(SignalEvents, AnEarlierHandlerIsCalledWhenTheHostWants) {
    const HostAction plain(SIGUSR1, &host_handler);
    const HostAction with_info(SIGHUP, &info_handler);
    const HostAction unwanted(SIGUSR2, &host_handler);
    const ChainAll chain;
    in_runtime([](IoReactor& reactor) {
        host_calls = 0;
        info_calls = 0;
        for (const int number : {SIGUSR1, SIGHUP, SIGUSR2}) {
            auto signal = SignalEvent::create(reactor, number);
            Counter counter;
            ASSERT_TRUE(signal->add_callback(counter).ok());
            ASSERT_TRUE(signal->start().ok());
            send(number);
            while (counter.calls == 0) {
                sleep_for(1ms);
            }
            ASSERT_TRUE(signal->stop().ok());
            signal->del_callback(counter);
        }
        EXPECT_EQ(host_calls, 1) << "of SIGUSR1, not of SIGUSR2";
        EXPECT_EQ(info_calls, 1);
        EXPECT_EQ(last_info.si_signo, SIGHUP);
        EXPECT_EQ(last_info.si_pid, ::getpid());
        send(SIGUSR1);
        EXPECT_EQ(host_calls, 2) << "it is back";
    });
}

TEST_P(SignalEvents, DefaultActionIsNoHandlerToCall) {
    const ChainAll chain;
    in_runtime([](IoReactor& reactor) {
        auto signal = SignalEvent::create(reactor, SIGTERM);
        ASSERT_TRUE(signal->start().ok());
        send(SIGTERM);  // we live
        ASSERT_TRUE(signal->stop().ok());
    });
}

TEST_P(SignalEvents, AreReclaimedFromALaterHandler) {
    const ChainAll chain;
    const HostAction keeper(SIGUSR1, SIG_IGN);
    in_runtime([](IoReactor& reactor) {
        host_calls = 0;
        auto signal = SignalEvent::create(reactor, SIGUSR1);
        Counter counter;
        ASSERT_TRUE(signal->add_callback(counter).ok());
        ASSERT_TRUE(signal->start().ok());
        reclaim_signal(SIGUSR1);  // it is ours: nothing happens
        reclaim_signal(SIGHUP);   // nobody watches it
        reclaim_signal(0);
        reclaim_signal(1000);
        struct sigaction action {};
        action.sa_handler = &host_handler;
        ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
        reclaim_signal(SIGUSR1);
        send(SIGUSR1);
        while (counter.calls == 0) {
            sleep_for(1ms);
        }
        EXPECT_EQ(host_calls, 1);
        ASSERT_TRUE(signal->stop().ok());
        signal->del_callback(counter);
        EXPECT_EQ(action_of(SIGUSR1).sa_handler, &host_handler) << "the later one, not the first";
    });
}

}  // namespace
}  // namespace trueasync::testing
