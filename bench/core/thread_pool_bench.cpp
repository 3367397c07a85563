/// @file bench/core/thread_pool_bench.cpp
/// Submits a task to a pool of four threads and awaits its result, one after the other.

#include <trueasync/api/thread_pool.hpp>
#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

double thread_pool_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        trueasync::ThreadPool pool({.workers = 4});
        const bench::Stopwatch watch;
        for (std::size_t i = 0; i < iterations; ++i) {
            sum += trueasync::await(pool.submit([i] { return i; }));
        }
        elapsed = watch.elapsed_ns();
    });
    if (sum != iterations * (iterations - 1) / 2) {
        bench::fail("thread_pool: a result was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kThreadPool{"thread_pool", thread_pool_ns_per_op};

}  // namespace
