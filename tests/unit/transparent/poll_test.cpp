#include <sys/mman.h>
#include <sys/resource.h>

#include <fstream>
#include <functional>
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

TEST_F(HookedPoll, SeveralOfWhichSomeAreNone) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto [c, d] = blocking_pair();
        const int none = ::dup(*a);
        ASSERT_EQ(::close(none), 0);
        pollfd all[] = {{*a, POLLIN, 0}, {none, POLLIN, 0}, {-1, POLLIN, 9}, {none, 0, 0}, {*b, POLLOUT, 0}};
        EXPECT_EQ(hooked::poll(all, 4, -1), 2);
        EXPECT_EQ(all[0].revents, 0);
        EXPECT_EQ(all[1].revents, POLLNVAL);
        EXPECT_EQ(all[2].revents, 0);
        EXPECT_EQ(all[3].revents, POLLNVAL);
        EXPECT_EQ(hooked::poll(all, 5, -1), 3);
        EXPECT_EQ(all[4].revents, POLLOUT);
    });
}

TEST_F(HookedPoll, SeveralOfWhichOneIsClosedWhenAnotherIsReady) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto [c, d] = blocking_pair();
        auto poller = spawn([first = *a, second = *c] {
            pollfd all[] = {{first, POLLIN, 0}, {second, POLLIN, 0}, {first, POLLOUT, 0}, {second, 0, 0}};
            EXPECT_EQ(hooked::poll(all, 2, -1), 2);
            EXPECT_EQ(all[0].revents, POLLIN);
            EXPECT_EQ(all[1].revents, POLLNVAL);
            EXPECT_EQ(hooked::poll(all, 4, -1), 4);
            EXPECT_EQ(all[2].revents, POLLOUT);
            EXPECT_EQ(all[3].revents, POLLNVAL);
        });
        suspend();
        EXPECT_EQ(::write(*b, "x", 1), 1);
        close(c);
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

TEST_F(HookedPoll, SelectTakesMicrosecondsOfSeveralSeconds) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        fd_set readable;
        for (timeval limit : {timeval{0, 1'500'000}, timeval{1, 2'000'000}, timeval{1L << 40, 5'000'000'000}}) {
            FD_ZERO(&readable);
            FD_SET(*in, &readable);
            auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
            EXPECT_EQ(hooked::select(*in + 1, &readable, nullptr, nullptr, &limit), 1);
            EXPECT_GT(limit.tv_sec, 0);
            EXPECT_LT(limit.tv_usec, 1'000'000);
            char byte = 0;
            EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
            await(writer);
        }
        timeval wrong{1, -1};
        EXPECT_EQ(hooked::select(*in + 1, &readable, nullptr, nullptr, &wrong), -1);
        EXPECT_EQ(errno, EINVAL);
    });
}

/// How many numbers the kernel has places for.
int table_size() {
    std::ifstream status("/proc/self/status");
    std::string word;
    int size = 0;
    while (status >> word && word != "FDSize:") {}
    status >> size;
    return size;
}

