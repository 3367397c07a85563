/// @file bench/core/yield_bench.cpp
/// `suspend()` between coroutines that are all ready.
///
/// The coroutines have different bodies on purpose: with one shared body every switch returns to the same address,
/// and the processor predicts what it could not predict in a program.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

void count_turns(std::size_t turns) {
    std::size_t counter = 0;
    for (std::size_t i = 0; i < turns; ++i) {
        counter += i;
        trueasync::suspend();
    }
    bench::keep(counter);
}

void mix_turns(std::size_t turns) {
    std::size_t state = 0x9e3779b9;
    while (turns != 0) {
        trueasync::suspend();
        state = (state ^ turns) << 1;
        --turns;
    }
    bench::keep(state);
}

/// Two coroutines; cost per switch.
double yield_ns_per_op(std::size_t iterations) {
    const std::size_t turns = iterations / 2;
    std::int64_t elapsed = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        auto first = trueasync::spawn([&] {
            const bench::Stopwatch watch;
            count_turns(turns);
            elapsed = watch.elapsed_ns();
        });
        auto second = trueasync::spawn([&] { mix_turns(turns); });
        trueasync::await(first);
        trueasync::await(second);
    });
    return bench::per_op(elapsed, turns * 2);
}

const bench::Registration kYield{"yield", yield_ns_per_op};

}  // namespace
