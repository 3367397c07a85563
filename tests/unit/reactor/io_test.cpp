#include <trueasync/reactor/io.hpp>

#include <netinet/in.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <support/descriptors.hpp>
#include <support/threads.hpp>
#include <trueasync/reactor/system_error.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::testing {
namespace {

class Io : public BackendTest {
protected:
    /// What a request ends with: its bytes, or the name of its errno.
    static std::string outcome(const Ref<IoRequest>& request) {
        if (wait_for(*request) != WaitResult::Ready) {
            const Ref<Error> error = Scheduler::take_wait_error();
            return errno_name(SystemError::number_of(error.get()));
        }
        return std::string(request->text());
    }
};

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('a' + i * 7 % 26);
    }
    return text;
}

struct IoPair {
    Ref<IoEvent> first;
    Ref<IoEvent> second;
};

IoPair wrap(
    IoReactor& reactor, FdPair pair, IoKind kind, IoState first = IoState::Both, IoState second = IoState::Both
) {
    return {
        IoEvent::create(reactor, pair.first.release(), kind, first),
        IoEvent::create(reactor, pair.second.release(), kind, second)};
}

IoPair pipe_pair(IoReactor& reactor) {
    return wrap(reactor, make_pipe(), IoKind::Pipe, IoState::Readable, IoState::Writable);
}

TEST_P(Io, OneInterfaceForEveryKind) {
    in_runtime([&](IoReactor& reactor) {
        // [requests]
        auto exchange = [](IoEvent& from, IoEvent& to) {
            auto read = to.read(100);  // under way from here on
            auto write = from.write("hello");
            await(write);
            await(read);
            return std::string(read->text());
        };
        // [requests]
        auto pipe = pipe_pair(reactor);
        EXPECT_EQ(exchange(*pipe.second, *pipe.first), "hello");
        auto sockets = wrap(reactor, make_socketpair(), IoKind::Pipe);
        EXPECT_EQ(exchange(*sockets.first, *sockets.second), "hello");
        auto tcp = wrap(reactor, make_tcp_pair(), IoKind::Tcp);
        EXPECT_EQ(exchange(*tcp.first, *tcp.second), "hello");
        EXPECT_EQ(exchange(*tcp.second, *tcp.first), "hello");
        auto datagrams = wrap(reactor, make_socketpair(SOCK_DGRAM), IoKind::Udp);
        EXPECT_EQ(exchange(*datagrams.first, *datagrams.second), "hello");
        if (auto pty = make_pty(); *pty.first >= 0) {
            auto terminal = wrap(reactor, std::move(pty), IoKind::Tty);
            auto line = terminal.second->read(100);
            await(terminal.first->write("hello\n"));
            await(line);
            EXPECT_EQ(line->text(), "hello\n");
        }
    });
}

TEST_P(Io, WhatTheDescriptorIs) {
    const FdPair pipe = make_pipe();
    const FdPair unix_sockets = make_socketpair();
    const FdPair tcp = make_tcp_pair();
    const FdPair datagrams = make_socketpair(SOCK_DGRAM);
    const Fd file = make_file();
    EXPECT_EQ(IoEvent::kind_of(*pipe.first), IoKind::Pipe);
    EXPECT_EQ(IoEvent::kind_of(*unix_sockets.first), IoKind::Pipe);
    EXPECT_EQ(IoEvent::kind_of(*tcp.first), IoKind::Tcp);
    EXPECT_EQ(IoEvent::kind_of(*datagrams.first), IoKind::Udp);
    EXPECT_EQ(IoEvent::kind_of(*file), IoKind::File);
    if (const FdPair pty = make_pty(); *pty.first >= 0) {
        EXPECT_EQ(IoEvent::kind_of(*pty.second), IoKind::Tty);
    }
}

TEST_P(Io, ReadsAreServedInOrder) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        auto first = pipe.first->read(3);
        auto second = pipe.first->read(3);
        auto third = pipe.first->read(3);
        EXPECT_EQ(pipe.first->pending(), 3U);
        put(pipe.second->descriptor(), "abcdefgh");
        EXPECT_EQ(outcome(third), "gh");
        EXPECT_TRUE(first->is_completed() && second->is_completed());
        EXPECT_EQ(first->text(), "abc");
        EXPECT_EQ(second->text(), "def");
        EXPECT_EQ(pipe.first->pending(), 0U);
    });
}

