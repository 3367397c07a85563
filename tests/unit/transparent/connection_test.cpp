#include <support/hooked.hpp>

#include <netinet/in.h>
#include <array>

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

int connect_hooked(int fd, const sockaddr_in& address) {
    return hooked::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

TEST_F(HookedConnection, WhatWasRefusedMayTryAgain) {
    in_runtime([] {
        sockaddr_in refusing{};
        { Fd listener = listen_here(refusing); }
        sockaddr_in address{};
        Fd listener = listen_here(address);
        Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(connect_hooked(*fd, refusing), -1);
            EXPECT_EQ(errno, ECONNREFUSED);
        }
        EXPECT_EQ(connect_hooked(*fd, address), 0) << errno;
        EXPECT_EQ(connect_hooked(*fd, address), -1);
        EXPECT_EQ(errno, EISCONN);
        close(fd);
        close(listener);
    });
}

/// Whose queue is full: who connects waits.
Fd listen_deaf(sockaddr_in& address, std::array<Fd, 3>& queue) {
    Fd listener = listen_here(address, 0);
    for (Fd& one : queue) {
        one = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        ::connect(*one, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
    return listener;
}

int take_error(int fd) {
    int error = 0;
    socklen_t size = sizeof(error);
    EXPECT_EQ(::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
    return error;
}

TEST_F(HookedConnection, AFailureIsToldAlsoWhenAnotherTookItsError) {
    in_runtime([] {
        sockaddr_in address{};
        std::array<Fd, 3> queue;
        Fd listener = listen_deaf(address, queue);
        for (const bool is_taken : {false, true}) {
            Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
            const timeval limit{2, 0};
            ASSERT_EQ(::setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
            auto client = spawn([&] {
                EXPECT_EQ(connect_hooked(*fd, address), -1);
                EXPECT_EQ(errno, is_taken ? ECONNABORTED : ECONNRESET);
            });
            suspend();
            EXPECT_EQ(::shutdown(*fd, SHUT_RDWR), 0);
            if (is_taken) {
                EXPECT_EQ(take_error(*fd), ECONNRESET);
            }
            await(client);
            close(fd);
        }
        close(listener);
    });
}

TEST_F(HookedConnection, AnAttemptThatTakesTooLongSaysWhetherItHadBegunBefore) {
    in_runtime([] {
        sockaddr_in address{};
        std::array<Fd, 3> queue;
        Fd listener = listen_deaf(address, queue);
        Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
        const timeval limit{0, 1000};
        ASSERT_EQ(::setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
        await(spawn([&] {
            for (const int expected : {EINPROGRESS, EALREADY}) {
                EXPECT_EQ(connect_hooked(*fd, address), -1);
                EXPECT_EQ(errno, expected);
            }
        }));
        close(fd);
        close(listener);
    });
}

TEST_F(HookedConnection, TwoThatConnectOneSocketBothWait) {
    in_runtime([] {
        sockaddr_in address{};
        std::array<Fd, 3> queue;
        Fd listener = listen_deaf(address, queue);
        for (const bool is_accepted : {false, true}) {
            Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
            int connected = 0;
            int failed = 0;
            const auto connect_once = [&] {
                if (connect_hooked(*fd, address) == 0) {
                    ++connected;
                } else {
                    EXPECT_TRUE(errno == ECONNRESET || errno == ECONNABORTED) << errno;
                    ++failed;
                }
            };
            auto first = spawn(connect_once);
            auto second = spawn(connect_once);
            suspend();
            suspend();
            EXPECT_EQ(connected + failed, 0);
            if (is_accepted) {
                Fd served(::accept(*listener, nullptr, nullptr));
            } else {
                EXPECT_EQ(::shutdown(*fd, SHUT_RDWR), 0);
            }
            await(first);
            await(second);
            EXPECT_EQ(connected, is_accepted ? 2 : 0);
            EXPECT_EQ(failed, is_accepted ? 0 : 2);
            close(fd);
        }
        close(listener);
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

int connect_plainly(const sockaddr_in& address) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
}

TEST_F(HookedConnection, WhatAnotherProcessSetsForItsAcceptIsNotTheProgramsWish) {
    in_runtime([] {
        sockaddr_in address{};
        Fd listener = listen_here(address);
        auto [ready_in, ready_out] = blocking_pipe();
        auto [in, out] = blocking_pipe();
        const pid_t child = ::fork();
        if (child == 0) {
            struct flock whole {};
            whole.l_type = F_WRLCK;
            ::fcntl(*listener, F_SETLK, &whole);
            const int flags = ::fcntl(*listener, F_GETFL);
            ::fcntl(*listener, F_SETFL, flags | O_NONBLOCK);
            ::close(*ready_out);
            ::close(*out);
            char byte = 0;
            ::read(*in, &byte, 1);
            ::fcntl(*listener, F_SETFL, flags);
            ::_exit(0);
        }
        close(ready_out);
        char byte = 0;
        EXPECT_EQ(::read(*ready_in, &byte, 1), 0);
        auto acceptor = spawn([fd = *listener] {
            Fd served(hooked::accept(fd, nullptr, nullptr));
            EXPECT_GE(*served, 0) << errno;
        });
        suspend();
        Fd client(connect_plainly(address));
        close(out);
        await(acceptor);
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(::fcntl(*listener, F_GETFL) & O_NONBLOCK, 0);
        close(listener);
    });
}

TEST_F(HookedConnection, ProcessesShareAListener) {
    sockaddr_in address{};
    Fd listener = listen_here(address, 500);
    auto [in, out] = blocking_pipe();
    std::array<pid_t, 5> workers{};
    for (pid_t& worker : workers) {
        worker = ::fork();
        if (worker == 0) {
            set_transparent(true);
            ::close(*out);
            static int code = 0;
            trueasync::run([&] {
                spawn([&] {
                    for (;;) {
                        const int served = hooked::accept(*listener, nullptr, nullptr);
                        code = served < 0 ? 1 : code;
                        ::close(served);
                    }
                });
                char byte = 0;
                hooked::read(*in, &byte, 1);  // until the parent has closed its end
                ::_exit(code);
            });
        }
    }
    for (int i = 0; i < 150; ++i) {
        Fd client(connect_plainly(address));
        ::usleep(i % 10 == 0 ? 5000 : 500);
    }
    out.close();
    for (const pid_t worker : workers) {
        int status = -1;
        pid_t ended = 0;
        for (int i = 0; i < 300 && ended == 0; ++i) {
            ended = ::waitpid(worker, &status, WNOHANG);
            ::usleep(ended == 0 ? 10'000 : 0);
        }
        EXPECT_EQ(ended, worker) << "it is blocked";
        EXPECT_EQ(status, 0) << "accept has failed";
        if (ended == 0) {
            ::kill(worker, SIGKILL);
            ::waitpid(worker, nullptr, 0);
        }
    }
}

TEST_F(HookedConnection, WhatDoesNotListenIsToldSo) {
    in_runtime([] {
        Fd packets(::socket(AF_INET, SOCK_DGRAM, 0));
        EXPECT_EQ(hooked::accept(*packets, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EOPNOTSUPP);
        auto [in, out] = blocking_pair();
        EXPECT_EQ(hooked::accept(*in, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EINVAL);
        Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
        ASSERT_EQ(::listen(*listener, 1), 0);
        const timeval limit{0, 10'000};
        ASSERT_EQ(::setsockopt(*listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
        EXPECT_EQ(hooked::accept(*listener, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EAGAIN);
        close(packets);
        close(in);
        close(listener);
    });
}

}  // namespace
}  // namespace trueasync::testing
