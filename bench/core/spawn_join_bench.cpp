/// @file bench/core/spawn_join_bench.cpp
/// One coroutine from `spawn()` to the result that `await()` returns.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

[[gnu::noinline]] std::size_t spawn_and_join(std::size_t iterations) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < iterations; ++i) {
        auto handle = trueasync::spawn([i] { return i; });
        sum += trueasync::await(handle);
    }
    return sum;
}

double spawn_join_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        const bench::Stopwatch watch;
        sum = spawn_and_join(iterations);
        elapsed = watch.elapsed_ns();
    });
    if (sum != iterations * (iterations - 1) / 2) {
        bench::fail("spawn_join: a result was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kSpawnJoin{"spawn_join", spawn_join_ns_per_op};

}  // namespace
