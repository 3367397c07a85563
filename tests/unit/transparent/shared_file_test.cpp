#include <support/hooked.hpp>

#include <sys/stat.h>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

/// Files that others use at the same time.

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

private:
    std::atomic<bool> is_over_ = false;
    std::atomic<bool> was_blocked_ = false;
    std::atomic<int> signs_ = 0;
    std::thread thread_;
};

void drain(int fd) {
    char buffer[4096];
    while (::poll(std::array<pollfd, 1>{pollfd{fd, POLLIN, 0}}.data(), 1, 0) == 1 &&
           ::read(fd, buffer, sizeof(buffer)) > 0) {}
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

}  // namespace
}  // namespace trueasync::testing
