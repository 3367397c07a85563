/// @file bench/net/socketpair_bench.cpp
/// A byte to and fro over a pair of sockets, between two coroutines.

#include <trueasync/trueasync.hpp>

#include <array>

#include "support/suite.hpp"

namespace {

double socketpair_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    trueasync::run([&] {
        auto [left, right] = trueasync::UnixStream::pair();
        const bench::Stopwatch watch;
        auto answering = trueasync::spawn([&right = right] {
            std::array<char, 16> buffer;
            while (const std::size_t count = right.read(buffer)) {
                right.write(std::string_view(buffer.data(), count));
            }
        });
        std::array<char, 16> buffer;
        for (std::size_t i = 0; i < iterations; ++i) {
            left.write("x");
            left.read(buffer);
        }
        elapsed = watch.elapsed_ns();
        left.close();
        trueasync::await(answering);
    });
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kSocketpair{"socketpair", socketpair_ns_per_op};

}  // namespace