TEST_P(Io, WhatIsThereIsReadAtOnce) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        put(pipe.second->descriptor(), "now");
        auto read = pipe.first->read(10);
        EXPECT_TRUE(read->is_completed());
        EXPECT_EQ(read->transferred(), 3U);
        await(read);
        await(read);  // late comers too
        EXPECT_EQ(read->text(), "now");
        EXPECT_EQ(read->error(), nullptr);
    });
}

TEST_P(Io, AWriteIsDoneWhenAllOfItIs) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const std::string data = pattern(1 << 20);
        auto write = pipe.second->write(data);
        auto after = pipe.second->write("!");
        EXPECT_FALSE(write->is_completed());
        EXPECT_GT(write->transferred(), 0U);
        std::string got;
        while (got.size() < data.size() + 1) {
            auto read = pipe.first->read(70000);
            await(read);
            got += read->text();
        }
        EXPECT_TRUE(got == data + "!");
        await(after);
        EXPECT_TRUE(write->is_completed());
        EXPECT_EQ(write->transferred(), data.size());
    });
}

TEST_P(Io, TheEndOfAStream) {
    in_runtime([&](IoReactor& reactor) {
        auto tcp = wrap(reactor, make_tcp_pair(), IoKind::Tcp);
        await(tcp.first->write("last"));
        ::shutdown(tcp.first->descriptor(), SHUT_WR);
        EXPECT_EQ(outcome(tcp.second->read(100)), "last");
        EXPECT_FALSE(tcp.second->is(IoState::Eof));
        auto end = tcp.second->read(100);
        EXPECT_EQ(outcome(end), "");
        EXPECT_EQ(end->transferred(), 0U);
        EXPECT_TRUE(tcp.second->is(IoState::Eof));
        await(tcp.second->write("half open"));  // the other direction goes on
        EXPECT_EQ(outcome(tcp.first->read(100)), "half open");
    });
}

TEST_P(Io, AReaderThatHasGone) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        auto big = pipe.second->write(pattern(1 << 20));
        pipe.first->close_descriptor();
        EXPECT_EQ(outcome(big), "EPIPE");
        EXPECT_GT(big->transferred(), 0U);
        EXPECT_EQ(outcome(pipe.second->write("x")), "EPIPE");
    });
}

