#include <trueasync/reactor/io.hpp>

#include <netinet/in.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <support/io_requests.hpp>
#include <support/threads.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

class Io : public IoRequestTest {};

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('a' + i * 7 % 26);
    }
    return text;
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

TEST_P(Io, Refusals) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        EXPECT_EQ(outcome(pipe.first->write("x")), "EBADF");
        EXPECT_EQ(outcome(pipe.second->read(1)), "EBADF");
        EXPECT_EQ(outcome(pipe.first->read_at(3, 1)), "ESPIPE");
        EXPECT_EQ(outcome(pipe.second->send_to({}, SocketAddress::loopback(1))), "EDESTADDRREQ");
#if !defined(TA_ASAN) && !defined(TA_TSAN)  // these take such a wish for an error
        EXPECT_EQ(outcome(pipe.first->read(SIZE_MAX / 4)), "ENOMEM");
#endif
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

// --- requests that are taken back

TEST_P(Io, ACancelledReadHasTakenNothing) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        auto first = pipe.first->read(10);
        auto second = pipe.first->read(10);
        auto waiter = spawn([&] { return outcome(first); });
        suspend();
        first->cancel();
        first->cancel();
        EXPECT_EQ(await(waiter), "ECANCELED");
        EXPECT_EQ(first->transferred(), 0U);
        put(pipe.second->descriptor(), "kept");
        EXPECT_EQ(outcome(second), "kept");
        second->cancel();  // too late, does nothing
        EXPECT_EQ(second->error(), nullptr);
        EXPECT_EQ(second->text(), "kept");
    });
}

TEST_P(Io, AWaiterThatLeavesDoesNotDisturb) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        auto read = pipe.first->read(10);
        auto first = spawn([&] { return outcome(read); });
        auto second = spawn([&] { return outcome(read); });
        suspend();
        first.cancel();
        EXPECT_EQ(wait_for(*read, Deadline::after(1ms)), WaitResult::TimedOut);
        put(pipe.second->descriptor(), "both");
        EXPECT_EQ(await(second), "both");
    });
}

TEST_P(Io, BytesThatNobodySawGoBack) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        put(pipe.second->descriptor(), "abcdefghij");
        auto first = pipe.first->read(4);
        auto second = pipe.first->read(4);
        EXPECT_TRUE(first->is_completed() && second->is_completed());
        first.reset();
        second.reset();
        auto piece = pipe.first->read(2);
        EXPECT_EQ(piece->transferred(), 2U);
        piece.reset();
        EXPECT_EQ(outcome(pipe.first->read(2)), "ab");
        EXPECT_EQ(outcome(pipe.first->read(100)), "cd");
        EXPECT_EQ(outcome(pipe.first->read(100)), "efgh");
        EXPECT_EQ(outcome(pipe.first->read(100)), "ij");
        auto waiting = pipe.first->read(100);
        put(pipe.second->descriptor(), "end");
        EXPECT_EQ(outcome(waiting), "end");
    });
}

TEST_P(Io, BytesThatGoBackServeWhoWaits) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        put(pipe.second->descriptor(), "late");
        auto done = pipe.first->read(100);
        auto waiting = pipe.first->read(100);
        EXPECT_FALSE(waiting->is_completed());
        done.reset();
        EXPECT_TRUE(waiting->is_completed());
        EXPECT_EQ(waiting->text(), "late");
    });
}

TEST_P(Io, WhatIsEarlierThanWhatWasSeenDoesNotGoBack) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        put(pipe.second->descriptor(), "abcdef");
        auto first = pipe.first->read(3);
        auto second = pipe.first->read(3);
        EXPECT_EQ(second->text(), "def");
        first.reset();
        put(pipe.second->descriptor(), "ghi");
        EXPECT_EQ(outcome(pipe.first->read(100)), "ghi");
    });
}

TEST_P(Io, ADatagramGoesBackWhole) {
    in_runtime([&](IoReactor& reactor) {
        auto pair = wrap(reactor, make_socketpair(SOCK_DGRAM), IoKind::Udp);
        await(pair.first->write("one"));
        await(pair.first->write("two"));
        pair.second->read(100).reset();
        EXPECT_EQ(outcome(pair.second->read(100)), "one");
        EXPECT_EQ(outcome(pair.second->read(100)), "two");
    });
}

TEST_P(Io, AWriteThatIsCancelledSaysHowFarItGot) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const std::string data = pattern(1 << 20);
        auto write = pipe.second->write(data);
        auto next = pipe.second->write("|next");
        write->cancel();
        EXPECT_EQ(outcome(write), "ECANCELED");
        const std::size_t moved = write->transferred();
        EXPECT_GT(moved, 0U);
        EXPECT_LT(moved, data.size());
        std::string got;
        while (got.size() < moved + 5) {
            auto read = pipe.first->read(70000);
            await(read);
            got += read->text();
        }
        EXPECT_TRUE(got == data.substr(0, moved) + "|next");
    });
}

TEST_P(Io, RandomCancellationsLoseNoByte) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    in_runtime([&](IoReactor& reactor) {
        auto tcp = wrap(reactor, make_tcp_pair(), IoKind::Tcp);
        const std::string data = pattern(20000);
        auto writer = spawn([&] {
            for (std::size_t sent = 0; sent < data.size();) {
                const std::size_t size = std::min<std::size_t>(1 + random() % 100, data.size() - sent);
                await(tcp.first->write(std::string_view(data).substr(sent, size)));
                sent += size;
                suspend();
            }
        });
        std::string got;
        while (got.size() < data.size()) {
            auto reader = spawn([&] {
                auto read = tcp.second->read(1 + random() % 100);
                await(read);
                got += read->text();
            });
            for (std::uint32_t turns = random() % 4; turns != 0; --turns) {
                suspend();
            }
            if (random() % 2 == 0) {
                reader.cancel();
            }
            try {
                await(reader, 5s);
            } catch (const Cancellation&) {}
        }
        EXPECT_TRUE(got == data);
        await(writer);
        EXPECT_EQ(tcp.second->pending(), 0U);
    });
}

