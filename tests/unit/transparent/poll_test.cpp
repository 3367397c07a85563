#include <support/hooked.hpp>

namespace trueasync::testing {
namespace {

using HookedPoll = HookedTest;

TEST_F(HookedPoll, OneDescriptor) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
        pollfd one{*in, POLLIN, 0};
        EXPECT_EQ(hooked::poll(&one, 1, -1), 1);
        EXPECT_EQ(one.revents, POLLIN);
        await(writer);
        close(out);
        EXPECT_EQ(hooked::poll(&one, 1, -1), 1);
        EXPECT_EQ(one.revents, POLLIN | POLLHUP);
    });
}

TEST_F(HookedPoll, SeveralDescriptorsAndNone) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto [c, d] = blocking_pipe();
        pollfd all[] = {{*a, POLLIN, 0}, {-1, POLLIN, 9}, {*c, POLLIN, 0}};
        auto writer = spawn([fd = *d] { hooked::write(fd, "x", 1); });
        EXPECT_EQ(hooked::poll(all, 3, 5000), 1);
        EXPECT_EQ(all[0].revents, 0);
        EXPECT_EQ(all[1].revents, 0);
        EXPECT_EQ(all[2].revents, POLLIN);
        await(writer);
        EXPECT_EQ(suspending([] { return hooked::poll(nullptr, 0, 10); }), 0);
        pollfd nobody{-1, POLLIN, 9};
        EXPECT_EQ(suspending([&] { return hooked::poll(&nobody, 1, 10); }), 0);
        EXPECT_EQ(nobody.revents, 0);
    });
}

TEST_F(HookedPoll, ATimeoutEndsIt) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto [c, d] = blocking_pair();
        pollfd all[] = {{*a, POLLIN, 0}, {*c, POLLIN, 0}};
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(suspending([&] { return hooked::poll(all, 1, 20); }), 0);
        EXPECT_EQ(suspending([&] { return hooked::poll(all, 2, 20); }), 0);
        const timespec limit{0, 20'000'000};
        EXPECT_EQ(suspending([&] { return hooked::ppoll(all, 2, &limit, nullptr); }), 0);
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
        EXPECT_EQ(hooked::poll(all, 2, 0), 0);
    });
}

TEST_F(HookedPoll, ADescriptorThatIsClosedMeanwhile) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto poller = spawn([fd = *in] {
            pollfd one{fd, POLLIN, 0};
            EXPECT_EQ(hooked::poll(&one, 1, -1), 1);
            EXPECT_EQ(one.revents, POLLNVAL);
        });
        suspend();
        close(in);
        await(poller);
    });
}

TEST_F(HookedPoll, Select) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto [c, d] = blocking_pipe();
        auto writer = spawn([fd = *d] { hooked::write(fd, "x", 1); });
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(*a, &readable);
        FD_SET(*c, &readable);
        timeval limit{5, 0};
        EXPECT_EQ(hooked::select(std::max(*a, *c) + 1, &readable, nullptr, nullptr, &limit), 1);
        EXPECT_FALSE(FD_ISSET(*a, &readable));
        EXPECT_TRUE(FD_ISSET(*c, &readable));
        EXPECT_GT(limit.tv_sec + limit.tv_usec, 0);  // what was left
        await(writer);
        FD_ZERO(&readable);
        FD_SET(*a, &readable);
        limit = {0, 10'000};
        EXPECT_EQ(suspending([&, fd = *a] { return hooked::select(fd + 1, &readable, nullptr, nullptr, &limit); }), 0);
        EXPECT_FALSE(FD_ISSET(*a, &readable));
        EXPECT_EQ(limit.tv_sec, 0);
        EXPECT_EQ(limit.tv_usec, 0);
        limit = {0, 1000};
        EXPECT_EQ(suspending([&] { return hooked::select(0, nullptr, nullptr, nullptr, &limit); }), 0);
    });
}

TEST_F(HookedPoll, AnEpollSetOfTheProgramsOwn) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        Fd set(::epoll_create1(EPOLL_CLOEXEC));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = *in;
        ASSERT_EQ(::epoll_ctl(*set, EPOLL_CTL_ADD, *in, &event), 0);
        EXPECT_EQ(suspending([&, fd = *set] { return hooked::epoll_wait(fd, &event, 1, 10); }), 0);
        auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
        EXPECT_EQ(hooked::epoll_wait(*set, &event, 1, -1), 1);
        EXPECT_EQ(event.data.fd, *in);
        await(writer);
        close(set);
    });
}

TEST_F(HookedPoll, SleepsAreExact) {
    in_runtime([] {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(hooked::usleep(100), 0);
        const auto took = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(took, 100us);
        const timespec wrong{0, -1};
        EXPECT_EQ(hooked::nanosleep(&wrong, nullptr), -1);
        EXPECT_EQ(errno, EINVAL);
        timespec when{};
        clock_gettime(CLOCK_REALTIME, &when);
        EXPECT_EQ(
            suspending([&] { return hooked::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &when, nullptr); }), 0
        );
        EXPECT_EQ(suspending([] { return hooked::usleep(0); }), 0);
    });
}

TEST_F(HookedPoll, ACancelledSleepSaysWhatWasLeft) {
    in_runtime([] {
        timespec rest{};
        unsigned seconds = 0;
        auto sleeper = spawn([&] {
            const timespec hour{3600, 0};
            EXPECT_EQ(hooked::nanosleep(&hour, &rest), -1);
            EXPECT_EQ(errno, ECANCELED);
            seconds = hooked::sleep(100);
        });
        suspend();
        sleeper.cancel();
        EXPECT_THROW(await(sleeper), Cancellation);
        EXPECT_GE(rest.tv_sec, 3590);
        EXPECT_EQ(seconds, 100U);
    });
}

}  // namespace
}  // namespace trueasync::testing