TEST_P(Io, AConnectionThatIsReset) {
    in_runtime([&](IoReactor& reactor) {
        auto tcp = wrap(reactor, make_tcp_pair(), IoKind::Tcp);
        auto read = tcp.first->read(100);
        const linger now{1, 0};
        ::setsockopt(tcp.second->descriptor(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        tcp.second->close_descriptor();
        EXPECT_EQ(outcome(read), "ECONNRESET");
    });
}

TEST_P(Io, DatagramsKnowWhereTheyComeFrom) {
    in_runtime([&](IoReactor& reactor) {
        auto open = [&](SocketAddress& address) {
            const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
            address = SocketAddress::loopback(0);
            EXPECT_EQ(::bind(fd, address.data(), address.size()), 0);
            socklen_t size = SocketAddress::capacity();
            ::getsockname(fd, address.buffer(), &size);
            return IoEvent::create(reactor, fd, IoKind::Udp);
        };
        SocketAddress here;
        SocketAddress there;
        auto receiver = open(here);
        auto sender = open(there);
        auto first = receiver->read(100);
        auto second = receiver->read(2);
        auto third = receiver->read(100);
        await(sender->send_to(std::as_bytes(std::span("one", 3)), here));
        await(sender->send_to(std::as_bytes(std::span("two", 3)), here));
        await(sender->send_to({}, here));
        EXPECT_EQ(outcome(first), "one");
        EXPECT_EQ(first->address(), there);
        EXPECT_EQ(outcome(second), "tw");
        EXPECT_EQ(outcome(third), "");
        EXPECT_FALSE(receiver->is(IoState::Eof));
        EXPECT_EQ(outcome(sender->write("to whom?")), "EDESTADDRREQ");
    });
}

TEST_P(Io, FilesHaveAPosition) {
    in_runtime([&](IoReactor& reactor) {
        auto file = IoEvent::create(reactor, make_file("0123456789").release(), IoKind::File);
        auto first = file->read(4);
        auto second = file->read(4);
        auto third = file->read(4);
        EXPECT_EQ(file->position(), 0U);
        EXPECT_EQ(outcome(third), "89");
        EXPECT_EQ(first->text(), "0123");
        EXPECT_EQ(second->text(), "4567");
        EXPECT_EQ(file->position(), 10U);
        EXPECT_EQ(outcome(file->read(4)), "");
        EXPECT_TRUE(file->is(IoState::Eof));
        await(file->write("ab"));
        file->seek(8);
        EXPECT_EQ(outcome(file->read(100)), "89ab");
        EXPECT_FALSE(file->is(IoState::Eof));
        EXPECT_EQ(outcome(file->read_at(2, 3)), "234");
        await(file->write_at(3, "xyz"));
        EXPECT_EQ(file->position(), 12U);
        EXPECT_EQ(outcome(file->read_at(0, 100)), "012xyz6789ab");
    });
}

TEST_P(Io, AppendWritesAtTheEnd) {
    in_runtime([&](IoReactor& reactor) {
        const IoState state = IoState::Both | IoState::Append;
        auto file = IoEvent::create(reactor, make_file("start").release(), IoKind::File, state);
        auto first = file->write("+one");
        auto second = file->write("+two");
        await(second);
        EXPECT_EQ(outcome(file->read(100)), "start+one+two");
        EXPECT_EQ(first->transferred(), 4U);
    });
}

TEST_P(Io, Refusals) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        EXPECT_EQ(outcome(pipe.first->write("x")), "EBADF");
        EXPECT_EQ(outcome(pipe.second->read(1)), "EBADF");
        EXPECT_EQ(outcome(pipe.first->read_at(3, 1)), "ESPIPE");
        EXPECT_EQ(outcome(pipe.second->send_to({}, SocketAddress::loopback(1))), "EDESTADDRREQ");
        EXPECT_EQ(outcome(pipe.first->read(SIZE_MAX / 4)), "ENOMEM");
        EXPECT_EQ(outcome(IoEvent::create(reactor, 9999, IoKind::Pipe)->read(1)), "EBADF");
        EXPECT_EQ(outcome(IoEvent::create(reactor, 9999, IoKind::File)->read(1)), "EBADF");
        auto full = IoEvent::create(reactor, ::open("/dev/full", O_RDWR), IoKind::File);
        auto write = full->write("x");
        EXPECT_EQ(outcome(write), "ENOSPC");
        EXPECT_EQ(
            write->error()->message(),
            "write 1 bytes of fd " + std::to_string(full->descriptor()) + ": ENOSPC (no space left on device)"
        );
    });
}

TEST_P(Io, ClosingEndsWhatIsUnderWay) {
    in_runtime([&](IoReactor& reactor) {
        auto tcp = wrap(reactor, make_tcp_pair(), IoKind::Tcp);
        auto read = tcp.first->read(10);
        auto write = tcp.first->write(pattern(16 << 20));
        const int number = tcp.first->descriptor();
        auto waiter = spawn([&] { await(tcp.first); });
        suspend();
        EXPECT_FALSE(write->is_completed());
        tcp.first->close_descriptor();
        tcp.first->close_descriptor();
        EXPECT_EQ(outcome(read), "ECANCELED");
        EXPECT_EQ(outcome(write), "ECANCELED");
        await(waiter);
        await(tcp.first);
        EXPECT_TRUE(tcp.first->is(IoState::Closed));
        EXPECT_EQ(tcp.first->descriptor(), -1);
        EXPECT_EQ(::fcntl(number, F_GETFD), -1);
        EXPECT_EQ(outcome(tcp.first->read(1)), "EBADF");
        EXPECT_EQ(
            read->error()->message().substr(0, 20 + std::to_string(number).size()),
            "read 10 bytes of fd " + std::to_string(number)
        );
    });
}

TEST_P(Io, Information) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const std::string number = std::to_string(pipe.first->descriptor());
        EXPECT_EQ(pipe.first->info(), "Io(PIPE, fd=" + number + ")");
        auto read = pipe.first->read(4096);
        EXPECT_EQ(read->info(), "IoRequest(READ 4096 of fd " + number + ")");
        pipe.first->close_descriptor();
        EXPECT_EQ(pipe.first->info(), "Io(PIPE, fd=" + number + ", closed)");
        EXPECT_EQ(read->info(), "IoRequest(READ 4096 of fd " + number + ", failed)");
    });
}

ON_BOTH_BACKENDS(Io);

}  // namespace
}  // namespace trueasync::testing
