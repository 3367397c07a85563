#include <trueasync/reactor/listen.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <random>
#include <support/descriptors.hpp>
#include <support/forks.hpp>
#include <support/valgrind.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

class Listen : public BackendTest {
protected:
    static Ref<ListenEvent> listen(IoReactor& reactor, const SocketAddress& address = SocketAddress::loopback(0)) {
        Ref<ListenEvent> event;
        const Status status = ListenEvent::create(reactor, address, event);
        EXPECT_TRUE(status) << status.error()->message();
        return event;
    }
    /// Begins to connect; whether it succeeds is seen later.
    static Fd connect(const SocketAddress& address) {
        Fd fd(::socket(address.native_family(), SOCK_STREAM | SOCK_NONBLOCK, 0));
        const int result = ::connect(*fd, address.data(), address.size());
        EXPECT_TRUE(result == 0 || errno == EINPROGRESS);
        return fd;
    }
    static int number_of(const Status& status) { return SystemError::number_of(status.error()); }
};

SocketAddress temporary_path() {
    SocketAddress address;
    const auto path = std::filesystem::temp_directory_path() / ("trueasync-listen-" + std::to_string(::getpid()));
    EXPECT_TRUE(SocketAddress::from_path(path.string(), address));
    return address;
}

TEST_P(Listen, FiresAndGivesConnections) {
    in_runtime([&](IoReactor& reactor) {
        // [accept]
        Ref<ListenEvent> listener;
        ASSERT_TRUE(ListenEvent::create(reactor, SocketAddress::loopback(0), listener));
        const auto client = spawn([&] { return TcpStream::connect(listener->local()); });
        await(listener);
        OwnedDescriptor connection;
        SocketAddress from;
        ASSERT_TRUE(listener->accept(connection, &from));
        // [accept]
        TcpStream stream = await(client);
        EXPECT_EQ(from, stream.local());
        stream.write("hello");
        TcpStream server(std::move(connection));
        std::array<char, 5> buffer;
        server.read_exactly(buffer);
        EXPECT_EQ(std::string_view(buffer.data(), 5), "hello");
        EXPECT_EQ(listener->info(), "Listen(" + listener->local().to_string() + ")");
        EXPECT_EQ(number_of(listener->accept(connection)), EAGAIN);
    });
}

TEST_P(Listen, FiresAgainWhileConnectionsWait) {
    in_runtime([&](IoReactor& reactor) {
        auto listener = listen(reactor);
        const Fd first = connect(listener->local());
        const Fd second = connect(listener->local());
        await(listener);
        await(listener);  // nobody has taken one
        OwnedDescriptor connection;
        EXPECT_TRUE(listener->accept(connection));
        await(listener);
        EXPECT_TRUE(listener->accept(connection));
        EXPECT_EQ(number_of(listener->accept(connection)), EAGAIN);
        EXPECT_EQ(wait_for(*listener, Deadline::after(1ms)), WaitResult::TimedOut);
        const Fd third = connect(listener->local());
        await(listener);
        EXPECT_TRUE(listener->accept(connection));
    });
}

TEST_P(Listen, AStormOfConnections) {
    in_runtime([&](IoReactor& reactor) {
        auto listener = listen(reactor);
        constexpr std::size_t kCount = 300;
        std::vector<Fd> clients;
        std::vector<OwnedDescriptor> connections;
        auto server = spawn([&] {
            while (connections.size() < kCount) {
                await(listener);
                OwnedDescriptor connection;
                while (listener->accept(connection)) {
                    connections.push_back(std::move(connection));
                }
            }
        });
        for (std::size_t i = 0; i < kCount; ++i) {
            clients.push_back(connect(listener->local()));
            if (i % 50 == 0) {
                suspend();
            }
        }
        await(server);
        EXPECT_EQ(connections.size(), kCount);
    });
}

TEST_P(Listen, UnixSocketsAndTheirPath) {
    in_runtime([&](IoReactor& reactor) {
        const SocketAddress address = temporary_path();
        auto listener = listen(reactor, address);
        EXPECT_EQ(listener->info(), "Listen(unix:" + address.path() + ")");
        Ref<ListenEvent> second;
        const Status status = ListenEvent::create(reactor, address, second);
        EXPECT_EQ(number_of(status), EADDRINUSE);
        EXPECT_EQ(
            status.error()->message(), "listen on unix:" + address.path() + ": EADDRINUSE (address already in use)"
        );
        const Fd client = connect(address);
        await(listener);
        OwnedDescriptor connection;
        EXPECT_TRUE(listener->accept(connection));
        EXPECT_TRUE(std::filesystem::exists(address.path()));
        listener.reset();
        EXPECT_FALSE(std::filesystem::exists(address.path()));
    });
}

TEST_P(Listen, ChildOfAForkLeavesThePathToItsParent) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([&](IoReactor& reactor) {
        const SocketAddress address = temporary_path();
        const std::string other = address.path() + "-other";
        auto listener = listen(reactor, address);
        UnixListener front = UnixListener::bind(other);
        EXPECT_EQ(
            in_child([&] {
                listener.reset();
                front.close();
                return 0;
            }),
            0
        );
        const Fd client = connect(address);
        await(listener);
        OwnedDescriptor connection;
        EXPECT_TRUE(listener->accept(connection));
        EXPECT_TRUE(std::filesystem::exists(other));
        front.close();
        EXPECT_FALSE(std::filesystem::exists(other));
    });
}

