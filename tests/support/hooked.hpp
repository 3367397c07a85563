#pragma once

/// @file support/hooked.hpp
/// Tests of the functions that stand in for those of the C library: called by name, since the program itself is never rewritten.

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <climits>
#include <support/descriptors.hpp>
#include <transparent/hooks.hpp>
#include <transparent/kind.hpp>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync::testing {

class HookedTest : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(install_transparent());
        hooked::forget_files(0, UINT_MAX);  // tests close what is left without telling
    }

    /// On the real reactor. Fails when the body was cut off.
    static void in_runtime(const std::function<void()>& body) {
        bool is_whole = false;
        trueasync::run([&] {
            body();
            is_whole = true;
        });
        EXPECT_TRUE(is_whole);
    }

    /// Blocking ends.
    static FdPair blocking_pair(int type = SOCK_STREAM) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends), 0);
        return {Fd(ends[0]), Fd(ends[1])};
    }
    static FdPair blocking_pipe() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe(ends), 0);
        return {Fd(ends[0]), Fd(ends[1])};
    }

    /// That `call` suspends: somebody else runs before it returns.
    template <typename F>
    static auto suspending(F&& call) {
        bool has_run = false;
        auto other = spawn([&] { has_run = true; });
        auto result = call();
        const int error = errno;
        EXPECT_TRUE(has_run) << "the thread was blocked";
        await(other);
        errno = error;
        return result;
    }

    /// Closes through the hook, as a library would.
    static void close(Fd& fd) { EXPECT_EQ(hooked::close(fd.release()), 0); }
};

}  // namespace trueasync::testing
