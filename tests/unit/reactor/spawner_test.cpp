#include <trueasync/reactor/spawner.hpp>

#include <cerrno>
#include <sstream>
#include <support/children.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

class Spawner : public ::testing::Test {
protected:
    void SetUp() override { before_ = open_descriptors(); }
    void TearDown() override {
        EXPECT_EQ(open_descriptors(), before_);
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    }

    /// Starts it, reads everything it writes, and collects it. Blocking: no loop is needed here.
    static std::string output_of(ProcessOptions options, int expected_code = 0) {
        if (options.out.kind() == Stdio::Kind::Inherit) {
            options.out = Stdio::pipe();
        }
        SpawnedProcess process;
        const Status status = spawn_process(options, process);
        EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error()->message());
        if (!status.ok()) {
            return {};
        }
        const Fd in(process.in);
        const Fd out(process.out);
        const Fd err(process.err);
        std::string all;
        for (const int fd : {*out, *err}) {
            if (fd >= 0) {
                EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
                EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
                EXPECT_EQ(::fcntl(fd, F_SETFL, 0), 0);
                all += take(fd);
            }
        }
        int result = 0;
        EXPECT_EQ(::waitpid(process.pid, &result, 0), process.pid);
        EXPECT_EQ(WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result), expected_code);
        return all;
    }

    static std::string refusal_of(const ProcessOptions& options) {
        SpawnedProcess process;
        const Status status = spawn_process(options, process);
        EXPECT_FALSE(status.ok());
        EXPECT_EQ(process.pid, -1);
        return status.ok() ? "" : status.error()->message();
    }

private:
    std::size_t before_ = 0;
};

TEST_F(Spawner, OutputThroughAPipe) {
    EXPECT_EQ(output_of({.argv = {"/bin/echo", "a b", "c"}}), "a b c\n");
    EXPECT_EQ(output_of({.argv = {"echo", "found in PATH"}}), "found in PATH\n");
    EXPECT_EQ(output_of(shell("echo x; exit 4"), 4), "x\n");
}

TEST_F(Spawner, Environment) {
    ProcessOptions options = shell("echo $COLOUR");
    options.environment = {{"COLOUR=green"}};
    EXPECT_EQ(output_of(options), "green\n");
    ::setenv("TRUEASYNC_TEST", "inherited", 1);
    EXPECT_EQ(output_of(shell("echo $TRUEASYNC_TEST")), "inherited\n");
    ::unsetenv("TRUEASYNC_TEST");
    EXPECT_EQ(output_of({.argv = {"/usr/bin/env"}, .environment = std::vector<std::string>{}}), "");
}

TEST_F(Spawner, WorkingDirectory) {
    ProcessOptions options{.argv = {"/bin/pwd"}};
    options.working_directory = "/usr";
    EXPECT_EQ(output_of(options), "/usr\n");
}

TEST_F(Spawner, EveryKindOfStream) {
    ProcessOptions options = shell("cat; echo error >&2; echo out");
    options.in = Stdio::null();
    options.err = Stdio::to_output();
    EXPECT_EQ(output_of(options), "error\nout\n");
    options.err = Stdio::pipe();
    EXPECT_EQ(output_of(options), "out\nerror\n");
    options.err = Stdio::null();
    EXPECT_EQ(output_of(options), "out\n");
    const Fd file = make_file("from a file\n");
    options = shell("cat; echo written >&0");
    options.in = Stdio::descriptor(*file);
    EXPECT_EQ(output_of(options), "from a file\n");
    options = shell("echo nowhere");
    options.out = Stdio::null();
    EXPECT_EQ(output_of(options), "");
}

TEST_F(Spawner, OutputAndErrorExchanged) {
    // The child's 1 is our 2 and its 2 is our 1: neither may be overwritten before it is used.
    auto [one_in, one_out] = make_pipe();
    auto [two_in, two_out] = make_pipe();
    const Fd kept_one(::dup(1));
    const Fd kept_two(::dup(2));
    ASSERT_EQ(::dup2(*one_out, 1), 1);
    ASSERT_EQ(::dup2(*two_out, 2), 2);
    ProcessOptions options = shell("echo out; echo error >&2");
    options.out = Stdio::descriptor(2);
    options.err = Stdio::descriptor(1);
    SpawnedProcess process;
    const Status status = spawn_process(options, process);
    ::dup2(*kept_one, 1);
    ::dup2(*kept_two, 2);
    ASSERT_TRUE(status.ok());
    ASSERT_EQ(::waitpid(process.pid, nullptr, 0), process.pid);
    EXPECT_EQ(take(*one_in), "error\n");
    EXPECT_EQ(take(*two_in), "out\n");
}