/// A set of `count` bits behind which is nothing.
class ExactSet {
public:
    explicit ExactSet(int count)
        : size_(static_cast<std::size_t>(count) / 8),
          pages_((size_ + kPage - 1) / kPage * kPage),
          memory_(static_cast<char*>(
              ::mmap(nullptr, pages_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          )) {
        EXPECT_EQ(::mprotect(memory_ + pages_, kPage, PROT_NONE), 0);
    }
    ExactSet(const ExactSet&) = delete;
    ExactSet& operator=(const ExactSet&) = delete;
    ~ExactSet() { ::munmap(memory_, pages_ + kPage); }
    fd_set* get() { return reinterpret_cast<fd_set*>(memory_ + pages_ - size_); }
    unsigned long& word(int fd) { return reinterpret_cast<unsigned long*>(get())[fd / 64]; }
    void add(int fd) { word(fd) |= 1UL << (fd % 64); }
    bool has(int fd) { return (word(fd) >> (fd % 64) & 1) != 0; }

private:
    static constexpr std::size_t kPage = 4096;
    std::size_t size_;
    std::size_t pages_;
    char* memory_;
};

TEST_F(HookedPoll, SelectLooksAtNoMoreThanTheKernelDoes) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int size = table_size();
        ASSERT_GT(size, *in);
        ExactSet exact(size);
        exact.add(*in);
        timeval limit{0, 10'000};
        EXPECT_EQ(suspending([&] { return hooked::select(size + 100'000, exact.get(), nullptr, nullptr, &limit); }), 0);
        EXPECT_FALSE(exact.has(*in));
        ExactSet beyond(size + 128);  // for which there is no place: of no interest
        ExactSet plain(size + 128);
        for (ExactSet* set : {&beyond, &plain}) {
            set->add(*in);
            set->add(size + 3);
        }
        limit = {0, 10'000};
        EXPECT_EQ(suspending([&] { return hooked::select(size + 128, beyond.get(), nullptr, nullptr, &limit); }), 0)
            << errno;
        limit = {0, 1};
        EXPECT_EQ(::select(size + 128, plain.get(), nullptr, nullptr, &limit), 0);
        EXPECT_EQ(beyond.has(size + 3), plain.has(size + 3));
        for (const bool is_ready : {true, false}) {
            ExactSet few(1024);
            few.add(is_ready ? *out : *in);
            few.add(std::max(*in, *out) + 1);  // not asked about
            few.add(512);
            limit = {0, 1000};
            fd_set* readable = is_ready ? nullptr : few.get();
            fd_set* writable = is_ready ? few.get() : nullptr;
            EXPECT_EQ(hooked::select(std::max(*in, *out) + 1, readable, writable, nullptr, &limit), is_ready ? 1 : 0);
            EXPECT_EQ(few.has(*out), is_ready);
            EXPECT_FALSE(few.has(std::max(*in, *out) + 1));  // the kernel writes whole words
            EXPECT_TRUE(few.has(512));
        }
    });
}

TEST_F(HookedPoll, SelectOfNumbersBeyondTheType) {
    rlimit limits{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limits), 0);
    if (limits.rlim_max < 4096) {
        GTEST_SKIP() << "too few descriptors are allowed";
    }
    const rlimit before = limits;
    limits.rlim_cur = std::max<rlim_t>(limits.rlim_cur, 4096);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limits), 0);
    in_runtime([] {
        auto [in, out] = blocking_pair();
        Fd high(::fcntl(*in, F_DUPFD, 3000));
        ASSERT_GE(*high, 3000);
        ExactSet set(3072);
        set.add(*high);
        auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
        EXPECT_EQ(hooked::select(*high + 1, set.get(), nullptr, nullptr, nullptr), 1);
        EXPECT_TRUE(set.has(*high));
        await(writer);
        const int none = *high;
        close(high);
        EXPECT_EQ(hooked::select(none + 1, set.get(), nullptr, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EBADF);
    });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
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

TEST_F(HookedPoll, AnEpollSetThatIsClosedMeanwhile) {
    in_runtime([] {
        const int set = ::epoll_create1(EPOLL_CLOEXEC);
        auto loop = spawn([set] {
            epoll_event event{};
            int ready = 0;
            for (int i = 0; ready >= 0 && i < 1000; ++i) {
                ready = hooked::epoll_wait(set, &event, 1, -1);
            }
            EXPECT_EQ(ready, -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        EXPECT_EQ(hooked::close(set), 0);
        await(loop);
    });
}

TEST_F(HookedPoll, WhatNeverReportsDoesNotEndIt) {
    in_runtime([] {
        const Fd null(::open("/dev/null", O_RDWR));
        const Fd file(::memfd_create("file", 0));
        auto [in, out] = blocking_pair();
        for (const short events : {short{0}, short{POLLPRI}}) {
            pollfd all[] = {{*null, events, 0}, {*file, events, 0}, {*in, POLLIN, 0}};
            EXPECT_EQ(suspending([&] { return hooked::poll(all, 1, 10); }), 0);
            EXPECT_EQ(suspending([&] { return hooked::poll(all + 1, 1, 10); }), 0);
            EXPECT_EQ(suspending([&] { return hooked::poll(all, 3, 10); }), 0);
        }
        fd_set urgent;
        FD_ZERO(&urgent);
        FD_SET(*file, &urgent);
        timeval limit{0, 10'000};
        EXPECT_EQ(suspending([&, fd = *file] { return hooked::select(fd + 1, nullptr, nullptr, &urgent, &limit); }), 0);
    });
}

TEST_F(HookedPoll, HalfAnEndDoesNotEndItForWhoHasNotAsked) {
    in_runtime([] {
        auto [half, peer] = blocking_pair();
        auto [in, out] = blocking_pair();
        ASSERT_EQ(::shutdown(*peer, SHUT_WR), 0);
        for (const short events : {short{0}, short{POLLPRI}}) {
            pollfd all[] = {{*half, events, 0}, {*in, POLLIN, 0}};
            EXPECT_EQ(suspending([&] { return hooked::poll(all, 1, 10); }), 0);
            EXPECT_EQ(suspending([&] { return hooked::poll(all, 2, 10); }), 0);
            auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
            EXPECT_EQ(hooked::poll(all, 2, -1), 1);
            char byte = 0;
            EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
            await(writer);
        }
        pollfd all[] = {{*half, 0, 0}, {*in, POLLIN, 0}};
        auto closer = spawn([&peer = peer] { close(peer); });
        EXPECT_EQ(hooked::poll(all, 2, -1), 1);  // the whole end does
        EXPECT_EQ(all[0].revents, POLLHUP);
        await(closer);
    });
}

TEST_F(HookedPoll, ASignalThatTheMaskLetsInEndsIt) {
    static int handled = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ++handled; };
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    sigset_t blocked;
    sigset_t open;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &open), 0);
    in_runtime([&] {
        const timespec limit{5, 0};
        const Fd set(::epoll_create1(EPOLL_CLOEXEC));
        epoll_event event{};
        const std::function<int()> calls[] = {
            [&] { return hooked::ppoll(nullptr, 0, &limit, &open); },
            [&] { return hooked::pselect(0, nullptr, nullptr, nullptr, &limit, &open); },
            [&] { return hooked::epoll_pwait(*set, &event, 1, 5000, &open); },
            [&] { return hooked::epoll_pwait2(*set, &event, 1, &limit, &open); },
        };
        for (const auto& call : calls) {
            handled = 0;
            ::raise(SIGUSR1);
            EXPECT_EQ(call(), -1);
            EXPECT_EQ(errno, EINTR);
            EXPECT_EQ(handled, 1);
            auto other = spawn([] { ::raise(SIGUSR1); });
            EXPECT_EQ(call(), -1);
            EXPECT_EQ(errno, EINTR);
            EXPECT_EQ(handled, 2);
            await(other);
        }
        pollfd one{*set, POLLIN, 0};
        const timespec soon{0, 1'000'000};
        EXPECT_EQ(suspending([&] { return hooked::ppoll(&one, 1, &soon, &open); }), 0);
    });
    ::pthread_sigmask(SIG_SETMASK, &open, nullptr);
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(HookedPoll, PauseEndsWithAHandler) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    struct sigaction before {};
    ASSERT_EQ(hooked::sigaction(SIGUSR1, &action, &before), 0);
    in_runtime([] {
        auto other = spawn([] { ::raise(SIGUSR1); });
        EXPECT_EQ(suspending([] { return hooked::pause(); }), -1);
        EXPECT_EQ(errno, EINTR);
        await(other);
    });
    hooked::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(HookedPoll, AHandlerThatIsJumpedOutOfHasEnded) {
    static sigjmp_buf target;
    struct sigaction action {};
    action.sa_handler = [](int) { hooked::siglongjmp(target, 1); };
    struct sigaction before {};
    ASSERT_EQ(hooked::sigaction(SIGUSR1, &action, &before), 0);
    in_runtime([] {
        if (sigsetjmp(target, 1) == 0) {
            ::raise(SIGUSR1);
            ADD_FAILURE() << "did not jump";
        }
        EXPECT_EQ(suspending([] { return hooked::usleep(100); }), 0);
    });
    hooked::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(HookedPoll, NoPlaceForTheDescriptors) {
    in_runtime([] {
        EXPECT_EQ(hooked::poll(nullptr, 1, 100), -1);
        EXPECT_EQ(errno, EFAULT);
        EXPECT_EQ(hooked::ppoll(nullptr, 1, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EFAULT);
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
        const timespec soon{0, 1000};
        EXPECT_EQ(suspending([&] { return hooked::clock_nanosleep(CLOCK_TAI, 0, &soon, nullptr); }), 0);
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
