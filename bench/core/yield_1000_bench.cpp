/// @file bench/core/yield_1000_bench.cpp
/// `suspend()` among a thousand ready coroutines: more stacks than the first-level cache holds.

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

/// Cost per switch.
double yield_1000_ns_per_op(std::size_t iterations) {
    constexpr std::size_t kCoroutines = 1'000;
    const std::size_t turns = std::max<std::size_t>(1, iterations / kCoroutines);
    std::int64_t elapsed = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        auto first = trueasync::spawn([&] {
            trueasync::suspend();  // lets the others start
            const bench::Stopwatch watch;
            count_turns(turns);
            elapsed = watch.elapsed_ns();
        });
        for (std::size_t i = 1; i < kCoroutines; ++i) {
            if (i % 2 == 0) {
                trueasync::spawn([turns] { count_turns(turns + 1); });
            } else {
                trueasync::spawn([turns] { mix_turns(turns + 1); });
            }
        }
        trueasync::await(first);
    });
    return bench::per_op(elapsed, turns * kCoroutines);
}

const bench::Registration kYield1000{"yield_1000", yield_1000_ns_per_op};

}  // namespace
