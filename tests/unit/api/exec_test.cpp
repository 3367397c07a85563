#include <trueasync/api/exec.hpp>

#include <support/children.hpp>

namespace trueasync::testing {
namespace {

using Execute = ChildTest;
IN_EVERY_CHILD_WAY(Execute);

TEST_P(Execute, ReturnsTheResult) {
    in_runtime([](IoReactor& /*reactor*/) {
        /// [execute]
        const ExecResult sorted = execute({.command = "sort", .input = "pear\napple\n"});
        EXPECT_EQ(sorted.lines.front(), "apple");
        EXPECT_EQ(shell_exec("echo hello"), "hello\n");
        /// [execute]
        EXPECT_TRUE(sorted.exit.is_success());
        EXPECT_EQ(execute({.command = "exit 3"}).exit.code, 3);
    });
}

TEST_P(Execute, ManyAtATime) {
    in_runtime([](IoReactor& /*reactor*/) {
        std::vector<Handle<std::string>> commands;
        for (int i = 0; i < 20; ++i) {
            commands.push_back(spawn([i] { return shell_exec("echo " + std::to_string(i)); }));
        }
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(await(commands[static_cast<std::size_t>(i)]), std::to_string(i) + "\n");
        }
    });
}

TEST_P(Execute, LimitsAndCancellationKill) {
    EXPECT_EQ(code_of([] { shell_exec("true"); }), ErrorCode::NotRunning);
    in_runtime([](IoReactor& reactor) {
        EXPECT_EQ(code_of([] { shell_exec("sleep 100", 5ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([] { execute({.command = "sleep 100", .timeout = 5ms}); }), ErrorCode::Timeout);
        auto worker = spawn([] { shell_exec("sleep 100"); });
        suspend();
        worker.cancel("enough");
        EXPECT_THROW(await(worker), Cancellation);
        while (reactor.active().hidden != 0) {  // until the last of them is collected
            sleep_for(50us);
        }
    });
}

}  // namespace
}  // namespace trueasync::testing
