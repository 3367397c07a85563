#pragma once

/// @file support/forks.hpp
/// Tests that fork.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <support/valgrind.hpp>

/// The thread sanitizer forgets in the child of a fork that fibers of one thread follow each other: a program of two fibers and a fork,
/// without any of our code, is reported too.
#if defined(TA_TSAN)
#define SKIP_WHERE_FORKS_LOOK_LIKE_RACES() GTEST_SKIP() << "fibers look like races in the child of a fork"
#else
#define SKIP_WHERE_FORKS_LOOK_LIKE_RACES() static_cast<void>(0)
#endif

namespace trueasync::testing {

/// Runs `body` in a forked child and returns what it returned, 99 when it threw, or 128 and more when a signal ended it. A child that hangs is killed
/// by its alarm.
template <typename F>
int in_child(F&& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::alarm(9);
        allow_leaks_here();
        try {
            ::_exit(body());
        } catch (...) {
            ::_exit(99);
        }
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trueasync::testing
