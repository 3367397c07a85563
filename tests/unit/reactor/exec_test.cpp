#include <trueasync/reactor/exec.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <support/children.hpp>
#include <support/forks.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

using ExecEvents = ChildTest;
IN_EVERY_CHILD_WAY(ExecEvents);

ExecOptions command(ExecMode mode, std::string text) {
    ExecOptions options{.mode = mode, .command = std::move(text)};
    options.in = Stdio::null();
    return options;
}

ExecResult run_command(Reactor& reactor, ExecOptions options) {
    auto exec = ExecEvent::create(reactor, std::move(options));
    await(exec);
    return exec->result();
}

TEST_P(ExecEvents, LinesWithoutWhiteSpaceAtTheirEnds) {
    in_runtime([](IoReactor& reactor) {
        /// [await_exec]
        auto exec =
            ExecEvent::create(reactor, {.mode = ExecMode::Exec, .command = "printf 'one \\n\\ttwo\\t\\r\\nthree'"});
        await(exec);
        const std::vector<std::string> expected{"one", "\ttwo", "three"};
        EXPECT_EQ(exec->result().lines, expected);
        EXPECT_EQ(exec->result().last_line, "three");
        EXPECT_EQ(exec->result().exit.code, 0);
        /// [await_exec]
        EXPECT_EQ(exec->info(), "Exec(exec, printf 'one \\n\\ttwo\\t\\r\\nthree')");
        await(exec);  // who comes late gets it too
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST_P(ExecEvents, EmptyLinesAndNoOutput) {
    in_runtime([](IoReactor& reactor) {
        const ExecResult empty = run_command(reactor, command(ExecMode::Exec, "true"));
        EXPECT_TRUE(empty.lines.empty());
        EXPECT_EQ(empty.last_line, "");
        const ExecResult blank = run_command(reactor, command(ExecMode::Exec, "printf 'a\\n\\n'"));
        const std::vector<std::string> expected{"a", ""};
        EXPECT_EQ(blank.lines, expected);
        EXPECT_EQ(blank.last_line, "");
    });
}

TEST_P(ExecEvents, WholeOutput) {
    in_runtime([](IoReactor& reactor) {
        const ExecResult result = run_command(reactor, command(ExecMode::ShellExec, "printf ' a \\n b \\n'; exit 3"));
        EXPECT_EQ(result.output, " a \n b \n");
        EXPECT_EQ(result.exit.code, 3);
    });
}

TEST_P(ExecEvents, PassedOnWithTheLastLine) {
    in_runtime([](IoReactor& reactor) {
        std::string passed;
        ExecOptions options = command(ExecMode::System, "printf 'one\\ntwo \\n'");
        options.sink = [&](std::string_view bytes) { passed += bytes; };
        const ExecResult result = run_command(reactor, std::move(options));
        EXPECT_EQ(passed, "one\ntwo \n");
        EXPECT_EQ(result.last_line, "two");
        EXPECT_TRUE(result.lines.empty());
    });
}

TEST_P(ExecEvents, PassedOnRaw) {
    in_runtime([](IoReactor& reactor) {
        std::string passed;
        ExecOptions options = command(ExecMode::Passthru, "printf 'a\\0b\\n'");
        options.sink = [&](std::string_view bytes) { passed += bytes; };
        run_command(reactor, std::move(options));
        EXPECT_EQ(passed, std::string("a\0b\n", 4));
    });
}

TEST_P(ExecEvents, OurOwnStandardOutput) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const Fd kept(::dup(1));
        ASSERT_EQ(::dup2(*out, 1), 1);
        run_command(reactor, command(ExecMode::System, "echo system"));
        run_command(reactor, command(ExecMode::Passthru, "echo passthru"));
        ASSERT_EQ(::dup2(*kept, 1), 1);
        EXPECT_EQ(take(*in), "system\npassthru\n");
    });
}

