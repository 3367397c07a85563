#pragma once

/// @file support/forks.hpp
/// Tests that fork.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

/// The thread sanitizer forgets in the child of a fork that fibers of one thread follow each other: a program of two fibers and a fork,
/// without any of our code, is reported too.
#if defined(TA_TSAN)
#define SKIP_WHERE_FORKS_LOOK_LIKE_RACES() GTEST_SKIP() << "fibers look like races in the child of a fork"
#else
#define SKIP_WHERE_FORKS_LOOK_LIKE_RACES() static_cast<void>(0)
#endif

namespace trueasync::testing {

/// Runs `body` in a child, which ends with its result; returns that.
inline int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(8);
        _exit(body());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace trueasync::testing
