#include <trueasync/api/process.hpp>

#include <cerrno>
#include <random>
#include <support/children.hpp>

namespace trueasync::testing {
namespace {

using Processes = ChildTest;
IN_EVERY_CHILD_WAY(Processes);

ProcessOptions piped(ProcessOptions options) {
    options.in = options.out = Stdio::pipe();
    return options;
}

TEST_P(Processes, TalkToAChild) {
    in_runtime([](IoReactor& /*reactor*/) {
        /// [process]
        Process process = Process::start({.argv = {"tr", "a-z", "A-Z"}, .in = Stdio::pipe(), .out = Stdio::pipe()});
        process.in().write("hello");
        process.in().close();
        EXPECT_EQ(process.out().read_all(), "HELLO");  // the other coroutines run meanwhile
        EXPECT_EQ(process.wait().code, 0);
        /// [process]
        EXPECT_EQ(process.wait(), ProcessExit{});  // again, without suspending
    });
}

TEST_P(Processes, MoreThanAPipeHolds) {
    in_runtime([](IoReactor& /*reactor*/) {
        Process cat = Process::start(piped({.argv = {"/bin/cat"}}));
        std::string sent(3'000'000, '\0');
        std::mt19937 random(1);
        for (char& byte : sent) {
            byte = static_cast<char>(random());
        }
        auto writer = spawn([&] {
            cat.in().write(sent);
            cat.in().close();
        });
        EXPECT_TRUE(cat.out().read_all() == sent);
        await(writer);
        EXPECT_TRUE(cat.wait().is_success());
    });
}

TEST_P(Processes, AnErrorStreamOfItsOwn) {
    in_runtime([](IoReactor& /*reactor*/) {
        ProcessOptions options = shell("echo out; echo error >&2; kill -9 $$");
        options.out = options.err = Stdio::pipe();
        Process process = Process::start(options);
        EXPECT_EQ(process.out().read_all(), "out\n");
        EXPECT_EQ(process.err().read_all(), "error\n");
        EXPECT_EQ(process.wait().signal, SIGKILL);
        EXPECT_FALSE(process.in().is_open());
    });
}

TEST_P(Processes, ChildThatClosesItsOutputButLives) {
    in_runtime([](IoReactor& /*reactor*/) {
        Process process = Process::start(piped(shell("exec >&-; read line; exit 9")));
        EXPECT_EQ(process.out().read_all(), "");
        EXPECT_EQ(code_of([&] { process.wait(1ms); }), ErrorCode::Timeout);
        process.in().write("go\n");
        EXPECT_EQ(process.wait().code, 9);
    });
}

TEST_P(Processes, NobodyReadsItsInput) {
    in_runtime([](IoReactor& /*reactor*/) {
        Process process = Process::start(piped(shell("exit 0")));
        process.wait();
        try {
            process.in().write("lost");  // no SIGPIPE, which would end this test
            FAIL();
        } catch (const IoError& error) {
            EXPECT_EQ(error.number(), EPIPE);
            EXPECT_NE(std::string(error.what()).find(": EPIPE (broken pipe)"), std::string::npos) << error.what();
        }
    });
}

TEST_P(Processes, LimitsOnReadAndWrite) {
    in_runtime([](IoReactor& reactor) {
        Process process = Process::start(piped(shell("exec sleep 100")));
        char byte = 0;
        EXPECT_EQ(code_of([&] { process.out().read({&byte, 1}, 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { process.out().read_all(SIZE_MAX, 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { process.out().read({&byte, 1}, timeout(1ms)); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { process.in().write(std::string(1'000'000, 'x'), 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { process.wait(timeout(1ms)); }), ErrorCode::Timeout);
        const Instant begin = reactor.now();
        EXPECT_EQ(code_of([&] { process.out().read_all(SIZE_MAX, 2ms); }), ErrorCode::Timeout);
        EXPECT_GE(reactor.now() - begin, 2ms);
        process.kill(SIGKILL);
        process.wait();
    });
}

TEST_P(Processes, ClosingAPipeWakesItsReader) {
    in_runtime([](IoReactor& /*reactor*/) {
        Process process = Process::start(piped({.argv = {"/bin/cat"}}));
        auto reader = spawn([&] {
            char byte = 0;
            process.out().read({&byte, 1});
        });
        suspend();
        process.out().close();
        EXPECT_EQ(code_of([&] { await(reader); }), ErrorCode::System);
        process.in().close();
        process.wait();
    });
}

TEST_P(Processes, AlteredOptionsAndErrors) {
    EXPECT_EQ(code_of([] { Process::start({.argv = {"/bin/true"}}); }), ErrorCode::NotRunning);
    in_runtime([](IoReactor& /*reactor*/) {
        try {
            Process::start({.argv = {"/no/such"}});
            FAIL();
        } catch (const AsyncError& error) {
            EXPECT_STREQ(error.what(), "spawn /no/such: ENOENT (no such file or directory)");
        }
        Process process = Process::start({.argv = {"/bin/true"}});
        process.wait();
        EXPECT_EQ(code_of([&] { process.kill(SIGTERM); }), ErrorCode::System);
    });
}

TEST_P(Processes, DroppedChildrenLeaveNoZombies) {
    in_runtime([](IoReactor& reactor) {
        pid_t pid = 0;
        {
            Process process = Process::start(piped({.argv = {"/bin/cat"}}));
            pid = process.pid();
        }  // its input ends, so it will
        EXPECT_EQ(reactor.active().visible, 0U);
        while (::kill(pid, 0) == 0) {
            sleep_for(50us);
        }
    });
}

TEST_P(Processes, Moved) {
    in_runtime([](IoReactor& /*reactor*/) {
        Process first = Process::start(piped({.argv = {"/bin/cat"}}));
        Process second = Process::start(piped({.argv = {"/bin/cat"}}));
        const pid_t dropped = first.pid();
        first = std::move(second);
        first.in().write("x");
        first.in().close();
        EXPECT_EQ(first.out().read_all(), "x");
        first.wait();
        while (::kill(dropped, 0) == 0) {
            sleep_for(50us);
        }
    });
}

TEST_P(Processes, CancelledAtAnyMoment) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& /*reactor*/) {
        std::mt19937 random(seed);
        for (int round = 0; round < 20; ++round) {
            pid_t pid = 0;
            auto worker = spawn([&] {
                Process process = Process::start(piped({.argv = {"/bin/cat"}}));
                pid = process.pid();
                auto writer = spawn([&] {
                    process.in().write(std::string(200'000, 'x'));
                    process.in().close();
                });
                try {
                    EXPECT_EQ(process.out().read_all().size(), 200'000U);
                    process.wait();
                } catch (...) {
                    writer.cancel("with its reader");
                    protect([&] {
                        try {
                            await(writer);
                        } catch (const Cancellation&) {}
                    });
                    throw;
                }
                await(writer);
            });
            for (unsigned i = random() % 30; i != 0; --i) {
                suspend();
            }
            if (random() % 3 != 0) {
                sleep_for(std::chrono::microseconds(random() % 2000));
            }
            worker.cancel("any moment");
            try {
                await(worker);
            } catch (const Cancellation&) {}
            while (pid != 0 && ::kill(pid, 0) == 0) {
                sleep_for(50us);
            }
        }
    });
}

}  // namespace
}  // namespace trueasync::testing