TEST_P(ExecEvents, InputErrorsEnvironmentAndDirectory) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "cat; echo $COLOUR; pwd; echo oops >&2");
        options.input = "from us\n";
        options.err = Stdio::pipe();
        options.environment = {{"COLOUR=green"}};
        options.working_directory = "/usr";
        const ExecResult result = run_command(reactor, std::move(options));
        EXPECT_EQ(result.output, "from us\ngreen\n/usr\n");
        EXPECT_EQ(result.errors, "oops\n");
    });
}

TEST_P(ExecEvents, ErrorsAmongTheOutput) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "echo a; echo b >&2; echo c");
        options.err = Stdio::to_output();
        EXPECT_EQ(run_command(reactor, std::move(options)).output, "a\nb\nc\n");
    });
}

TEST_P(ExecEvents, MoreThanAnyBufferBothWays) {
    in_runtime([](IoReactor& reactor) {
        std::string input(5'000'000, '\0');
        std::mt19937 random(1);
        for (char& byte : input) {
            byte = static_cast<char>(random());
        }
        ExecOptions options = command(ExecMode::ShellExec, "cat");
        options.input = input;
        EXPECT_TRUE(run_command(reactor, std::move(options)).output == input);
        options = command(ExecMode::Exec, "seq 200000");
        const ExecResult lines = run_command(reactor, std::move(options));
        ASSERT_EQ(lines.lines.size(), 200'000U);
        EXPECT_EQ(lines.lines[123'455], "123456");
        EXPECT_EQ(lines.last_line, "200000");
    });
}

TEST_P(ExecEvents, InputThatNobodyReads) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "exec <&-; echo done");
        options.input = std::string(1'000'000, 'x');
        EXPECT_EQ(run_command(reactor, options).output, "done\n");
        options.input = "";
        options.command = "cat; echo end";
        EXPECT_EQ(run_command(reactor, options).output, "end\n");
    });
}

TEST_P(ExecEvents, NotFoundIsTheShellsAffair) {
    SKIP_ON_VALGRIND("reports no failure of a child before its exec");
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "no-such-command-anywhere");
        options.err = Stdio::pipe();
        const ExecResult result = run_command(reactor, options);
        EXPECT_EQ(result.exit.code, 127);
        EXPECT_NE(result.errors.find("not found"), std::string::npos);
        options.working_directory = "/no/such";
        EXPECT_EQ(code_of([&] { run_command(reactor, options); }), ErrorCode::System);
    });
}

TEST_P(ExecEvents, TerminatingSignal) {
    in_runtime([](IoReactor& reactor) {
        const ExecResult result = run_command(reactor, command(ExecMode::ShellExec, "echo before; kill -TERM $$"));
        EXPECT_EQ(result.exit.signal, SIGTERM);
        EXPECT_EQ(result.output, "before\n");
    });
}

TEST_P(ExecEvents, ClosesItsOutputButLives) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "echo a; exec >&-; sleep 0.02; exit 5");
        const ExecResult result = run_command(reactor, std::move(options));
        EXPECT_EQ(result.output, "a\n");
        EXPECT_EQ(result.exit.code, 5);
    });
}

TEST_P(ExecEvents, OutputOfAChildThatTheShellLeftBehind) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "(sleep 0.02; echo late) & echo early");
        EXPECT_EQ(run_command(reactor, std::move(options)).output, "early\nlate\n");
    });
}

// --- time

TEST_P(ExecEvents, TimeoutKillsTheWholeGroup) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "echo $$; sleep 100 & echo $!; wait");
        options.timeout = 50ms;
        auto exec = ExecEvent::create(reactor, std::move(options));
        EXPECT_EQ(code_of([&] { await(exec); }), ErrorCode::Timeout);
        EXPECT_TRUE(exec->result().is_timed_out);
        EXPECT_EQ(exec->result().exit.signal, SIGKILL);
        EXPECT_NE(exec->error()->message().find("was killed after 50 milliseconds"), std::string::npos);
        std::istringstream pids(exec->result().output);
        pid_t shell_pid = 0;
        pid_t sleeper = 0;
        pids >> shell_pid >> sleeper;
        EXPECT_EQ(shell_pid, exec->pid());
        ASSERT_GT(sleeper, 0);
        // Init collects the sleeper; until then a zombie of it may be left.
        for (;;) {
            std::string state =
                run_command(
                    reactor,
                    command(ExecMode::ShellExec, "cut -d' ' -f3 /proc/" + std::to_string(sleeper) + "/stat 2>/dev/null")
                )
                    .output;
            if (state.empty() || state[0] == 'Z') {
                break;
            }
        }
    });
}

