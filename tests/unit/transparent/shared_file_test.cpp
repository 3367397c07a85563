#include <support/hooked.hpp>

#include <pty.h>
#include <sys/stat.h>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

/// Terminals and fifos, which others use at the same time.

namespace trueasync::testing {
namespace {

using HookedShared = HookedTest;

/// Calls `rescue` when the thread of the test has been blocked for long, which ends the test with a failure.
class Watchman {
public:
    explicit Watchman(std::function<void()> rescue)
        : thread_([this, rescue = std::move(rescue)] {
              for (int quiet = 0; !is_over_; quiet = signs_.exchange(0) != 0 ? 0 : quiet + 1) {
                  if (quiet > 200) {
                      was_blocked_ = true;
                      rescue();
                  }
                  ::usleep(10'000);
              }
          }) {}
    Watchman(const Watchman&) = delete;
    Watchman& operator=(const Watchman&) = delete;
    ~Watchman() {
        is_over_ = true;
        thread_.join();
        EXPECT_FALSE(was_blocked_);
    }
    void see() { signs_ = 1; }
    bool was_blocked() const { return was_blocked_; }

private:
    std::atomic<bool> is_over_ = false;
    std::atomic<bool> was_blocked_ = false;
    std::atomic<int> signs_ = 0;
    std::thread thread_;
};

struct Terminal {
    explicit Terminal(bool is_raw = true) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
        master = Fd(ends[0]);
        slave = Fd(ends[1]);
        termios settings{};
        EXPECT_EQ(::tcgetattr(*slave, &settings), 0);
        if (is_raw) {
            ::cfmakeraw(&settings);
        } else {
            settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        }
        EXPECT_EQ(::tcsetattr(*slave, TCSANOW, &settings), 0);
    }
    Fd master;
    Fd slave;
};

std::string read_all(int fd, std::size_t size, Watchman& watchman) {
    std::string got;
    char buffer[3000];
    while (got.size() < size && !watchman.was_blocked()) {
        watchman.see();
        const ssize_t count = hooked::read(fd, buffer, sizeof(buffer));
        if (count <= 0) {
            ADD_FAILURE() << errno;
            break;
        }
        got.append(buffer, static_cast<std::size_t>(count));
    }
    return got;
}

void drain(int fd) {
    char buffer[4096];
    while (::poll(std::array<pollfd, 1>{pollfd{fd, POLLIN, 0}}.data(), 1, 0) == 1 &&
           ::read(fd, buffer, sizeof(buffer)) > 0) {}
}

TEST_F(HookedShared, ALongWriteToATerminalWaitsForItsReader) {
    for (const bool is_to_slave : {true, false}) {
        const Terminal terminal;
        const int to = is_to_slave ? *terminal.slave : *terminal.master;
        const int from = is_to_slave ? *terminal.master : *terminal.slave;
        Watchman watchman([&] { drain(from); });
        in_runtime([&] {
            std::string sent(200'000, '\0');
            std::iota(sent.begin(), sent.end(), '\0');
            auto writer = spawn([&] {
                const iovec parts[] = {{sent.data(), 1000}, {sent.data() + 1000, sent.size() - 1000}};
                EXPECT_EQ(hooked::writev(to, parts, 2), static_cast<ssize_t>(sent.size()));
            });
            hooked::usleep(1000);
            EXPECT_TRUE(read_all(from, sent.size(), watchman) == sent);
            await(writer);
            EXPECT_EQ(::fcntl(to, F_GETFL) & O_NONBLOCK, 0);
        });
    }
}

TEST_F(HookedShared, LinesForATerminalGrowOnTheirWay) {
    const Terminal terminal(false);
    Watchman watchman([&] { drain(*terminal.master); });
    in_runtime([&] {
        const std::string sent(30'001, '\n');
        auto writer = spawn([&] {
            EXPECT_EQ(hooked::write(*terminal.slave, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
        });
        std::string expected;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            expected += "\r\n";
        }
        EXPECT_TRUE(read_all(*terminal.master, expected.size(), watchman) == expected);
        await(writer);
    });
}

TEST_F(HookedShared, ATerminalThatDoesNotBlockStaysSo) {
    for (const bool is_to_slave : {true, false}) {
        const Terminal terminal;
        const int to = is_to_slave ? *terminal.slave : *terminal.master;
        set_nonblocking(to);
        in_runtime([&] {
            const std::string much(200'000, 'x');
            ssize_t part = hooked::write(to, much.data(), much.size());
            EXPECT_GT(part, 0);
            for (int i = 0; i < 1000 && part > 0; ++i) {  // the kernel may be about to make room
                EXPECT_LT(part, static_cast<ssize_t>(much.size()));
                part = hooked::write(to, much.data(), much.size());
            }
            EXPECT_EQ(part, -1);
            EXPECT_EQ(errno, EAGAIN);
            EXPECT_NE(::fcntl(to, F_GETFL) & O_NONBLOCK, 0);
        });
    }
}

TEST_F(HookedShared, ClosingATerminalWakesItsWriter) {
    in_runtime([] {
        Terminal terminal;
        Watchman watchman([&] { drain(*terminal.master); });
        auto writer = spawn([to = *terminal.slave] {
            const std::string much(200'000, 'x');
            const ssize_t part = hooked::write(to, much.data(), much.size());
            EXPECT_GT(part, 0);
            EXPECT_LT(part, static_cast<ssize_t>(much.size()));
            EXPECT_EQ(hooked::write(to, much.data(), much.size()), -1);
            EXPECT_EQ(errno, EBADF);
        });
        suspend();
        close(terminal.slave);
        await(writer);
        drain(*terminal.master);
        char byte = 0;
        EXPECT_EQ(::read(*terminal.master, &byte, 1), -1);
        EXPECT_EQ(errno, EIO);  // nobody has it any more
    });
}

TEST_F(HookedShared, AStoppedTerminalStopsOnlyItsWriter) {
    in_runtime([] {
        const Terminal terminal;
        ASSERT_EQ(::tcflow(*terminal.slave, TCOOFF), 0);
        auto writer = spawn([&] { EXPECT_EQ(hooked::write(*terminal.slave, "abc", 3), 3); });
        pollfd one{*terminal.master, POLLIN, 0};
        EXPECT_EQ(suspending([&] { return hooked::poll(&one, 1, 10); }), 0);
        ASSERT_EQ(::tcflow(*terminal.slave, TCOON), 0);
        await(writer);
        EXPECT_EQ(hooked::poll(&one, 1, 1000), 1);
    });
}

TEST_F(HookedShared, AHangUpIsTold) {
    in_runtime([] {
        Terminal terminal;
        terminal.master.close();
        EXPECT_EQ(hooked::write(*terminal.slave, "x", 1), -1);
        EXPECT_EQ(errno, EIO);
    });
}

/// A fifo that a thread opens for itself, too.
class SharedFifo {
public:
    SharedFifo() {
        char folder[] = "/tmp/trueasync-hooked-XXXXXX";
        EXPECT_NE(::mkdtemp(folder), nullptr);
        name = std::string(folder) + "/fifo";
        EXPECT_EQ(::mkfifo(name.c_str(), 0600), 0);
        other = open_here(O_RDWR | O_NONBLOCK);
        in = open_here(O_RDONLY);
        out = open_here(O_WRONLY);
    }
    ~SharedFifo() {
        ::unlink(name.c_str());
        ::rmdir(name.substr(0, name.rfind('/')).c_str());
    }
    Fd open_here(int mode) const { return Fd(::open(name.c_str(), mode | O_CLOEXEC)); }

    std::string name;
    Fd other;
    Fd in;
    Fd out;
};

class Thief {
public:
    explicit Thief(std::function<void()> steal)
        : thread_([this, steal = std::move(steal)] {
              while (!is_over_) {
                  steal();
              }
          }) {}
    Thief(const Thief&) = delete;
    Thief& operator=(const Thief&) = delete;
    ~Thief() {
        is_over_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

constexpr int kRounds = 20'000;

TEST_F(HookedShared, WhatAnotherTakesFromAFifoIsWaitedForAgain) {
    const SharedFifo fifo;
    Watchman watchman([&] { ::write(*fifo.other, "x", 1); });
    const Thief thief([&] {
        char byte = 0;
        ::read(*fifo.other, &byte, 1);
    });
    in_runtime([&] {
        int taken = 0;
        auto reader = spawn([&] {
            char byte = 0;
            while (hooked::read(*fifo.in, &byte, 1) == 1 && byte == 'x') {
                ++taken;
            }
        });
        for (int i = 0; i < kRounds; ++i) {
            watchman.see();
            ::write(*fifo.other, "x", 1);
            suspend();
        }
        EXPECT_GT(taken, 0);
        EXPECT_EQ(::fcntl(*fifo.in, F_GETFL) & O_NONBLOCK, 0);
        reader.cancel();
        EXPECT_THROW(await(reader), Cancellation);
    });
}

TEST_F(HookedShared, RoomThatAnotherTakesInAFifoIsWaitedForAgain) {
    const SharedFifo fifo;
    const std::string page(4096, 'y');
    Watchman watchman([&] { drain(*fifo.other); });
    const Thief thief([&] { ::write(*fifo.other, page.data(), page.size()); });
    in_runtime([&] {
        int written = 0;
        auto writer = spawn([&] {
            while (hooked::write(*fifo.out, page.data(), 100) == 100) {
                ++written;
            }
        });
        std::string room(4096, '\0');
        for (int i = 0; i < kRounds; ++i) {
            watchman.see();
            ::read(*fifo.other, room.data(), room.size());
            suspend();
        }
        EXPECT_GT(written, 0);
        writer.cancel();
        EXPECT_THROW(await(writer), Cancellation);
    });
}

TEST_F(HookedShared, AFifoIsAPipeOtherwise) {
    in_runtime([] {
        SharedFifo fifo;
        char buffer[16];
        auto writer = spawn([&] { EXPECT_EQ(hooked::write(*fifo.out, "abc", 3), 3); });
        EXPECT_EQ(suspending([&] { return hooked::read(*fifo.in, buffer, sizeof(buffer)); }), 3);
        await(writer);
        EXPECT_EQ(hooked::read(*fifo.out, buffer, 1), -1);
        EXPECT_EQ(errno, EBADF);
        EXPECT_EQ(hooked::write(*fifo.in, buffer, 1), -1);
        EXPECT_EQ(errno, EBADF);
        EXPECT_EQ(hooked::read(*fifo.in, buffer, 0), 0);
        auto [in, out] = blocking_pipe();
        auto mover = spawn([&, to = *out] { EXPECT_EQ(hooked::splice(*fifo.in, nullptr, to, nullptr, 10, 0), 3); });
        suspend();
        EXPECT_EQ(hooked::write(*fifo.out, "abc", 3), 3);
        await(mover);
        auto closer = spawn([&] {
            fifo.other.close();
            close(fifo.out);
        });
        EXPECT_EQ(hooked::read(*fifo.in, buffer, sizeof(buffer)), 0);
        await(closer);
        fifo.other = fifo.open_here(O_WRONLY);
        close(fifo.in);
        const auto before = ::signal(SIGPIPE, SIG_IGN);
        EXPECT_EQ(hooked::write(*fifo.other, "x", 1), -1);
        EXPECT_EQ(errno, EPIPE);
        ::signal(SIGPIPE, before);
    });
}

TEST_F(HookedShared, WhatMayNotBeOpenedAgain) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only the superuser can become another";
    }
    const SharedFifo fifo;
    const Terminal terminal;
    Watchman watchman([&] {
        drain(*fifo.other);
        drain(*terminal.master);
    });
    ASSERT_EQ(::seteuid(65534), 0);
    in_runtime([&] {
        EXPECT_EQ(*fifo.open_here(O_RDONLY), -1);
        const std::pair<int, int> ends[] = {{*fifo.in, *fifo.out}, {*terminal.master, *terminal.slave}};
        for (const auto& [in, out] : ends) {
            const std::string sent(200'000, 'x');
            auto writer = spawn([&] {
                EXPECT_EQ(hooked::write(out, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
            });
            EXPECT_TRUE(read_all(in, sent.size(), watchman) == sent);
            await(writer);
            EXPECT_EQ(::fcntl(in, F_GETFL) & O_NONBLOCK, 0);
            EXPECT_EQ(::fcntl(out, F_GETFL) & O_NONBLOCK, 0);
        }
    });
    EXPECT_EQ(::seteuid(0), 0);
}

}  // namespace
}  // namespace trueasync::testing
