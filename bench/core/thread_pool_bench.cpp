/// @file bench/core/thread_pool_bench.cpp
/// Submits a task to a pool of four threads and awaits its result, one after the other.

#include <trueasync/api/thread_pool.hpp>
#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

std::size_t round_trips(trueasync::ThreadPool& pool, std::size_t count) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        sum += trueasync::await(pool.submit([i] { return i; }));
    }
    return sum;
}

double thread_pool_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        trueasync::ThreadPool pool({.workers = 4});
        round_trips(pool, bench::kAwake);
        const bench::Stopwatch watch;
        sum = round_trips(pool, iterations);
        elapsed = watch.elapsed_ns();
    });
    if (sum != iterations * (iterations - 1) / 2) {
        bench::fail("thread_pool: a result was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kThreadPool{"thread_pool", thread_pool_ns_per_op};

}  // namespace
