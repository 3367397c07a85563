#include <support/hooked.hpp>

#include <netinet/tcp.h>
#include <sys/eventfd.h>
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

// --- reads that end before what there is does

FdPair tcp_pair() {
    Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(*listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(*listener, 1), 0);
    EXPECT_EQ(::getsockname(*listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    Fd client(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(*client, reinterpret_cast<sockaddr*>(&address), size), 0);
    return {Fd(::accept(*listener, nullptr, nullptr)), std::move(client)};
}

/// From then on the reactor knows it.
void wait_once(int in, int out) {
    auto writer = spawn([out] { EXPECT_EQ(hooked::write(out, "x", 1), 1); });
    char buffer[16];
    EXPECT_EQ(hooked::read(in, buffer, sizeof(buffer)), 1);
    await(writer);
}

void expect_read(int fd, std::string_view expected) {
    char buffer[100];
    const ssize_t count = hooked::recv(fd, buffer, sizeof(buffer), 0);
    EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0))), expected);
}

void expect_more(int fd) {
    bool has_waited = false;
    auto other = spawn([&] { has_waited = true; });
    pollfd one{fd, POLLIN, 0};
    EXPECT_EQ(hooked::poll(&one, 1, 1000), 1);
    EXPECT_FALSE(has_waited) << "for what is there already";
    await(other);
}

void send_descriptor(int to, const char* text) {
    iovec part{const_cast<char*>(text), std::strlen(text)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &to, sizeof(to));
    EXPECT_EQ(hooked::sendmsg(to, &message, 0), static_cast<ssize_t>(part.iov_len));
}

TEST_F(HookedStream, AReadThatEndsAtUrgentDataIsNotTheLast) {
    in_runtime([] {
        auto [in, out] = tcp_pair();
        wait_once(*in, *out);
        EXPECT_EQ(hooked::send(*out, "abcU", 4, MSG_OOB), 4);
        EXPECT_EQ(hooked::send(*out, "def", 3, 0), 3);
        hooked::usleep(1000);
        expect_read(*in, "abc");
        expect_more(*in);
        expect_read(*in, "def");
    });
}

TEST_F(HookedStream, AReadThatEndsWithAMessageIsNotTheLast) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const int on = 1;
        ASSERT_EQ(hooked::setsockopt(*in, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
        wait_once(*in, *out);
        const pid_t child = ::fork();
        if (child == 0) {
            ::write(*out, "child", 5);
            ::_exit(0);
        }
        EXPECT_EQ(::waitpid(child, nullptr, 0), child);
        EXPECT_EQ(hooked::write(*out, "parent", 6), 6);
        hooked::usleep(1000);
        expect_read(*in, "child");
        expect_more(*in);
        expect_read(*in, "parent");
    });
    in_runtime([] {
        auto [in, out] = blocking_pair();
        wait_once(*in, *out);
        send_descriptor(*out, "A");
        EXPECT_EQ(hooked::write(*out, "BC", 2), 2);
        hooked::usleep(1000);
        expect_read(*in, "A");
        expect_more(*in);
        expect_read(*in, "BC");
    });
}

TEST_F(HookedStream, AShortReadOfAnOrdinaryConnectionIsTheLast) {
    in_runtime([] {
        auto [in, out] = tcp_pair();
        wait_once(*in, *out);
        EXPECT_FALSE(any(Scheduler::current()->reactor().io()->readiness(*in) & PollMask::Readable));
    });
}

// --- devices

TEST_F(HookedStream, AnEventDescriptorWithoutRoom) {
    in_runtime([] {
        Fd event(::eventfd(0, 0));
        std::uint64_t value = 0xfffffffffffffff0;
        EXPECT_EQ(hooked::write(*event, &value, sizeof(value)), 8);
        auto reader = spawn([fd = *event] {
            std::uint64_t all = 0;
            EXPECT_EQ(hooked::read(fd, &all, sizeof(all)), 8);
        });
        value = 0x100;
        EXPECT_EQ(suspending([&] { return hooked::write(*event, &value, sizeof(value)); }), 8);
        EXPECT_EQ(::fcntl(*event, F_GETFL) & O_NONBLOCK, 0);
        await(reader);
        close(event);
    });
}

