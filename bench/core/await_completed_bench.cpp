/// @file bench/core/await_completed_bench.cpp
/// `await()` on a coroutine that has already ended: no suspension, only the result.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

double await_completed_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        auto handle = trueasync::spawn([] { return std::size_t{1}; });
        sum += trueasync::await(handle);

        bench::settle_float_state();
        const bench::Stopwatch watch;
        for (std::size_t i = 0; i < iterations; ++i) {
            sum += trueasync::await(handle);
            bench::keep(sum);
        }
        elapsed = watch.elapsed_ns();
    });
    if (sum != iterations + 1) {
        bench::fail("await_completed: a result was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kAwaitCompleted{"await_completed", await_completed_ns_per_op};

}  // namespace