TEST_P(Listen, ClosingWakesWhoWaits) {
    in_runtime([&](IoReactor& reactor) {
        auto listener = listen(reactor);
        int failures = 0;
        auto wait = [&] {
            if (wait_for(*listener) == WaitResult::Failed) {
                const Ref<Error> error = Scheduler::take_wait_error();
                failures += SystemError::number_of(error.get()) == EBADF ? 1 : 0;
            }
        };
        auto first = spawn(wait);
        auto second = spawn(wait);
        suspend();
        const SocketAddress address = listener->local();
        listener->close_listener();
        listener->close_listener();
        await(first);
        await(second);
        EXPECT_EQ(failures, 2);
        OwnedDescriptor connection;
        EXPECT_EQ(number_of(listener->accept(connection)), EBADF);
        EXPECT_EQ(listener->descriptor(), -1);
        EXPECT_TRUE(listen(reactor, address)) << "the port is free again";
    });
}

TEST_P(Listen, ACancelledWaiterTakesNothing) {
    in_runtime([&](IoReactor& reactor) {
        auto listener = listen(reactor);
        auto cancelled = spawn([&] { await(listener); });
        auto other = spawn([&] { await(listener); });
        suspend();
        cancelled.cancel();
        const Fd client = connect(listener->local());
        await(other);
        OwnedDescriptor connection;
        EXPECT_TRUE(listener->accept(connection));
    });
}

TEST_P(Listen, RandomCancellationsLoseNoConnection) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& reactor) {
        std::mt19937 random(seed);
        constexpr std::size_t kCount = 300;
        auto listener = listen(reactor);
        std::vector<OwnedDescriptor> connections;
        const auto accept = [&](bool is_by_event) {
            for (;;) {
                OwnedDescriptor connection;
                if (is_by_event) {
                    await(listener);
                    if (!listener->accept(connection)) {
                        continue;  // another one has it
                    }
                } else {
                    const IoOutcome outcome = DescriptorIo(reactor, listener->descriptor()).accept(nullptr);
                    if (!outcome.ok()) {
                        detail::check(outcome.wait);
                    }
                    connection = OwnedDescriptor(static_cast<int>(outcome.count));
                }
                connections.push_back(std::move(connection));
            }
        };
        std::vector<Handle<void>> servers;
        for (unsigned i = 0; i < 6; ++i) {
            servers.push_back(spawn([&, i] { accept(i % 2 == 0); }));
        }
        std::vector<Fd> clients;
        for (std::size_t i = 0; i < kCount; ++i) {
            clients.push_back(connect(listener->local()));
            if (random() % 2 == 0) {
                auto& server = servers[random() % servers.size()];
                server.cancel();
                server = spawn([&, is_by_event = random() % 2 == 0] { accept(is_by_event); });
            }
            if (random() % 3 == 0) {
                suspend();
            }
        }
        while (connections.size() < kCount) {
            sleep_for(10us);
        }
        for (const auto& server : servers) {
            server.cancel();
        }
        settle();
        EXPECT_EQ(connections.size(), kCount);
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_TRUE(reactor.find(listener->descriptor())->waits.empty());
        EXPECT_TRUE(reactor.find(listener->descriptor())->watches.empty());
    });
}

TEST_P(Listen, WithoutDescriptorsTheConnectionStaysInTheQueue) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    in_runtime([&](IoReactor& reactor) {
        auto listener = listen(reactor);
        const Fd client = connect(listener->local());
        await(listener);
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
        const rlimit none{1, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
        OwnedDescriptor connection;
        const Status status = listener->accept(connection);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        EXPECT_EQ(number_of(status), EMFILE);
        await(listener);  // fires again
        EXPECT_TRUE(listener->accept(connection));
    });
}

TEST_P(Listen, SeveralShareAPort) {
    in_runtime([&](IoReactor& reactor) {
        const ListenSettings shared{.backlog = 10, .reuse_port = true};
        Ref<ListenEvent> first;
        Ref<ListenEvent> second;
        ASSERT_TRUE(ListenEvent::create(reactor, SocketAddress::loopback(0), first, shared));
        ASSERT_TRUE(ListenEvent::create(reactor, first->local(), second, shared));
        Ref<ListenEvent> third;
        EXPECT_EQ(number_of(ListenEvent::create(reactor, first->local(), third)), EADDRINUSE);
    });
}

TEST_P(Listen, MayOutliveItsRuntime) {
    Ref<ListenEvent> listener;
    in_runtime([&](IoReactor& reactor) { listener = listen(reactor); });
    EXPECT_TRUE(listener->is_closed());
    EXPECT_EQ(listener->descriptor(), -1);
    OwnedDescriptor connection;
    EXPECT_EQ(number_of(listener->accept(connection)), EBADF);
}

TEST_P(Listen, NeedsAReactorWithDescriptors) {
    VirtualReactor reactor;
    Ref<ListenEvent> listener;
    EXPECT_TRUE(ListenEvent::create(reactor, SocketAddress::loopback(0), listener).is(ErrorCode::IllegalState));
}

ON_BOTH_BACKENDS(Listen);

}  // namespace
}  // namespace trueasync::testing