// --- from inside callbacks

class Act final : public Callback {
public:
    explicit Act(std::function<void()> action) : action_(std::move(action)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { action_(); }

private:
    std::function<void()> action_;
};

TEST_P(Io, EverythingMayBeDoneInACallback) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const int number = pipe.first->descriptor();
        auto first = pipe.first->read(1);
        auto second = pipe.first->read(1);
        Ref<IoRequest> third;
        const auto on_first = Ref<Act>::adopt(new Act([&] {
            first.reset();
            third = pipe.first->read(1);
        }));
        ASSERT_TRUE(first->add_callback(*on_first));
        ASSERT_TRUE(first->start());
        const auto on_second = Ref<Act>::adopt(new Act([&] {
            pipe.first->close_descriptor();
            pipe.first.reset();
            second.reset();
        }));
        ASSERT_TRUE(second->add_callback(*on_second));
        ASSERT_TRUE(second->start());
        put(pipe.second->descriptor(), "abc");
        EXPECT_TRUE(eventually([&] {
            suspend();
            return second == nullptr;
        }));
        EXPECT_EQ(first, nullptr);
        EXPECT_EQ(outcome(third), "ECANCELED");
        EXPECT_EQ(::fcntl(number, F_GETFD), -1);
    });
}

TEST_P(Io, AHandlerMayKeepTheEndToItself) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        auto read = pipe.first->read(10);
        read->set_notify_handler([](Event&, void*&, Error*&) { return Event::Notify::Stop; });
        ASSERT_TRUE(read->start());
        put(pipe.second->descriptor(), "x");
        EXPECT_TRUE(eventually([&] {
            suspend();
            return read->is_completed();
        }));
        EXPECT_EQ(code_of([&] { await(read); }), ErrorCode::EventClosed);
        EXPECT_EQ(read->text(), "x");
    });
}

TEST_P(Io, MoreRequestsThanOneTurnServes) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const std::string data = pattern(500);
        std::vector<Ref<IoRequest>> reads;
        for (std::size_t i = 0; i < data.size(); ++i) {
            reads.push_back(pipe.first->read(1));
        }
        put(pipe.second->descriptor(), data);
        std::string got;
        for (auto& read : reads) {
            got += outcome(read);
        }
        EXPECT_EQ(got, data);
    });
}

// --- ends

TEST_P(Io, TheOtherSideOfATerminalGoes) {
    auto pty = make_pty();
    if (*pty.first < 0) {
        GTEST_SKIP() << "no terminals here";
    }
    in_runtime([&](IoReactor& reactor) {
        auto terminal = wrap(reactor, std::move(pty), IoKind::Tty);
        auto read = terminal.first->read(10);
        terminal.second->close_descriptor();
        EXPECT_EQ(outcome(read), "");
        EXPECT_TRUE(terminal.first->is(IoState::Eof));
    });
}

TEST_P(Io, ADescriptorThatSomebodyElseCloses) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        const int number = pipe.first->descriptor();
        auto read = pipe.first->read(10);
        reactor.descriptor_closing(number);
        EXPECT_EQ(outcome(read), "ECANCELED");
        EXPECT_TRUE(pipe.first->is(IoState::Closed));
        EXPECT_EQ(::fcntl(number, F_GETFD), 0) << "it is closed by who said so";
        ::close(number);
    });
}

TEST_P(Io, MayOutliveTheRuntime) {
    IoPair pipe;
    Ref<IoRequest> read;
    Ref<IoRequest> file_read;
    Ref<IoEvent> file;
    int number = -1;
    in_runtime([&](IoReactor& reactor) {
        pipe = pipe_pair(reactor);
        number = pipe.first->descriptor();
        read = pipe.first->read(10);
        file = IoEvent::create(reactor, make_file().release(), IoKind::File);
        file_read = file->read(10);
    });
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
    EXPECT_TRUE(read->is_closed());
    EXPECT_FALSE(read->is_completed());
    EXPECT_NE(read->start().error()->message().find("the runtime has ended"), std::string::npos);
    auto late = pipe.second->write("x");
    EXPECT_FALSE(late->is_completed());
    EXPECT_NE(late->start().error()->message().find("the runtime has ended"), std::string::npos);
    read.reset();
    EXPECT_TRUE(eventually([&] { return WorkLane::file().stats().running == 0; }));
}

TEST_P(Io, AnErrorThatNobodySawIsReported) {
    in_runtime([&](IoReactor& reactor) {
        auto pipe = pipe_pair(reactor);
        pipe.first->close_descriptor();
        pipe.second->write("x").reset();
        auto seen = pipe.second->write("x");
        EXPECT_NE(seen->error(), nullptr);
        seen.reset();
        pipe.second->read(1)->error();
    });
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_NE(sink.unhandled[0].find("EPIPE"), std::string::npos);
}

TEST_P(Io, WaitingForTheEndOfAHandleIsNoReasonToGoOn) {
    EXPECT_THROW(
        in_runtime([&](IoReactor& reactor) {
            auto pipe = pipe_pair(reactor);
            await(pipe.first);
        }),
        DeadlockError
    );
}

ON_BOTH_BACKENDS(Io);

}  // namespace
}  // namespace trueasync::testing
