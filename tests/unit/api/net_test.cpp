#include <trueasync/api/net.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <support/descriptors.hpp>

namespace trueasync::testing {
namespace {

class Net : public BackendTest {};

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('a' + i * 7 % 26);
    }
    return text;
}

int number_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const IoError& error) {
        return error.number();
    }
    return 0;
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const AsyncError& error) {
        return error.what();
    }
    return {};
}

TEST_P(Net, TcpConnectAcceptReadWrite) {
    in_runtime([](IoReactor&) {
        /// [echo]
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto server = spawn([&] {
            TcpStream client = listener.accept();
            std::array<char, 1024> buffer;
            while (const std::size_t count = client.read(buffer)) {
                client.write(std::string_view(buffer.data(), count));
            }
        });
        auto stream = TcpStream::connect(listener.local());
        stream.write("hello");
        stream.shutdown_write();
        const std::string answer = stream.read_all();
        /// [echo]
        EXPECT_EQ(answer, "hello");
        await(server);
    });
}

TEST_P(Net, ByNameAndWhoIsWhere) {
    in_runtime([](IoReactor&) {
        auto listener = TcpListener::bind("127.0.0.1:0");
        SocketAddress from;
        auto server = spawn([&] {
            auto client = listener.accept(&from);
            EXPECT_EQ(client.local(), listener.local());
            client.write("by name");
        });
        auto stream = TcpStream::connect("localhost", listener.local().port());
        EXPECT_EQ(stream.peer(), listener.local());
        EXPECT_EQ(stream.read_all(), "by name");
        EXPECT_EQ(from, stream.local());
        await(server);
    });
}

TEST_P(Net, MegabytesArriveWholeThoughBothSidesAreSlow) {
    in_runtime([](IoReactor&) {
        const std::string sent = pattern(8 << 20);
        auto [left, right] = UnixStream::pair();
        auto writer = spawn([&, &left = left] {
            left.write(sent);
            left.close();
        });
        std::string received;
        std::array<char, 1000> small;
        while (const std::size_t count = right.read(small)) {
            received.append(small.data(), count);
            if (received.size() % 97 == 0) {
                suspend();
            }
        }
        EXPECT_EQ(received.size(), sent.size());
        EXPECT_TRUE(received == sent);
        await(writer);
    });
}

TEST_P(Net, ManyClientsAtOnce) {
    in_runtime([](IoReactor&) {
        constexpr int kClients = 200;
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto server = spawn([&] {
            std::vector<Handle<void>> serving;
            for (int i = 0; i < kClients; ++i) {
                serving.push_back(spawn([client = std::make_shared<TcpStream>(listener.accept())] {
                    std::array<char, 64> buffer;
                    while (const std::size_t count = client->read(buffer)) {
                        client->write(std::string_view(buffer.data(), count));
                    }
                }));
            }
            for (auto& one : serving) {
                await(one);
            }
        });
        std::vector<Handle<void>> clients;
        for (int i = 0; i < kClients; ++i) {
            clients.push_back(spawn([&, i] {
                auto stream = TcpStream::connect(listener.local());
                for (int round = 0; round < 5; ++round) {
                    const std::string text = "client " + std::to_string(i) + " round " + std::to_string(round);
                    stream.write(text);
                    std::string answer(text.size(), '\0');
                    stream.read_exactly(std::span(answer));
                    EXPECT_EQ(answer, text);
                }
            }));
        }
        for (auto& one : clients) {
            await(one);
        }
        await(server);
    });
}

TEST_P(Net, RefusedConnectionSaysWhatWasAttempted) {
    in_runtime([](IoReactor&) {
        SocketAddress gone;
        {
            auto listener = TcpListener::bind("127.0.0.1:0");
            gone = listener.local();
        }
        const std::string text = message_of([&] { TcpStream::connect(gone); });
        EXPECT_NE(text.find("connect " + gone.to_string() + ": ECONNREFUSED"), std::string::npos) << text;
        EXPECT_EQ(number_of([&] { TcpStream::connect("127.0.0.1", gone.port()); }), ECONNREFUSED);
    });
}