TEST_F(HookedStream, ADeviceThatNeverSaysThatItHasRoom) {
    Fd log(::open("/dev/kmsg", O_WRONLY));
    if (*log < 0) {
        GTEST_SKIP() << "no /dev/kmsg";
    }
    in_runtime([&] {
        constexpr std::string_view kText = "<7>trueasync: a test of writing to a device\n";
        EXPECT_EQ(hooked::write(*log, kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
        close(log);
    });
}

// --- between descriptors

TEST_F(HookedStream, SendfileToAPipeMovesWhatThereIsRoomFor) {
    in_runtime([] {
        char name[] = "/tmp/trueasync-sendfile-XXXXXX";
        Fd file(::mkstemp(name));
        ::unlink(name);
        ASSERT_EQ(::ftruncate(*file, 1 << 20), 0);
        auto [in, out] = blocking_pipe();
        const ssize_t moved = hooked::sendfile(*out, *file, nullptr, 1 << 20);
        EXPECT_GT(moved, 0);
        EXPECT_LT(moved, 1 << 20);
        EXPECT_EQ(::lseek(*file, 0, SEEK_CUR), moved);
        std::string buffer(1 << 20, '\0');
        auto reader = spawn([&, fd = *in] { EXPECT_EQ(hooked::read(fd, buffer.data(), buffer.size()), moved); });
        off_t offset = 10;
        EXPECT_EQ(suspending([&, fd = *out] { return hooked::sendfile(fd, *file, &offset, 100); }), 100);
        EXPECT_EQ(offset, 110);
        await(reader);
    });
}

TEST_F(HookedStream, SendfileAndSpliceWaitForWhatComes) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        auto [read_end, write_end] = blocking_pipe();
        auto first = spawn([fd = *out] { EXPECT_EQ(hooked::write(fd, "hello", 5), 5); });
        EXPECT_EQ(suspending([&, to = *write_end, from = *in] { return hooked::sendfile(to, from, nullptr, 100); }), 5);
        await(first);
        auto [other_in, other_out] = blocking_pipe();
        EXPECT_EQ(hooked::splice(*read_end, nullptr, *other_out, nullptr, 100, 0), 5);
        auto second = spawn([fd = *write_end] { EXPECT_EQ(hooked::write(fd, "more", 4), 4); });
        EXPECT_EQ(
            suspending([&, from = *read_end, to = *other_out] {
                return hooked::splice(from, nullptr, to, nullptr, 100, 0);
            }),
            4
        );
        await(second);
        char buffer[16];
        EXPECT_EQ(hooked::read(*other_in, buffer, sizeof(buffer)), 9);
        auto third = spawn([fd = *other_out] { EXPECT_EQ(hooked::write(fd, "!", 1), 1); });
        const iovec part{buffer, sizeof(buffer)};
        EXPECT_EQ(suspending([&, fd = *other_in] { return hooked::preadv2(fd, &part, 1, -1, 0); }), 1);
        await(third);
    });
}

// --- messages

TEST_F(HookedStream, SpliceNoticesThatTheOtherEndIsClosed) {
    in_runtime([] {
        for (const bool is_full : {false, true}) {
            auto [source, feed] = blocking_pipe();
            auto [in, out] = blocking_pipe();
            set_nonblocking(*feed);
            set_nonblocking(*out);
            const std::string much(1 << 20, 'x');
            if (is_full) {
                EXPECT_GT(::write(*feed, much.data(), much.size()), 0);
                EXPECT_GT(::write(*out, much.data(), much.size()), 0);
            }
            ::fcntl(*out, F_SETFL, O_WRONLY);
            bool is_done = false;
            auto mover = spawn([&, from = *source, to = *out] {
                EXPECT_EQ(hooked::splice(from, nullptr, to, nullptr, 100, 0), -1);
                EXPECT_EQ(errno, EBADF);
                is_done = true;
            });
            suspend();
            close(is_full ? source : out);
            for (int i = 0; i < 100 && !is_done; ++i) {
                hooked::usleep(1000);
            }
            EXPECT_TRUE(is_done);
            feed.close();  // rescues who waits for ever
            in.close();
            await(mover);
        }
    });
}

TEST_F(HookedStream, SpliceWaitsForItsSourceWhenItsTargetHasEnded) {
    in_runtime([] {
        auto [source, feed] = blocking_pipe();
        auto [in, out] = blocking_pair();
        ASSERT_EQ(::shutdown(*in, SHUT_WR), 0);
        auto mover =
            spawn([&, from = *source, to = *out] { EXPECT_EQ(hooked::splice(from, nullptr, to, nullptr, 100, 0), 3); });
        hooked::usleep(1000);
        EXPECT_EQ(hooked::write(*feed, "abc", 3), 3);
        await(mover);
    });
}

TEST_F(HookedStream, ErrorsAndUrgentDataAreThereOrNot) {
    in_runtime([] {
        auto [in, out] = tcp_pair();
        msghdr message{};
        EXPECT_EQ(hooked::recvmsg(*in, &message, MSG_ERRQUEUE), -1);
        EXPECT_EQ(errno, EAGAIN);
        char byte = 0;
        EXPECT_EQ(hooked::recv(*in, &byte, 1, MSG_OOB), -1);
        EXPECT_EQ(errno, EINVAL);
    });
}

