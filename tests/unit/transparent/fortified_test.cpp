#include <support/hooked.hpp>

namespace trueasync::testing {
namespace {

using HookedFortified = HookedTest;

TEST_F(HookedFortified, ReadsSuspend) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        char buffer[8];
        const auto expect_three = [&, to = *out](auto&& read) {
            auto writer = spawn([to] { EXPECT_EQ(hooked::write(to, "abc", 3), 3); });
            EXPECT_EQ(suspending(read), 3);
            await(writer);
        };
        expect_three([&, fd = *in] { return hooked::__read_chk(fd, buffer, 8, sizeof(buffer)); });
        expect_three([&, fd = *in] { return hooked::__recv_chk(fd, buffer, 8, sizeof(buffer), 0); });
        expect_three([&, fd = *in] {
            return hooked::__recvfrom_chk(fd, buffer, 8, sizeof(buffer), 0, nullptr, nullptr);
        });
    });
}

TEST_F(HookedFortified, PollsSuspend) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        pollfd one{*in, POLLIN, 0};
        EXPECT_EQ(suspending([&] { return hooked::__poll_chk(&one, 1, 1, sizeof(one)); }), 0);
        const timespec limit{0, 1'000'000};
        EXPECT_EQ(suspending([&] { return hooked::__ppoll_chk(&one, 1, &limit, nullptr, sizeof(one)); }), 0);
        auto writer = spawn([fd = *out] { EXPECT_EQ(hooked::write(fd, "x", 1), 1); });
        EXPECT_EQ(suspending([&] { return hooked::__poll_chk(&one, 1, -1, sizeof(one)); }), 1);
        EXPECT_EQ(one.revents, POLLIN);
        await(writer);
    });
}

TEST_F(HookedFortified, WhatDoesNotFitEndsTheProgram) {
    char buffer[4];
    pollfd one{-1, POLLIN, 0};
    EXPECT_DEATH(hooked::__read_chk(0, buffer, 5, sizeof(buffer)), "overflow");
    EXPECT_DEATH(hooked::__recv_chk(0, buffer, 5, sizeof(buffer), 0), "overflow");
    EXPECT_DEATH(hooked::__recvfrom_chk(0, buffer, 5, sizeof(buffer), 0, nullptr, nullptr), "overflow");
    EXPECT_DEATH(hooked::__poll_chk(&one, 2, 0, sizeof(one)), "overflow");
    EXPECT_DEATH(hooked::__ppoll_chk(&one, 2, nullptr, nullptr, sizeof(one)), "overflow");
}

}  // namespace
}  // namespace trueasync::testing
