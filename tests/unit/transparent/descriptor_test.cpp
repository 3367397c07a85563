#include <linux/close_range.h>
#include <sys/mman.h>

#include <optional>
#include <support/hooked.hpp>
#include <transparent/thread_read.hpp>

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

TEST_F(HookedDescriptor, WhatIsBeingClosedIsClosedOnce) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int fd = in.release();
        auto reader = spawn([fd] {
            char byte = 0;
            EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        auto first = spawn([fd] { EXPECT_EQ(hooked::close(fd), 0); });
        auto second = spawn([fd] {
            EXPECT_EQ(hooked::close(fd), -1);
            EXPECT_EQ(errno, EBADF);
        });
        await(first);
        await(second);
        await(reader);
    });
}

TEST_F(HookedDescriptor, WhoIsToldThatItIsBeingClosedLetsTheCloserGetOn) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int fd = in.release();
        bool is_closed = false;
        auto reader = spawn([&] {
            char byte = 0;
            pollfd one{fd, POLLIN, 0};
            EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
            for (int i = 0; !is_closed && i < 1000; ++i) {
                EXPECT_EQ(hooked::poll(&one, 1, -1), 1);
                EXPECT_EQ(one.revents, POLLNVAL);
                EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
                EXPECT_EQ(hooked::recv(fd, &byte, 1, MSG_DONTWAIT), -1);
                EXPECT_EQ(errno, EBADF);
            }
            EXPECT_TRUE(is_closed);
        });
        suspend();
        EXPECT_EQ(hooked::close(fd), 0);
        is_closed = true;
        await(reader);
    });
}

TEST_F(HookedDescriptor, ADup2ThatFailsDisturbsNobody) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto reader = spawn([fd = *in] {
            char byte = 0;
            EXPECT_EQ(hooked::read(fd, &byte, 1), 1);
        });
        suspend();
        EXPECT_EQ(hooked::dup2(-1, *in), -1);
        EXPECT_EQ(errno, EBADF);
        EXPECT_EQ(hooked::dup3(*out, *in, ~O_CLOEXEC), -1);
        EXPECT_EQ(errno, EINVAL);
        EXPECT_EQ(hooked::close_range(static_cast<unsigned>(*in), static_cast<unsigned>(*in), ~0), -1);
        EXPECT_EQ(hooked::write(*out, "x", 1), 1);
        await(reader);
    });
}

TEST_F(HookedDescriptor, WhoWaitsToWriteDoesNotWriteIntoAnotherFile) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        const int number = out.release();
        auto first = spawn([&] {
            const std::string data(1 << 20, 'a');
            EXPECT_GT(hooked::write(number, data.data(), data.size()), 0);
        });
        auto second = spawn([&] {
            EXPECT_EQ(hooked::write(number, "b", 1), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        Fd other(::memfd_create("other", 0));
        EXPECT_EQ(hooked::close(number), 0);
        const Fd again(::dup2(*other, number));
        await(first);
        await(second);
        EXPECT_EQ(::lseek(*other, 0, SEEK_END), 0);
    });
}

TEST_F(HookedDescriptor, WhoWaitsToWriteIsToldWhenItDoesNotBlockAnyMore) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        auto first = spawn([&] {
            const std::string data(100'000, 'a');
            EXPECT_EQ(hooked::write(*out, data.data(), data.size()), 65536);
        });
        suspend();
        set_nonblocking(*out);
        EXPECT_EQ(hooked::write(*out, "b", 1), -1);
        EXPECT_EQ(errno, EAGAIN);
        std::string data(65536, 0);
        EXPECT_EQ(hooked::read(*in, data.data(), data.size()), 65536);
        data.resize(65536);
        hooked::close(in.release());
        ::signal(SIGPIPE, SIG_IGN);
        await(first);
    });
}

TEST_F(HookedDescriptor, WhoWaitsForALockDoesNotLockAnotherFile) {
    in_runtime([] {
        const std::string path = ::testing::TempDir() + "trueasync_lock_" + std::to_string(::getpid());
        const Fd holder(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
        const int number = ::open(path.c_str(), O_RDWR);
        ::unlink(path.c_str());
        EXPECT_EQ(::flock(*holder, LOCK_EX), 0);
        auto waiter = spawn([&] {
            EXPECT_EQ(hooked::flock(number, LOCK_EX), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        EXPECT_EQ(hooked::close(number), 0);
        const Fd other(::memfd_create("other", 0));
        const Fd again(::dup2(*other, number));
        await(waiter);
    });
}

TEST_F(HookedDescriptor, WhoLooksForMoreDoesNotLookAtAnotherSocket) {
    in_runtime([] {
        Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        ASSERT_EQ(::bind(*listener, reinterpret_cast<sockaddr*>(&address), size), 0);
        ASSERT_EQ(::listen(*listener, 1), 0);
        ASSERT_EQ(::getsockname(*listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
        const int number = ::socket(AF_INET, SOCK_STREAM, 0);
        ASSERT_EQ(::connect(number, reinterpret_cast<sockaddr*>(&address), size), 0);
        const Fd peer(::accept(*listener, nullptr, nullptr));
        EXPECT_EQ(::write(*peer, "x", 1), 1);
        auto reader = spawn([&] {
            char data[4];
            EXPECT_EQ(hooked::recv(number, data, 4, MSG_PEEK | MSG_WAITALL), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        EXPECT_EQ(hooked::close(number), 0);
        auto [in, out] = blocking_pair();
        const Fd again(::dup2(*in, number));
        EXPECT_EQ(::write(*out, "abcd", 4), 4);
        await(reader);
    });
}

TEST_F(HookedDescriptor, AThreadThatReadsFindsItsFile) {
    in_runtime([] {
        const int number = ::memfd_create("read", 0);
        EXPECT_EQ(hooked::write(number, "x", 1), 1);
        std::optional<hooked::ThreadRead> reading(number);
        bool is_closed = false;
        auto closer = spawn([&] {
            EXPECT_EQ(hooked::close(number), 0);
            is_closed = true;
        });
        suspend();
        suspend();
        EXPECT_FALSE(is_closed);
        EXPECT_GE(::fcntl(number, F_GETFD), 0);
        reading.reset();
        await(closer);
        EXPECT_TRUE(is_closed);
    });
}

}  // namespace
}  // namespace trueasync::testing
