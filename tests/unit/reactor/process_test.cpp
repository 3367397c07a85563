#include <trueasync/reactor/process.hpp>

#include <cerrno>
#include <latch>
#include <random>
#include <support/children.hpp>
#include <thread>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

using ProcessEvents = ChildTest;
IN_EVERY_CHILD_WAY(ProcessEvents);

class Listener final : public Callback {
public:
    explicit Listener(std::function<void()> action = [] {}) : action_(std::move(action)) {}
    void call(Event& /*event*/, void* result, Error* error) override {
        ++calls;
        exit = *static_cast<const ProcessExit*>(result);
        failure = SystemError::number_of(error);
        action_();
    }
    int calls = 0;
    ProcessExit exit;
    int failure = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> action_;
};

/// Waits, without collecting it, until a child has ended.
void let_end(pid_t pid) {
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
}

TEST_P(ProcessEvents, ExitCode) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exit 3");
        /// [await_process]
        auto process = ProcessEvent::create(reactor, pid);
        await(process);
        EXPECT_EQ(process->exit().code, 3);
        /// [await_process]
        EXPECT_EQ(process->exit().signal, 0);
        EXPECT_FALSE(process->exit().is_success());
        EXPECT_TRUE(process->is_finished());
        EXPECT_TRUE(process->is_closed());
        EXPECT_EQ(process->info(), "Process(pid=" + std::to_string(pid) + ", exit code 3)");
        await(process);  // who comes late gets it too
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST_P(ProcessEvents, TerminatingSignal) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exec sleep 100");
        auto process = ProcessEvent::create(reactor, pid);
        EXPECT_EQ(process->info(), "Process(pid=" + std::to_string(pid) + ")");
        auto killer = spawn([&] { ASSERT_TRUE(process->kill(SIGKILL)); });
        await(process);
        EXPECT_EQ(process->exit().signal, SIGKILL);
        EXPECT_EQ(to_string(process->exit()), "killed by SIGKILL");
        const Status late = process->kill(SIGTERM);
        EXPECT_EQ(SystemError::number_of(late.error()), ESRCH);
    });
}

TEST_P(ProcessEvents, EndedBeforeTheWait) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exit 7");
        let_end(pid);
        auto process = ProcessEvent::create(reactor, pid);
        await(process);
        EXPECT_EQ(process->exit().code, 7);
    });
}

TEST_P(ProcessEvents, SeveralWaitersAndOneWhoLeaves) {
    in_runtime([](IoReactor& reactor) {
        auto process = ProcessEvent::create(reactor, start_shell("exec sleep 100"));
        int woken = 0;
        std::vector<Handle<void>> waiters;
        for (int i = 0; i < 5; ++i) {
            waiters.push_back(spawn([&] {
                await(process);
                ++woken;
            }));
        }
        suspend();
        waiters[2].cancel("enough");
        EXPECT_THROW(await(waiters[2]), Cancellation);
        ASSERT_TRUE(process->kill(SIGTERM));
        for (std::size_t i : {0, 1, 3, 4}) {
            await(waiters[i]);
        }
        EXPECT_EQ(woken, 4);
    });
}

TEST_P(ProcessEvents, StoppedAndStartedAgain) {
    in_runtime([](IoReactor& reactor) {
        auto process = ProcessEvent::create(reactor, start_shell("exec sleep 100"));
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(code_of([&] { await(process, 100us); }), ErrorCode::Timeout);
            EXPECT_EQ(process->state(), EventState::Stopped);
        }
        ASSERT_TRUE(process->kill(SIGTERM));
        await(process);
        EXPECT_EQ(process->exit().signal, SIGTERM);
    });
}

// --- somebody else

TEST_P(ProcessEvents, CollectedByOthersIsAClearError) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exec sleep 100");
        auto process = ProcessEvent::create(reactor, pid);
        auto waiter = spawn([&] { await(process); });
        suspend();
        ASSERT_EQ(::kill(pid, SIGTERM), 0);
        ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
        EXPECT_EQ(code_of([&] { await(waiter); }), ErrorCode::System);
        ASSERT_NE(process->error(), nullptr);
        EXPECT_EQ(SystemError::number_of(process->error()), ECHILD);
        EXPECT_NE(process->error()->message().find("collected by somebody else"), std::string::npos);
    });
}

