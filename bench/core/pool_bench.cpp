/// @file bench/core/pool_bench.cpp
/// Takes a resource from a pool and gives it back, with nobody else there.

#include <trueasync/api/pool.hpp>
#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

double pool_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        trueasync::PoolOptions<std::size_t> options;
        options.factory = [] { return std::size_t{1}; };
        options.min = options.max = 4;
        trueasync::Pool<std::size_t> pool(std::move(options));
        const bench::Stopwatch watch;
        for (std::size_t i = 0; i < iterations; ++i) {
            auto lease = pool.acquire();
            sum += *lease;
            bench::keep(sum);
        }
        elapsed = watch.elapsed_ns();
    });
    if (sum != iterations) {
        bench::fail("pool: something else came out than was put in");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kPool{"pool", pool_ns_per_op};

}  // namespace
