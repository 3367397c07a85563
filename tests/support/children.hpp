#pragma once

/// @file support/children.hpp
/// A fixture for tests with child processes, in every way there is to wait for one.

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <reactor/orphans.hpp>
#include <reactor/pidfd.hpp>
#include <support/descriptors.hpp>
#include <support/valgrind.hpp>
#include <trueasync/reactor/process.hpp>
#include <trueasync/reactor/spawner.hpp>
#include <tuple>

namespace trueasync::testing {

struct ChildWay {
    Backend backend;
    bool has_pidfd;
};

inline std::string child_way_name(const ::testing::TestParamInfo<ChildWay>& way) {
    return std::string(way.param.backend == Backend::Best ? "Best" : "Portable") +
           (way.param.has_pidfd ? "Pidfd" : "Sigchld");
}

/// No descriptor, no child, no zombie and no handler may be left behind.
class ChildTest : public ::testing::TestWithParam<ChildWay> {
protected:
    RecordingSink sink;

    void SetUp() override {
        make_uv_reactor(GetParam().backend);  // what libuv opens once is open
        detail::is_pidfd_off = !GetParam().has_pidfd;
        before_ = open_descriptors();
    }
    void TearDown() override {
        detail::is_pidfd_off = false;
        detail::collect_orphans();
        EXPECT_EQ(open_descriptors(), before_);
        errno = 0;
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
        struct sigaction action {};
        ::sigaction(SIGCHLD, nullptr, &action);
        EXPECT_EQ(action.sa_handler, SIG_DFL);
    }

    void in_runtime(const std::function<void(IoReactor&)>& body) {
        RunOptions options;
        options.reactor = make_uv_reactor(GetParam().backend);
        options.sink = &sink;
        run([&] { body(*Scheduler::current()->reactor().io()); }, std::move(options));
    }

private:
    std::size_t before_ = 0;
};

/// `/bin/sh -c script`.
inline ProcessOptions shell(std::string script) {
    ProcessOptions options;
    options.argv = {"/bin/sh", "-c", std::move(script)};
    return options;
}

inline pid_t start_shell(std::string script) {
    SpawnedProcess process;
    const Status status = spawn_process(shell(std::move(script)), process);
    EXPECT_TRUE(status.ok());
    return process.pid;
}

/// While it lives only `spare` more descriptors can be opened.
class DescriptorLimit {
public:
    explicit DescriptorLimit(unsigned spare) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        // The limit is on numbers, not on how many there are: fill the gaps below the highest one first.
        const int probe = ::dup(0);
        highest_ = probe;
        for (int fd = probe; fd >= 0 && holders_.size() < 4096;) {
            holders_.emplace_back(fd);
            if (static_cast<std::size_t>(fd) + 1 >= open_descriptors_plain()) {
                highest_ = fd;
                break;
            }
            fd = ::dup(0);
        }
        rlimit tight = before_;
        tight.rlim_cur = static_cast<rlim_t>(highest_) + 1 + spare;
        ::setrlimit(RLIMIT_NOFILE, &tight);
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    DescriptorLimit(const DescriptorLimit&) = delete;
    DescriptorLimit& operator=(const DescriptorLimit&) = delete;

private:
    /// Not counting the one that counts.
    static std::size_t open_descriptors_plain() { return open_descriptors() - 1; }

    rlimit before_{};
    int highest_ = 0;
    std::vector<Fd> holders_;
};

}  // namespace trueasync::testing

/// Both backends, each with pidfds and with SIGCHLD, for a suite of `TEST_P`.
#define IN_EVERY_CHILD_WAY(suite)                                                 \
    INSTANTIATE_TEST_SUITE_P(                                                     \
        Ways, suite,                                                              \
        ::testing::Values(                                                        \
            ::trueasync::testing::ChildWay{::trueasync::Backend::Best, true},     \
            ::trueasync::testing::ChildWay{::trueasync::Backend::Best, false},    \
            ::trueasync::testing::ChildWay{::trueasync::Backend::Portable, true}, \
            ::trueasync::testing::ChildWay{::trueasync::Backend::Portable, false} \
        ),                                                                        \
        ::trueasync::testing::child_way_name                                      \
    )