TEST_P(ProcessEvents, WhatIsNoChildIsRefused) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exit 0");
        ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
        for (const pid_t other : {pid, ::getpid(), ::getppid(), pid_t{1}}) {
            const Status status = ProcessEvent::create(reactor, other)->start();
            EXPECT_EQ(SystemError::number_of(status.error()), ECHILD) << other;
        }
        for (const pid_t wrong : {pid_t{0}, pid_t{-1}, -pid}) {
            const Status status = ProcessEvent::create(reactor, wrong)->start();
            EXPECT_EQ(SystemError::number_of(status.error()), EINVAL) << wrong;
        }
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST_P(ProcessEvents, WorksBesideAWaitForAnotherChild) {
    in_runtime([](IoReactor& reactor) {
        const pid_t theirs = start_shell("exit 4");
        auto ours = ProcessEvent::create(reactor, start_shell("exit 5"));
        int status = 0;
        ASSERT_EQ(::waitpid(theirs, &status, 0), theirs);
        EXPECT_EQ(WEXITSTATUS(status), 4);
        await(ours);
        EXPECT_EQ(ours->exit().code, 5);
    });
}

TEST_P(ProcessEvents, IgnoredSigchld) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGCHLD, &ignore, &before), 0);
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        ProcessOptions options = shell("read line; exit 3");
        options.in = Stdio::descriptor(*in);
        // The child must block on its input.
        ASSERT_EQ(::fcntl(*in, F_SETFL, 0), 0);
        SpawnedProcess child;
        ASSERT_TRUE(spawn_process(options, child));
        auto process = ProcessEvent::create(reactor, child.pid);
        auto waiter = spawn([&] { await(process); });
        suspend();
        put(*out, "\n");
        try {  // the kernel collects it, unless SIGCHLD is caught to hear of it
            await(waiter);
            EXPECT_EQ(process->exit().code, 3);
        } catch (const AsyncError& error) {
            EXPECT_EQ(SystemError::number_of(process->error()), ECHILD);
        }
    });
    ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
}

// --- storms

TEST_P(ProcessEvents, TwoHundredChildrenAtOnce) {
#if defined(TA_TSAN)
    if (!GetParam().has_pidfd) {
        GTEST_SKIP() << "times out with the thread sanitizer, which seems to lose signals during a switch of fibers";
    }
#endif
    in_runtime([](IoReactor& reactor) {
        constexpr int kChildren = 200;
        auto [gate_in, gate_out] = make_pipe();
        ASSERT_EQ(::fcntl(*gate_in, F_SETFL, 0), 0);
        ASSERT_EQ(::fcntl(*gate_in, F_SETFD, FD_CLOEXEC), 0);
        ASSERT_EQ(::fcntl(*gate_out, F_SETFD, FD_CLOEXEC), 0);
        int right = 0;
        std::vector<Handle<void>> waiters;
        for (int i = 0; i < kChildren; ++i) {
            ProcessOptions options = shell("read line; exit " + std::to_string(i));
            options.in = Stdio::descriptor(*gate_in);
            SpawnedProcess child;
            ASSERT_TRUE(spawn_process(options, child));
            waiters.push_back(spawn([&, i, pid = child.pid] {
                auto process = ProcessEvent::create(reactor, pid);
                await(process);
                right += process->exit().code == i % 256 ? 1 : 0;
            }));
        }
        suspend();
        gate_out.close();  // all of them see the end at once
        for (auto& waiter : waiters) {
            await(waiter);
        }
        EXPECT_EQ(right, kChildren);
    });
}

TEST_P(ProcessEvents, CancelledAtAnyMoment) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& reactor) {
        std::mt19937 random(seed);
        for (int round = 0; round < 25; ++round) {
            auto process = ProcessEvent::create(reactor, start_shell("exit 1"));
            auto waiter = spawn([&] { await(process); });
            for (unsigned i = random() % 4; i != 0; --i) {
                suspend();
            }
            if (random() % 2 == 0) {
                sleep_for(std::chrono::microseconds(random() % 1500));
            }
            waiter.cancel("any moment");
            try {
                await(waiter);
            } catch (const Cancellation&) {}
            await(process);
            EXPECT_EQ(process->exit().code, 1);
        }
    });
}

