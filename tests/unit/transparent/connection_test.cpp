#include <support/hooked.hpp>

#include <netinet/in.h>

namespace trueasync::testing {
namespace {

using HookedConnection = HookedTest;

Fd listen_here(sockaddr_in& address, int backlog = 16) {
    Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(*listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(*listener, backlog), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::getsockname(*listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return listener;
}

TEST_F(HookedConnection, AcceptAndConnectWait) {
    in_runtime([] {
        sockaddr_in address{};
        Fd listener = listen_here(address);
        auto client = spawn([&] {
            Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
            EXPECT_EQ(hooked::connect(*fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
            EXPECT_EQ(::fcntl(*fd, F_GETFL) & O_NONBLOCK, 0);
            char byte = 0;
            EXPECT_EQ(hooked::recv(*fd, &byte, 1, 0), 1);
            close(fd);
        });
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        Fd served(hooked::accept(*listener, reinterpret_cast<sockaddr*>(&peer), &size));
        ASSERT_GE(*served, 0);
        EXPECT_EQ(peer.sin_family, AF_INET);
        EXPECT_EQ(::fcntl(*served, F_GETFL) & O_NONBLOCK, 0);
        EXPECT_EQ(::fcntl(*listener, F_GETFL) & O_NONBLOCK, 0);
        EXPECT_EQ(hooked::send(*served, "x", 1, 0), 1);
        await(client);
        close(served);
        close(listener);
    });
}

TEST_F(HookedConnection, ARefusalIsTold) {
    in_runtime([] {
        sockaddr_in address{};
        { Fd listener = listen_here(address); }
        Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
        EXPECT_EQ(hooked::connect(*fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), -1);
        EXPECT_EQ(errno, ECONNREFUSED);
        close(fd);
    });
}

TEST_F(HookedConnection, ANonBlockingOneDoesNotWait) {
    in_runtime([] {
        sockaddr_in address{};
        Fd listener = listen_here(address);
        set_nonblocking(*listener);
        EXPECT_EQ(hooked::accept4(*listener, nullptr, nullptr, 0), -1);
        EXPECT_EQ(errno, EAGAIN);
        close(listener);
    });
}

TEST_F(HookedConnection, AUnixSocketWithAFullQueue) {
    in_runtime([] {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string name = "trueasync-hooked-" + std::to_string(::getpid());
        name.copy(address.sun_path + 1, sizeof(address.sun_path) - 2);  // in the abstract namespace
        Fd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
        ASSERT_EQ(::bind(*listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        ASSERT_EQ(::listen(*listener, 0), 0);
        std::vector<Handle<void>> clients;
        for (int i = 0; i < 4; ++i) {
            clients.push_back(spawn([&] {
                Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
                EXPECT_EQ(hooked::connect(*fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
                close(fd);
            }));
        }
        suspend();
        for (int i = 0; i < 4; ++i) {
            Fd served(hooked::accept(*listener, nullptr, nullptr));
            EXPECT_GE(*served, 0);
            close(served);
        }
        for (auto& client : clients) {
            await(client);
        }
        close(listener);
    });
}

}  // namespace
}  // namespace trueasync::testing