TEST_F(HookedStream, ALimitBelowZeroIsNoTimeAtAll) {
    in_runtime([] {
        auto [in, out] = tcp_pair();
        const timeval limit{-1, 0};
        ASSERT_EQ(hooked::setsockopt(*in, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
        char byte = 0;
        EXPECT_EQ(hooked::recv(*in, &byte, 1, 0), -1);
        EXPECT_EQ(errno, EAGAIN);
        const timeval endless{INT64_MAX / 1000, 0};
        ASSERT_EQ(hooked::setsockopt(*in, SOL_SOCKET, SO_RCVTIMEO, &endless, sizeof(endless)), 0);
        wait_once(*in, *out);
    });
}

TEST_F(HookedStream, WrongPointersAreTold) {
    in_runtime([] {
        auto [in, out] = blocking_pair();
        const volatile std::uintptr_t wrong = 8;
        EXPECT_EQ(hooked::sendmsg(*out, nullptr, 0), -1);
        EXPECT_EQ(errno, EFAULT);
        EXPECT_EQ(hooked::readv(*in, reinterpret_cast<const iovec*>(std::uintptr_t{wrong}), 1), -1);
        EXPECT_EQ(errno, EFAULT);
    });
}

TEST_F(HookedStream, AnAddressMakesNoDifferenceToAConnection) {
    in_runtime([] {
        auto [in, out] = tcp_pair();
        sockaddr_in address{};
        socklen_t size = sizeof(address);
        ASSERT_EQ(::getpeername(*out, reinterpret_cast<sockaddr*>(&address), &size), 0);
        const std::string sent(16 << 20, 'x');
        auto reader = spawn([fd = *in, total = sent.size()] {
            std::string buffer(1 << 20, '\0');
            for (std::size_t sum = 0; sum < total;) {
                const ssize_t count = hooked::read(fd, buffer.data(), buffer.size());
                ASSERT_GT(count, 0);
                sum += static_cast<std::size_t>(count);
            }
        });
        EXPECT_EQ(
            hooked::sendto(*out, sent.data(), sent.size(), 0, reinterpret_cast<sockaddr*>(&address), size),
            static_cast<ssize_t>(sent.size())
        );
        await(reader);
    });
}

TEST_F(HookedStream, AConnectionMayBeginWithData) {
    in_runtime([] {
        Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
        ASSERT_EQ(::listen(*listener, 2), 0);
        sockaddr_in address{};
        socklen_t size = sizeof(address);
        ASSERT_EQ(::getsockname(*listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        Fd one(::socket(AF_INET, SOCK_STREAM, 0));
        const ssize_t sent =
            hooked::sendto(*one, "hello", 5, MSG_FASTOPEN, reinterpret_cast<sockaddr*>(&address), size);
        if (sent < 0 && errno == EOPNOTSUPP) {
            GTEST_SKIP() << "no TCP fast open";
        }
        EXPECT_EQ(sent, 5) << errno;
        Fd two(::socket(AF_INET, SOCK_STREAM, 0));
        const int on = 1;
        ASSERT_EQ(::setsockopt(*two, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)), 0);
        EXPECT_EQ(hooked::connect(*two, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(hooked::write(*two, "hello", 5), 5) << errno;
        for (int i = 0; i < 2; ++i) {
            Fd served(hooked::accept(*listener, nullptr, nullptr));
            expect_read(*served, "hello");
        }
        set_nonblocking(*listener);
        Fd three(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        EXPECT_EQ(hooked::sendto(*three, "hello", 5, MSG_FASTOPEN, reinterpret_cast<sockaddr*>(&address), size), -1);
        EXPECT_EQ(errno, EINPROGRESS);
    });
}

TEST_F(HookedStream, ManyMessagesAtOnce) {
    in_runtime([] {
        auto [in, out] = blocking_pair(SOCK_DGRAM);
        char buffers[2][8] = {};
        iovec parts[2] = {{buffers[0], 8}, {buffers[1], 8}};
        mmsghdr messages[2] = {};
        for (int i = 0; i < 2; ++i) {
            messages[i].msg_hdr.msg_iov = &parts[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        auto writer = spawn([fd = *out] {
            EXPECT_EQ(hooked::write(fd, "one", 3), 3);
            suspend();
            EXPECT_EQ(hooked::write(fd, "three", 5), 5);
        });
        EXPECT_EQ(suspending([&, fd = *in] { return hooked::recvmmsg(fd, messages, 2, 0, nullptr); }), 2);
        EXPECT_EQ(messages[0].msg_len, 3U);
        EXPECT_EQ(messages[1].msg_len, 5U);
        EXPECT_STREQ(buffers[1], "three");
        await(writer);
        EXPECT_EQ(hooked::sendmmsg(*out, messages, 2, 0), 2);
        EXPECT_EQ(hooked::recvmmsg(*in, messages, 2, MSG_WAITFORONE, nullptr), 2);
        EXPECT_EQ(hooked::recvmmsg(*in, messages, 2, MSG_DONTWAIT, nullptr), -1);
        EXPECT_EQ(errno, EAGAIN);
    });
}

}  // namespace
}  // namespace trueasync::testing