// --- life

TEST_P(ProcessEvents, DroppedInItsOwnCallback) {
    in_runtime([](IoReactor& reactor) {
        auto process = ProcessEvent::create(reactor, start_shell("exit 2"));
        Listener listener([&] { process.reset(); });
        ASSERT_TRUE(process->add_callback(listener));
        ASSERT_TRUE(process->start());
        while (listener.calls == 0) {
            sleep_for(50us);
        }
        EXPECT_EQ(listener.exit.code, 2);
    });
}

TEST_P(ProcessEvents, DroppedWhileActiveLeavesTheChildAlone) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exec sleep 100");
        auto process = ProcessEvent::create(reactor, pid);
        ASSERT_TRUE(process->start());
        process.reset();
        ASSERT_EQ(::kill(pid, SIGTERM), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(pid, &status, 0), pid);
        EXPECT_EQ(WTERMSIG(status), SIGTERM);
    });
}

TEST_P(ProcessEvents, AbandonedIsCollectedByTheLoop) {
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exec sleep 100");
        ProcessEvent::create(reactor, pid)->abandon();
        EXPECT_EQ(reactor.active().visible, 0U);
        ASSERT_EQ(::kill(pid, SIGTERM), 0);
        while (::kill(pid, 0) == 0) {
            sleep_for(50us);
        }
        EXPECT_EQ(errno, ESRCH);
        EXPECT_EQ(detail::orphan_count(), 0U);
    });
}

TEST_P(ProcessEvents, AbandonedBeyondTheRunIsCollectedLater) {
    pid_t pid = 0;
    in_runtime([&](IoReactor& reactor) {
        pid = start_shell("exec sleep 100");
        ProcessEvent::create(reactor, pid)->abandon();
    });
    EXPECT_EQ(detail::orphan_count(), 1U);
    ASSERT_EQ(::kill(pid, SIGTERM), 0);
    let_end(pid);
    in_runtime([](IoReactor& reactor) { await(ProcessEvent::create(reactor, start_shell("exit 0"))); });
    EXPECT_EQ(detail::orphan_count(), 0U);
}

TEST_P(ProcessEvents, OutlivesItsReactor) {
    Ref<ProcessEvent> process;
    pid_t pid = 0;
    in_runtime([&](IoReactor& reactor) {
        pid = start_shell("exec sleep 100");
        process = ProcessEvent::create(reactor, pid);
        process->set_hidden(true);
        ASSERT_TRUE(process->start());
    });
    EXPECT_FALSE(process->start().ok());
    ASSERT_TRUE(process->kill(SIGTERM));
    let_end(pid);
    process->abandon();
    EXPECT_EQ(detail::orphan_count(), 0U);
}

TEST_P(ProcessEvents, WithoutADescriptorForIt) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    in_runtime([](IoReactor& reactor) {
        const pid_t pid = start_shell("exit 6");
        Ref<ProcessEvent> process;
        {
            const DescriptorLimit limit(0);
            process = ProcessEvent::create(reactor, pid);  // no pidfd: SIGCHLD does it
        }
        await(process);
        EXPECT_EQ(process->exit().code, 6);
    });
}

TEST_P(ProcessEvents, InManyThreads) {
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    // The thread sanitizer does not see libuv close what another thread then opens: all begin and end together.
    std::latch made(3);
    std::latch done(3);
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            RunOptions options;
            options.reactor = make_uv_reactor(GetParam().backend);
            made.arrive_and_wait();
            run(
                [&] {
                    for (int k = 0; k < 5; ++k) {
                        auto process = ProcessEvent::create(
                            Scheduler::current()->reactor(), start_shell("exit " + std::to_string(10 * i + k))
                        );
                        await(process);
                        right += process->exit().code == 10 * i + k ? 1 : 0;
                    }
                    done.arrive_and_wait();
                },
                std::move(options)
            );
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(right, 15);
}

}  // namespace
}  // namespace trueasync::testing
