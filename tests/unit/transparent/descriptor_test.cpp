#include <linux/close_range.h>

#include <support/hooked.hpp>

namespace trueasync::testing {
namespace {

using HookedDescriptor = HookedTest;

TEST_F(HookedDescriptor, CloseRangeLetsThoseWhoWaitLeave) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int low = ::dup2(*in, 900);
        const int high = ::dup2(*in, 905);
        int errors[2] = {};
        auto read_from = [](int fd, int& error) {
            return spawn([fd, &error] {
                char byte = 0;
                EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
                error = errno;
            });
        };
        auto first = read_from(low, errors[0]);
        auto second = read_from(high, errors[1]);
        suspend();
        errno = 77;
        EXPECT_EQ(hooked::close_range(900, 910, 0), 0);
        EXPECT_EQ(errno, 77);
        await(first);
        await(second);
        EXPECT_EQ(errors[0], EBADF);
        EXPECT_EQ(errors[1], EBADF);
        EXPECT_EQ(::fcntl(low, F_GETFD), -1);
        EXPECT_EQ(::fcntl(high, F_GETFD), -1);
        EXPECT_NE(::fcntl(*in, F_GETFD), -1);
    });
}

TEST_F(HookedDescriptor, CloseRangeThatOnlyMarksDisturbsNobody) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int copy = ::dup2(*in, 900);
        auto reader = spawn([copy] {
            char byte = 0;
            EXPECT_EQ(hooked::read(copy, &byte, 1), 1);
        });
        suspend();
        EXPECT_EQ(hooked::close_range(900, 900, CLOSE_RANGE_CLOEXEC), 0);
        EXPECT_EQ(::fcntl(copy, F_GETFD), FD_CLOEXEC);
        EXPECT_EQ(hooked::write(*out, "x", 1), 1);
        await(reader);
        EXPECT_EQ(hooked::close(copy), 0);
        EXPECT_EQ(hooked::close_range(3, 2, 0), -1);
        EXPECT_EQ(errno, EINVAL);
    });
}

}  // namespace
}  // namespace trueasync::testing