TEST_F(Spawner, WithoutStandardStreamsOfOurOwn) {
    const Fd kept(::dup(0));
    ::close(0);
    ProcessOptions options = shell("cat <&0; echo done");
    options.in = Stdio::null();
    const std::string output = output_of(options);  // a pipe end has the number 0
    ::dup2(*kept, 0);
    EXPECT_EQ(output, "done\n");
}

TEST_F(Spawner, SignalsAreAsInAFreshProgram) {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction old {};
    ASSERT_EQ(::sigaction(SIGPIPE, &ignore, &old), 0);
    std::istringstream output(output_of(shell("sed -En 's/^Sig(Blk|Ign):/0x/p' /proc/self/status | tr -d '\\t'")));
    ::sigaction(SIGPIPE, &old, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::uint64_t mask_of_blocked = 1;
    std::uint64_t mask_of_ignored = 1;
    output >> std::hex >> mask_of_blocked >> mask_of_ignored;
    EXPECT_EQ(mask_of_blocked, 0U);
    EXPECT_EQ(mask_of_ignored & 0x7fffffff, 0U);  // the two above are the C library's own
}

TEST_F(Spawner, OwnGroup) {
    ProcessOptions options = shell("test $(ps -o pgid= -p $$) -eq $$ && echo leader");
    options.has_own_group = true;
    if (::access("/bin/ps", X_OK) != 0) {
        options.argv[2] = "read -r a b c d pgrp rest < /proc/self/stat; test $pgrp -eq $$ && echo leader";
    }
    EXPECT_EQ(output_of(options), "leader\n");
}

TEST_F(Spawner, NoDescriptorLeaks) {
    auto [in, out] = make_pipe();
    ASSERT_EQ(::fcntl(*in, F_SETFD, FD_CLOEXEC), 0);
    ASSERT_EQ(::fcntl(*out, F_SETFD, FD_CLOEXEC), 0);
    const std::size_t inherited = std::stoul(output_of(shell("ls /proc/self/fd | wc -l")));
    ProcessOptions options = shell("ls /proc/self/fd | wc -l");
    options.in = Stdio::pipe();
    options.err = Stdio::pipe();
    EXPECT_EQ(std::stoul(output_of(options)), inherited);  // the pipes took the places of what was there
}

TEST_F(Spawner, FailuresSayWhat) {
    SKIP_ON_VALGRIND("reports no failure of a child before its exec");
    EXPECT_EQ(refusal_of({.argv = {"/no/such"}}), "spawn /no/such: ENOENT (no such file or directory)");
    EXPECT_EQ(
        refusal_of({.argv = {"no-such-program-anywhere"}}),
        "spawn no-such-program-anywhere: ENOENT (no such file or directory)"
    );
    EXPECT_EQ(refusal_of({.argv = {"/etc/passwd"}}), "spawn /etc/passwd: EACCES (permission denied)");
    ProcessOptions options{.argv = {"/bin/true"}};
    options.working_directory = "/no/such/directory";
    EXPECT_EQ(refusal_of(options), "spawn /bin/true in /no/such/directory: ENOENT (no such file or directory)");
    EXPECT_EQ(refusal_of({}), "spawn a program without a name: EINVAL (invalid argument)");
    options = {.argv = {"/bin/true"}};
    options.in = Stdio::descriptor(987654);
    EXPECT_EQ(refusal_of(options), "spawn /bin/true: EBADF (bad file descriptor)");
    options.in = Stdio::to_output();
    EXPECT_EQ(refusal_of(options), "spawn /bin/true: EINVAL (invalid argument)");
}

TEST_F(Spawner, OutOfDescriptorsAtEveryStep) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    ProcessOptions options{.argv = {"/bin/true"}};
    options.in = options.out = options.err = Stdio::pipe();
    int refused = 0;
    for (unsigned spare = 0; spare < 8; ++spare) {
        SpawnedProcess process;
        Status status;
        {
            const DescriptorLimit limit(spare);
            status = spawn_process(options, process);
        }
        if (!status.ok()) {
            ++refused;
            EXPECT_EQ(SystemError::number_of(status.error()), EMFILE) << status.error()->message();
            EXPECT_EQ(process.pid, -1);
            continue;
        }
        const Fd in(process.in);
        const Fd out(process.out);
        const Fd err(process.err);
        EXPECT_EQ(::waitpid(process.pid, nullptr, 0), process.pid);
    }
    EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace trueasync::testing
