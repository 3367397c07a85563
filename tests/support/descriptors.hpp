#pragma once

/// @file support/descriptors.hpp
/// Real descriptors for tests, and a fixture that runs a body on both backends.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <support/coro_test.hpp>
#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/reactor/uv_reactor.hpp>
#include <utility>

namespace trueasync::testing {

/// Owns a descriptor; closing it announces nothing.
class Fd {
public:
    Fd() noexcept = default;
    explicit Fd(int number) noexcept : number_(number) {}
    Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Fd() { close(); }

    int operator*() const noexcept { return number_; }
    void close() noexcept {
        if (number_ >= 0) {
            ::close(std::exchange(number_, -1));
        }
    }
    int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

struct FdPair {
    Fd first;
    Fd second;
};

inline void set_nonblocking(int fd) { ASSERT_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0); }

/// `first` is read from, `second` written to. Non-blocking.
inline FdPair make_pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    set_nonblocking(ends[0]);
    set_nonblocking(ends[1]);
    return {Fd(ends[0]), Fd(ends[1])};
}

inline FdPair make_socketpair(int type = SOCK_STREAM) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends), 0);
    set_nonblocking(ends[0]);
    set_nonblocking(ends[1]);
    return {Fd(ends[0]), Fd(ends[1])};
}

/// A connected TCP pair over loopback.
inline FdPair make_tcp_pair() {
    const Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(*listener, generic, size), 0);
    EXPECT_EQ(::listen(*listener, 1), 0);
    EXPECT_EQ(::getsockname(*listener, generic, &size), 0);
    Fd client(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(*client, generic, size), 0);
    Fd server(::accept(*listener, nullptr, nullptr));
    set_nonblocking(*client);
    set_nonblocking(*server);
    return {std::move(client), std::move(server)};
}

/// A regular file with some bytes in it, already without a name.
inline Fd make_file(const std::string& content = "content") {
    std::string path = (std::filesystem::temp_directory_path() / "trueasync-test-XXXXXX").string();
    Fd file(::mkstemp(path.data()));
    EXPECT_GE(*file, 0);
    ::unlink(path.c_str());
    EXPECT_EQ(::write(*file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::lseek(*file, 0, SEEK_SET);
    return file;
}

/// `first` is the master, `second` the slave of a new terminal. Empty when there is none to be had.
inline FdPair make_pty() {
    Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
    if (*master < 0 || ::grantpt(*master) != 0 || ::unlockpt(*master) != 0) {
        return {};
    }
    Fd slave(::open(::ptsname(*master), O_RDWR | O_NOCTTY | O_NONBLOCK));
    return {std::move(master), std::move(slave)};
}

inline void put(int fd, const std::string& bytes = "x") {
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

/// Everything there is to read now.
inline std::string take(int fd) {
    std::string all;
    char buffer[4096];
    for (;;) {
        const ssize_t count = ::read(fd, buffer, sizeof(buffer));
        if (count <= 0) {
            return all;
        }
        all.append(buffer, static_cast<std::size_t>(count));
    }
}

/// Writes until there is no room; returns how much fitted.
inline std::size_t fill(int fd) {
    const std::string block(4096, 'f');
    std::size_t all = 0;
    for (std::size_t size = block.size(); size != 0;) {
        const ssize_t count = ::write(fd, block.data(), size);
        if (count > 0) {
            all += static_cast<std::size_t>(count);
        } else {
            size /= 2;
        }
    }
    return all;
}

inline std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

/// Base of tests that are run on both backends. No descriptor may be left behind by any of them.
class BackendTest : public ::testing::TestWithParam<Backend> {
protected:
    RecordingSink sink;

    void SetUp() override {
        make();  // what libuv opens once is open
        before_ = open_descriptors();
    }
    void TearDown() override { EXPECT_EQ(open_descriptors(), before_); }

    std::unique_ptr<Reactor> make() {
        auto reactor = make_uv_reactor(GetParam());
        EXPECT_NE(reactor, nullptr);
        return reactor;
    }

    void in_runtime(const std::function<void(IoReactor&)>& body) {
        RunOptions options;
        options.reactor = make();
        options.sink = &sink;
        run([&] { body(*Scheduler::current()->reactor().io()); }, std::move(options));
    }

    bool is_best() const { return GetParam() == Backend::Best; }

private:
    std::size_t before_ = 0;
};

inline std::string backend_name(const ::testing::TestParamInfo<Backend>& backend) {
    return backend.param == Backend::Best ? "Best" : "Portable";
}

}  // namespace trueasync::testing

/// Both backends for a suite of `TEST_P`.
#define ON_BOTH_BACKENDS(suite)                                                                         \
    INSTANTIATE_TEST_SUITE_P(                                                                           \
        Backends, suite, ::testing::Values(::trueasync::Backend::Best, ::trueasync::Backend::Portable), \
        ::trueasync::testing::backend_name                                                              \
    )