TEST_P(Net, DeadlinesEndEveryCall) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        std::array<char, 16> buffer;
        EXPECT_THROW(left.read(buffer, 1ms), TimeoutError);
        EXPECT_THROW(left.read(buffer, timeout(1ms)), TimeoutError);
        EXPECT_THROW(left.read_exactly(std::span(buffer), 1ms), TimeoutError);
        EXPECT_THROW(left.write(pattern(8 << 20), 1ms), TimeoutError);
        auto listener = TcpListener::bind("127.0.0.1:0");
        EXPECT_THROW(listener.accept(nullptr, 1ms), TimeoutError);
        auto udp = UdpSocket::bind("127.0.0.1:0");
        EXPECT_THROW(udp.receive(std::as_writable_bytes(std::span(buffer)), 1ms), TimeoutError);
        right.close();
    });
}

TEST_P(Net, DelayIsForTheWholeCallNotForEachWait) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        auto dripping = spawn([&, &right = right] {
            for (;;) {
                right.write("x");
                sleep_for(2ms);
            }
        });
        std::string never(1 << 20, '\0');
        EXPECT_THROW(left.read_exactly(std::span(never), 20ms), TimeoutError);
        dripping.cancel();
        EXPECT_THROW(await(dripping), Cancellation);
    });
}

TEST_P(Net, CancellationLosesNoByte) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        std::array<char, 16> buffer;
        auto reader = spawn([&, &left = left] { left.read(buffer); });
        suspend();
        reader.cancel();
        right.write("kept");
        EXPECT_THROW(await(reader), Cancellation);
        EXPECT_EQ(left.read(buffer), 4U);
        EXPECT_EQ(std::string_view(buffer.data(), 4), "kept");
    });
}

TEST_P(Net, TokenEndsTheWaitOnly) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        ManualEvent token;
        auto reader = spawn([&, &left = left] {
            std::array<char, 16> buffer;
            EXPECT_THROW(left.read(buffer, token), Cancellation);
            return left.read(buffer);
        });
        suspend();
        token.notify();
        suspend();
        right.write("on");
        EXPECT_EQ(await(reader), 2U);
    });
}

TEST_P(Net, CloseWakesReaderAndAccepter) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        auto reader = spawn([&left = left] {
            return number_of([&] {
                std::array<char, 16> buffer;
                left.read(buffer);
            });
        });
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto accepter = spawn([&] { return number_of([&] { listener.accept(); }); });
        suspend();
        suspend();
        left.close();
        listener.close();
        EXPECT_EQ(await(reader), EBADF);
        EXPECT_EQ(await(accepter), EBADF);
        EXPECT_EQ(number_of([&] { left.write("x"); }), EBADF);
    });
}

