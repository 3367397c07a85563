#include <support/hooked.hpp>

#include <numeric>

namespace trueasync::testing {
namespace {

using HookedStream = HookedTest;

TEST_F(HookedStream, ReadWaitsOnEveryKindOfDescriptor) {
    in_runtime([] {
        for (auto& [in, out] : {blocking_pair(), blocking_pipe(), blocking_pair(SOCK_DGRAM)}) {
            auto writer = spawn([fd = *out] { EXPECT_EQ(hooked::write(fd, "hello", 5), 5); });
            char buffer[16];
            EXPECT_EQ(hooked::read(*in, buffer, sizeof(buffer)), 5);
            await(writer);
        }
    });
}

TEST_F(HookedStream, TheEndIsTold) {
    in_runtime([] {
        for (auto& [in, out] : {blocking_pair(), blocking_pipe()}) {
            auto closer = spawn([fd = *out] { hooked::close(fd); });
            const_cast<Fd&>(out).release();
            char buffer[16];
            EXPECT_EQ(hooked::read(*in, buffer, sizeof(buffer)), 0);
            await(closer);
        }
    });
}

TEST_F(HookedStream, ANonBlockingDescriptorStaysSo) {
    in_runtime([] {
        for (auto& [in, out] : {blocking_pair(), blocking_pipe()}) {
            set_nonblocking(*in);
            set_nonblocking(*out);
            char buffer[16];
            EXPECT_EQ(hooked::read(*in, buffer, sizeof(buffer)), -1);
            EXPECT_EQ(errno, EAGAIN);
            std::string much(1 << 20, 'x');
            const ssize_t written = hooked::write(*out, much.data(), much.size());
            EXPECT_GT(written, 0);
            EXPECT_LT(written, ssize_t{1} << 20);
            EXPECT_EQ(hooked::write(*out, much.data(), much.size()), -1);
            EXPECT_EQ(errno, EAGAIN);
        }
    });
}

TEST_F(HookedStream, FlagsOfADescriptorAreNotTouched) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
        char byte = 0;
        EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
        EXPECT_EQ(fcntl(*in, F_GETFL) & O_NONBLOCK, 0);
        await(writer);
    });
}

TEST_F(HookedStream, ABlockingWriteWritesAll) {
    in_runtime([] {
        for (auto& [in, out] : {blocking_pair(), blocking_pipe()}) {
            std::string sent(3 << 20, '\0');
            std::iota(sent.begin(), sent.end(), '\0');
            auto writer = spawn([&, fd = *out] {
                EXPECT_EQ(hooked::write(fd, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
            });
            std::string got;
            char buffer[10000];
            while (got.size() < sent.size()) {
                const ssize_t count = hooked::read(*in, buffer, sizeof(buffer));
                ASSERT_GT(count, 0);
                got.append(buffer, static_cast<std::size_t>(count));
            }
            EXPECT_TRUE(got == sent);
            await(writer);
        }
    });
}

TEST_F(HookedStream, TwoLongWritesDoNotMix) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        constexpr std::size_t kSize = 500'000;
        std::vector<Handle<void>> writers;
        for (const char letter : {'a', 'b', 'c'}) {
            writers.push_back(spawn([=, fd = *out] {
                const std::string all(kSize, letter);
                EXPECT_EQ(hooked::write(fd, all.data(), all.size()), static_cast<ssize_t>(kSize));
            }));
        }
        std::string got;
        char buffer[4096];
        while (got.size() < 3 * kSize) {
            const ssize_t count = hooked::read(*in, buffer, sizeof(buffer));
            ASSERT_GT(count, 0);
            got.append(buffer, static_cast<std::size_t>(count));
        }
        int changes = 0;
        for (std::size_t i = 1; i < got.size(); ++i) {
            changes += got[i] != got[i - 1] ? 1 : 0;
        }
        EXPECT_EQ(changes, 2);
        for (auto& writer : writers) {
            await(writer);
        }
    });
}

TEST_F(HookedStream, VectorsAreMovedWhole) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        std::string first(700'000, 'a');
        std::string second(700'000, 'b');
        auto writer = spawn([&, fd = *out] {
            const iovec parts[] = {{first.data(), first.size()}, {nullptr, 0}, {second.data(), second.size()}};
            EXPECT_EQ(hooked::writev(fd, parts, 3), 1'400'000);
        });
        std::string got;
        while (got.size() < 1'400'000) {
            char a[1000];
            char b[5000];
            const iovec parts[] = {{a, sizeof(a)}, {b, sizeof(b)}};
            const ssize_t count = hooked::readv(*in, parts, 2);
            ASSERT_GT(count, 0);
            const auto from_a = std::min<std::size_t>(static_cast<std::size_t>(count), sizeof(a));
            got.append(a, from_a);
            got.append(b, static_cast<std::size_t>(count) - from_a);
        }
        EXPECT_TRUE(got == first + second);
        await(writer);
    });
}