TEST_P(ExecEvents, TimeoutDespiteSomebodyWhoKeepsThePipeOpen) {
    if (::access("/usr/bin/setsid", X_OK) != 0) {
        GTEST_SKIP() << "there is no setsid";
    }
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::Exec, "setsid sh -c 'echo $$; exec sleep 100' & echo out; wait");
        options.timeout = 100ms;
        auto exec = ExecEvent::create(reactor, std::move(options));
        EXPECT_EQ(code_of([&] { await(exec); }), ErrorCode::Timeout);
        for (const std::string& line : exec->result().lines) {
            if (line != "out") {
                ::kill(std::stoi(line), SIGKILL);
            }
        }
    });
}

TEST_P(ExecEvents, InTime) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::ShellExec, "echo quick");
        options.timeout = 9s;
        EXPECT_EQ(run_command(reactor, std::move(options)).output, "quick\n");
    });
}

// --- leaving

TEST_P(ExecEvents, DroppedIsKilled) {
    in_runtime([](IoReactor& reactor) {
        auto exec = ExecEvent::create(reactor, command(ExecMode::ShellExec, "sleep 100"));
        ASSERT_TRUE(exec->start());
        const pid_t pid = exec->pid();
        exec.reset();
        while (::kill(pid, 0) == 0) {
            sleep_for(50us);
        }
    });
}