TEST_P(Net, HalfCloseAndReset) {
    in_runtime([](IoReactor&) {
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto server = spawn([&] { return listener.accept(); });
        auto client = TcpStream::connect(listener.local());
        TcpStream peer = await(server);
        client.write("last words");
        client.shutdown_write();
        EXPECT_EQ(peer.read_all(), "last words");
        peer.write("still heard");
        std::array<char, 32> buffer;
        EXPECT_EQ(client.read(buffer), 11U);
        // Closing with unread bytes resets the connection: the writer finds out in the middle of its write.
        client.close();
        const linger hard{1, 0};
        ::setsockopt(peer.descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        const int number = number_of([&] {
            for (;;) {
                peer.write(pattern(1 << 20));
            }
        });
        EXPECT_TRUE(number == ECONNRESET || number == EPIPE) << number;
    });
}

TEST_P(Net, ResetInTheMiddleOfAWrite) {
    in_runtime([](IoReactor&) {
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto server = spawn([&] { return listener.accept(); });
        auto client = TcpStream::connect(listener.local());
        TcpStream peer = await(server);
        auto writer = spawn([&] { return number_of([&] { client.write(pattern(64 << 20)); }); });
        std::array<char, 1024> some;
        EXPECT_GT(peer.read(some), 0U);
        const linger hard{1, 0};
        ::setsockopt(peer.descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        peer.close();
        const int number = await(writer);
        EXPECT_TRUE(number == ECONNRESET || number == EPIPE) << number;
    });
}

TEST_P(Net, EndBeforeTheBytesThatWereWanted) {
    in_runtime([](IoReactor&) {
        auto [left, right] = UnixStream::pair();
        right.write("abc");
        right.close();
        std::array<char, 4> buffer;
        EXPECT_EQ(number_of([&, &left = left] { left.read_exactly(std::span(buffer)); }), ENODATA);
    });
}

TEST_P(Net, UnixSocketsInTheFileSystem) {
    in_runtime([](IoReactor&) {
        const std::string path =
            (std::filesystem::temp_directory_path() / ("ta-net-" + std::to_string(::getpid()))).string();
        {
            auto listener = UnixListener::bind(path);
            auto server = spawn([&] { listener.accept().write("local"); });
            EXPECT_EQ(UnixStream::connect(path).read_all(), "local");
            await(server);
            EXPECT_EQ(number_of([&] { UnixListener::bind(path); }), EADDRINUSE);
        }
        EXPECT_FALSE(std::filesystem::exists(path)) << "the listener removes its path";
        EXPECT_EQ(number_of([&] { UnixStream::connect(path); }), ENOENT);
    });
}

TEST_P(Net, Udp) {
    in_runtime([](IoReactor&) {
        auto a = UdpSocket::bind("127.0.0.1:0");
        auto b = UdpSocket::bind("127.0.0.1:0");
        std::array<std::byte, 64> buffer;
        auto receiver = spawn([&] { return b.receive(buffer); });
        suspend();
        a.send_to(std::as_bytes(std::span("datagram", 8)), b.local());
        const UdpSocket::Datagram got = await(receiver);
        EXPECT_EQ(got.size, 8U);
        EXPECT_EQ(got.from, a.local());
        EXPECT_EQ(std::memcmp(buffer.data(), "datagram", 8), 0);
        b.connect(a.local());
        b.send(std::as_bytes(std::span("back", 4)));
        EXPECT_EQ(a.receive(buffer).size, 4U);
    });
}

TEST_P(Net, NoDescriptorsLeftIsAnErrorAndTheConnectionWaits) {
    in_runtime([](IoReactor&) {
        auto listener = TcpListener::bind("127.0.0.1:0");
        auto client = TcpStream::connect(listener.local());
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
        rlimit tight = before;
        tight.rlim_cur = static_cast<rlim_t>(client.descriptor()) + 1;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
        const int accepting = number_of([&] { listener.accept(); });
        const int connecting = number_of([&] { TcpStream::connect(listener.local()); });
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        EXPECT_EQ(accepting, EMFILE);
        EXPECT_EQ(connecting, EMFILE);
        EXPECT_TRUE(listener.accept().is_open());
    });
}

/// What the client of a storm does, in a process of its own: opens all, then one byte to and fro on each. Returns its exit status.
int storm(const SocketAddress& address, int connections) {
    std::vector<int> open;
    open.reserve(static_cast<std::size_t>(connections));
    for (int i = 0; i < connections; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || ::connect(fd, address.data(), address.size()) != 0) {
            return 1;
        }
        open.push_back(fd);
    }
    for (const int fd : open) {
        if (::write(fd, "x", 1) != 1) {
            return 2;
        }
    }
    for (const int fd : open) {
        char answer = 0;
        if (::read(fd, &answer, 1) != 1 || answer != 'x') {
            return 3;
        }
    }
    return 0;
}

TEST_P(Net, NineThousandConnectionsAtOnce) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer does not follow forks";
#endif
    constexpr int kConnections = 9000;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit wide = before;
    wide.rlim_cur = before.rlim_max;
    if (wide.rlim_cur < kConnections + 200 || ::setrlimit(RLIMIT_NOFILE, &wide) != 0) {
        GTEST_SKIP() << "only " << wide.rlim_cur << " descriptors allowed";
    }
    in_runtime([](IoReactor&) {
        auto listener = TcpListener::bind("127.0.0.1:0");
        const SocketAddress address = listener.local();
        const pid_t client = ::fork();
        if (client == 0) {
            ::alarm(60);
            ::_exit(storm(address, kConnections));
        }
        ASSERT_GT(client, 0);
        std::size_t most = 0;
        std::size_t now = 0;
        std::vector<Handle<void>> serving;
        for (int i = 0; i < kConnections; ++i) {
            serving.push_back(spawn([&, stream = std::make_shared<TcpStream>(listener.accept())]() mutable {
                most = std::max(most, ++now);
                std::array<char, 16> buffer;
                while (const std::size_t count = stream->read(buffer)) {
                    stream->write(std::string_view(buffer.data(), count));
                }
                --now;
                stream.reset();
            }));
        }
        for (auto& one : serving) {
            await(one);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(client, &status, 0), client);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(most, static_cast<std::size_t>(kConnections));
    });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_P(Net, PeerThatNeverAnswers) {
    in_runtime([](IoReactor&) {
        // A full backlog that nobody accepts from: connecting hangs, as with a host that drops packets.
        auto listener = TcpListener::bind(SocketAddress::loopback(0), 0);
        std::vector<TcpStream> queued;
        bool has_timed_out = false;
        for (int i = 0; i < 20 && !has_timed_out; ++i) {
            try {
                queued.push_back(TcpStream::connect(listener.local(), 20ms));
            } catch (const TimeoutError&) {
                has_timed_out = true;
            }
        }
        EXPECT_TRUE(has_timed_out);
    });
}

TEST_P(Net, BadAddressesAreRefused) {
    in_runtime([](IoReactor&) {
        EXPECT_NE(message_of([] { TcpListener::bind("no address"); }).find("no address"), std::string::npos);
        EXPECT_NE(message_of([] { UnixStream::connect(std::string(300, 'x')); }), "");
    });
}

TEST(NetOutside, EveryCallSaysThatItNeedsARuntime) {
    UnixStream stream;
    EXPECT_NE(message_of([&] { stream.write("x"); }).find("needs a running runtime"), std::string::npos);
    EXPECT_NE(
        message_of([] { TcpStream::connect(SocketAddress::loopback(1)); }).find("inside trueasync::run"),
        std::string::npos
    );
}

TEST_P(Net, RandomCancellationsLeaveTheStreamUsable) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([&](IoReactor&) {
        std::mt19937 random(seed);
        auto [left, right] = UnixStream::pair();
        const std::string sent = pattern(300000);
        auto writer = spawn([&, &left = left] {
            left.write(sent);
            left.shutdown_write();
        });
        std::string received;
        bool is_done = false;
        while (!is_done) {
            auto reader = spawn([&, &right = right] {
                std::array<char, 777> buffer;
                const std::size_t count = right.read(buffer);
                received.append(buffer.data(), count);
                is_done = count == 0;
            });
            if (random() % 3 == 0) {
                suspend();
            }
            if (random() % 2 == 0) {
                reader.cancel();
            }
            try {
                await(reader);
            } catch (const Cancellation&) {}
        }
        EXPECT_TRUE(received == sent);
        await(writer);
    });
}

TEST_P(Net, RandomCancellationsLoseNoDatagram) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([&](IoReactor&) {
        std::mt19937 random(seed);
        constexpr unsigned kCount = 300;
        auto from = UdpSocket::bind("127.0.0.1:0");
        auto to = UdpSocket::bind("127.0.0.1:0");
        const SocketAddress address = to.local();
        unsigned sent = 0;
        for (unsigned received = 0; received < kCount;) {
            auto receiver = spawn([&] {
                unsigned number = 0;
                EXPECT_EQ(to.receive(std::as_writable_bytes(std::span(&number, 1))).size, sizeof(number));
                EXPECT_EQ(number, received);
                ++received;
            });
            if (random() % 2 == 0) {
                suspend();
            }
            if (sent == received) {
                from.send_to(std::as_bytes(std::span(&sent, 1)), address);
                ++sent;
            }
            if (random() % 3 == 0) {
                suspend();
            }
            if (random() % 2 == 0) {
                receiver.cancel();
            }
            try {
                await(receiver);
            } catch (const Cancellation&) {}
        }
    });
}

ON_BOTH_BACKENDS(Net);

}  // namespace
}  // namespace trueasync::testing