TEST_F(HookedStream, TheLimitsOfASocketHold) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const timeval limit{0, 20'000};
        ASSERT_EQ(setsockopt(*in, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
        ASSERT_EQ(setsockopt(*in, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
        char byte = 0;
        EXPECT_EQ(suspending([&, fd = *in] { return hooked::read(fd, &byte, 1); }), -1);
        EXPECT_EQ(errno, EAGAIN);
        const std::string much(4 << 20, 'x');
        const ssize_t part = hooked::write(*in, much.data(), much.size());  // a part, then too late
        EXPECT_GT(part, 0);
        EXPECT_LT(part, ssize_t{4} << 20);
        EXPECT_EQ(hooked::send(*in, much.data(), much.size(), 0), -1);
        EXPECT_EQ(errno, EAGAIN);
    });
}

TEST_F(HookedStream, AFileIsReadAsWithoutUs) {
    in_runtime([] {
        char name[] = "/tmp/trueasync-hooked-XXXXXX";
        Fd file(::mkstemp(name));
        ::unlink(name);
        std::string all(100'000, '\0');
        std::iota(all.begin(), all.end(), '\0');
        EXPECT_EQ(hooked::write(*file, all.data(), all.size()), 100'000);
        ::lseek(*file, 0, SEEK_SET);
        ::posix_fadvise(*file, 0, 0, POSIX_FADV_DONTNEED);
        std::string got(200'000, '\0');
        EXPECT_EQ(hooked::read(*file, got.data(), got.size()), 100'000);
        got.resize(100'000);
        EXPECT_TRUE(got == all);
        EXPECT_EQ(hooked::read(*file, got.data(), got.size()), 0);
        EXPECT_EQ(hooked::read(-1, got.data(), got.size()), -1);
        EXPECT_EQ(errno, EBADF);
        close(file);
    });
}

TEST_F(HookedStream, SendfileWaitsForRoom) {
    in_runtime([] {
        char name[] = "/tmp/trueasync-hooked-XXXXXX";
        Fd file(::mkstemp(name));
        ::unlink(name);
        ASSERT_EQ(::ftruncate(*file, 2 << 20), 0);
        auto [in, out] = blocking_pair();
        auto sender = spawn([from = *file, to = *out] {
            off_t offset = 0;
            EXPECT_EQ(hooked::sendfile(to, from, &offset, 2 << 20), 2 << 20);
        });
        std::size_t got = 0;
        char buffer[65536];
        while (got < (2U << 20)) {
            const ssize_t count = hooked::read(*in, buffer, sizeof(buffer));
            ASSERT_GT(count, 0);
            got += static_cast<std::size_t>(count);
        }
        await(sender);
    });
}

TEST_F(HookedStream, ClosingWakesWhoWaits) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        std::string order;
        auto reader = spawn([&, fd = *in] {
            char byte = 0;
            EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
            EXPECT_EQ(errno, EBADF);
            EXPECT_EQ(hooked::read(fd, &byte, 1), -1);  // not even when it tries again
            EXPECT_EQ(errno, EBADF);
            order += "woken ";
        });
        suspend();
        close(in);
        order += "closed";
        await(reader);
        EXPECT_EQ(order, "woken closed");  // the waiter is out of its library before the descriptor goes
    });
}

TEST_F(HookedStream, NobodyUsesWhatIsAboutToBeClosed) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        char byte = 0;
        auto reader = spawn([fd = *in] {
            char other = 0;
            EXPECT_EQ(hooked::read(fd, &other, 1), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        begin_closing(*in);
        await(reader);
        EXPECT_EQ(hooked::write(*out, "x", 1), 1);
        EXPECT_EQ(hooked::recv(*in, &byte, 1, MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, EBADF);
        EXPECT_EQ(hooked::flock(*in, LOCK_EX), -1);
        EXPECT_EQ(errno, EBADF);
        end_closing(*in);  // it stays after all
        EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
        end_closing(*in);
        begin_closing(-1);
        end_closing(-1);
    });
}

/// Says of everybody that he was cancelled and has not come back since.
class CutOffHost final : public TransparentHost {
public:
    Answer may_suspend(Coroutine& /*coroutine*/) noexcept override {
        return cut_offs != 0 ? Answer::Fail : Answer::Suspend;
    }
    bool cancelled(Coroutine& /*coroutine*/, Ref<Error> /*cancellation*/) noexcept override { return true; }
    bool is_cut_off(Coroutine& /*coroutine*/) noexcept override { return true; }
};

TEST_F(HookedStream, WhoWasCancelledTakesNothing) {
    in_runtime([] {
        CutOffHost host;
        set_transparent_host(&host);
        for (auto& [in, out] : {blocking_pair(), blocking_pipe()}) {
            char buffer[4] = {};
            ASSERT_EQ(hooked::write(*out, "abc", 3), 3);
            host.cut_offs = 1;
            EXPECT_EQ(hooked::read(*in, buffer, 3), -1);
            EXPECT_EQ(errno, ECANCELED);
            iovec part{buffer, 3};
            EXPECT_EQ(hooked::readv(*in, &part, 1), -1);
            EXPECT_EQ(errno, ECANCELED);
            host.cut_offs = 0;
            EXPECT_EQ(hooked::read(*in, buffer, 3), 3);
        }
        auto [in, out] = blocking_pair();
        char byte = 0;
        ASSERT_EQ(hooked::send(*out, "x", 1, 0), 1);
        host.cut_offs = 1;
        EXPECT_EQ(hooked::recv(*in, &byte, 1, MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, ECANCELED);
        EXPECT_EQ(hooked::recv(*in, &byte, 1, MSG_PEEK | MSG_DONTWAIT), 1);  // looking takes nothing
        // "Later" would be asked again and again.
        set_nonblocking(*out);
        const std::string much(1 << 20, 'x');
        EXPECT_GT(hooked::write(*out, much.data(), much.size()), 0);
        EXPECT_EQ(hooked::write(*out, much.data(), much.size()), -1);
        EXPECT_EQ(errno, ECANCELED);
        EXPECT_EQ(hooked::send(*out, much.data(), much.size(), MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, ECANCELED);
        host.cut_offs = 0;
        EXPECT_EQ(hooked::recv(*in, &byte, 1, MSG_DONTWAIT), 1);
        EXPECT_EQ(hooked::send(*out, much.data(), much.size(), MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, EAGAIN);
        set_transparent_host(nullptr);
    });
}

TEST_F(HookedStream, ANumberThatIsUsedAgainIsAnotherDescriptor) {
    in_runtime([] {
        int number = -1;
        for (int i = 0; i < 3; ++i) {
            auto [in, out] = i == 1 ? blocking_pipe() : blocking_pair();
            number = number == -1 ? *in : number;
            EXPECT_EQ(*in, number);
            auto writer = spawn([fd = *out] { hooked::write(fd, "x", 1); });
            char byte = 0;
            EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
            await(writer);
            close(in);
            close(out);
        }
    });
}

TEST_F(HookedStream, ANumberThatWasClosedBehindOurBack) {
    in_runtime([] {
        char byte = 0;
        int number = -1;
        {
            auto [in, out] = blocking_pair();
            number = *in;
            EXPECT_EQ(hooked::write(*out, "x", 1), 1);
            EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
        }
        auto [in, out] = blocking_pipe();
        EXPECT_EQ(*in, number);
        EXPECT_EQ(hooked::write(*out, "x", 1), 1);
        EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
    });
}

TEST_F(HookedStream, DupOntoADescriptorWakesWhoWaits) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto [other, end] = blocking_pair();
        auto reader = spawn([fd = *in] {
            char byte = 0;
            EXPECT_EQ(hooked::read(fd, &byte, 1), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        EXPECT_EQ(hooked::dup2(*other, *in), *in);
        await(reader);
        EXPECT_EQ(hooked::write(*end, "x", 1), 1);
        char byte = 0;
        EXPECT_EQ(hooked::read(*in, &byte, 1), 1);
    });
}

TEST_F(HookedStream, OneOfSeveralReadersIsCancelled) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        int got = 0;
        const auto read_one = [&, fd = *in] {
            char byte = 0;
            got += hooked::read(fd, &byte, 1) == 1 ? 1 : 0;
        };
        auto first = spawn(read_one);
        auto second = spawn(read_one);
        auto third = spawn(read_one);
        suspend();
        second.cancel();
        EXPECT_EQ(hooked::write(*out, "ab", 2), 2);
        await(first);
        await(third);
        EXPECT_EQ(got, 2);
    });
}

// --- messages

TEST_F(HookedStream, MessagesAndDatagrams) {
    in_runtime([] {
        auto [in, out] = blocking_pair(SOCK_DGRAM);
        char buffer[16];
        sockaddr_storage from{};
        socklen_t length = sizeof(from);
        auto writer = spawn([fd = *out] {
            EXPECT_EQ(hooked::send(fd, "one", 3, 0), 3);
            EXPECT_EQ(hooked::sendto(fd, "two2", 4, 0, nullptr, 0), 4);
            char text[] = "three";
            iovec part{text, 5};
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            EXPECT_EQ(hooked::sendmsg(fd, &message, 0), 5);
        });
        EXPECT_EQ(hooked::recv(*in, buffer, sizeof(buffer), MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, EAGAIN);
        EXPECT_EQ(hooked::recv(*in, buffer, sizeof(buffer), 0), 3);
        EXPECT_EQ(hooked::recvfrom(*in, buffer, sizeof(buffer), 0, reinterpret_cast<sockaddr*>(&from), &length), 4);
        iovec part{buffer, sizeof(buffer)};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        EXPECT_EQ(hooked::recvmsg(*in, &message, 0), 5);
        await(writer);
    });
}

TEST_F(HookedStream, WaitAllGathersAll) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto writer = spawn([fd = *out] {
            for (int i = 0; i < 5; ++i) {
                hooked::write(fd, "ab", 2);
                suspend();
            }
        });
        char buffer[10];
        EXPECT_EQ(hooked::recv(*in, buffer, 10, MSG_WAITALL), 10);
        await(writer);
    });
}

}  // namespace
}  // namespace trueasync::testing