TEST_P(ExecEvents, StoppedGoesOnLater) {
    const std::string gate = ::testing::TempDir() + "trueasync-gate-" + std::to_string(::getpid());
    ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
    in_runtime([&gate](IoReactor& reactor) {
        auto exec = ExecEvent::create(
            reactor, command(ExecMode::ShellExec, "read line < " + gate + "; seq 100000 | tail -n 1; exit 2")
        );
        EXPECT_EQ(code_of([&] { await(exec, 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { await(exec, 1ms); }), ErrorCode::Timeout);
        std::ofstream(gate) << "go\n";
        await(exec);
        EXPECT_EQ(exec->result().output, "100000\n");
        EXPECT_EQ(exec->result().exit.code, 2);
    });
    ::unlink(gate.c_str());
}

TEST_P(ExecEvents, BeyondTheRunIsKilled) {
    Ref<ExecEvent> exec;
    in_runtime([&](IoReactor& reactor) {
        exec = ExecEvent::create(reactor, command(ExecMode::ShellExec, "sleep 100"));
        exec->set_hidden(true);
        ASSERT_TRUE(exec->start());
    });
    EXPECT_TRUE(exec->is_finished());
    while (detail::orphan_count() != 0) {
        detail::collect_orphans();
    }
}

TEST_P(ExecEvents, DroppedInItsOwnCallback) {
    class Dropper final : public Callback {
    public:
        explicit Dropper(Ref<ExecEvent>& exec) : exec_(exec) {}
        void call(Event& /*event*/, void* result, Error* /*error*/) override {
            code = static_cast<const ExecResult*>(result)->exit.code;
            exec_.reset();
        }
        int code = -1;

    private:
        void destroy() noexcept override {}
        Ref<ExecEvent>& exec_;
    };
    in_runtime([](IoReactor& reactor) {
        auto exec = ExecEvent::create(reactor, command(ExecMode::ShellExec, "exit 4"));
        Dropper dropper(exec);
        ASSERT_TRUE(exec->add_callback(dropper));
        ASSERT_TRUE(exec->start());
        while (dropper.code < 0) {
            sleep_for(50us);
        }
        EXPECT_EQ(dropper.code, 4);
    });
}

TEST_P(ExecEvents, DroppedByItsOwnSink) {
    in_runtime([](IoReactor& reactor) {
        Ref<ExecEvent> exec;
        ExecOptions options = command(ExecMode::System, "echo a; sleep 100");
        int calls = 0;
        options.sink = [&](std::string_view) {
            ++calls;
            exec.reset();
        };
        exec = ExecEvent::create(reactor, std::move(options));
        ASSERT_TRUE(exec->start());
        const pid_t pid = exec->pid();
        while (::kill(pid, 0) == 0) {
            sleep_for(50us);
        }
        EXPECT_EQ(calls, 1);
    });
}

TEST_P(ExecEvents, SinkThatThrows) {
    in_runtime([](IoReactor& reactor) {
        ExecOptions options = command(ExecMode::Passthru, "echo a; sleep 100");
        options.sink = [](std::string_view) { throw std::runtime_error("full"); };
        EXPECT_THROW(run_command(reactor, std::move(options)), std::runtime_error);
    });
}

TEST_P(ExecEvents, OutOfDescriptorsAtEveryStep) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    in_runtime([](IoReactor& reactor) {
        int refused = 0;
        int done = 0;
        for (unsigned spare = 0; spare < 10; ++spare) {
            ExecOptions options = command(ExecMode::ShellExec, "cat");
            options.input = "x";
            options.err = Stdio::pipe();
            auto exec = ExecEvent::create(reactor, std::move(options));
            Status status;
            {
                const DescriptorLimit limit(spare);
                status = exec->start();
            }
            if (status.ok()) {
                await(exec);
                EXPECT_EQ(exec->result().output, "x");
                ++done;
            } else {
                EXPECT_EQ(SystemError::number_of(status.error()), EMFILE);
                ++refused;
            }
        }
        EXPECT_EQ(refused, 6);
        EXPECT_EQ(done, 4);
        EXPECT_EQ(reactor.active().hidden, 0U);
    });
}

TEST_P(ExecEvents, CancelledAtAnyMoment) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& reactor) {
        std::mt19937 random(seed);
        std::vector<pid_t> pids;
        for (int round = 0; round < 20; ++round) {
            auto worker = spawn([&] {
                ExecOptions options = command(ExecMode::ShellExec, "cat; echo x; exit 1");
                options.input = std::string(100'000, 'i');
                auto exec = ExecEvent::create(reactor, std::move(options));
                ASSERT_TRUE(exec->start());
                pids.push_back(exec->pid());
                await(exec);
                EXPECT_EQ(exec->result().output.size(), 100'002U);
            });
            for (unsigned i = random() % 20; i != 0; --i) {
                suspend();
            }
            if (random() % 3 != 0) {
                sleep_for(std::chrono::microseconds(random() % 4000));
            }
            worker.cancel("any moment");
            try {
                await(worker);
            } catch (const Cancellation&) {}
        }
        for (const pid_t pid : pids) {
            while (::kill(pid, 0) == 0) {
                sleep_for(50us);
            }
        }
    });
}

TEST_P(ExecEvents, ChildOfAForkLeavesTheCommandToItsParent) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([](IoReactor& reactor) {
        auto [from, to] = make_pipe();
        ASSERT_EQ(::fcntl(*from, F_SETFL, 0), 0);  // the shell wants to wait
        ExecOptions options = command(ExecMode::ShellExec, "echo first; read line; echo $line");
        options.in = Stdio::descriptor(*from);
        auto exec = ExecEvent::create(reactor, options);
        auto waiter = spawn([&] { await(exec); });
        suspend();
        EXPECT_EQ(in_child([&] { return code_of([&] { await(waiter); }) == ErrorCode::System ? 0 : 1; }), 0);
        EXPECT_EQ(
            in_child([&] {
                static_cast<void>(reactor.close());
                return 0;
            }),
            0
        );
        put(*to, "second\n");
        await(waiter);
        EXPECT_EQ(exec->result().output, "first\nsecond\n");
        EXPECT_EQ(exec->result().exit.signal, 0);
    });
}

}  // namespace
}  // namespace trueasync::testing
