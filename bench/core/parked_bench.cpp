/// @file bench/core/parked_bench.cpp
/// Resident memory per coroutine that waits, all of them at once. A program of its own: it needs a fresh process.

#include <trueasync/event/manual_event.hpp>
#include <trueasync/trueasync.hpp>

#include "support/memory.hpp"
#include "support/suite.hpp"

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
    if (count == 0) {
        bench::fail("usage: bench_parked [COUNT]");
    }
    trueasync::run([count] {
        trueasync::ManualEvent gate;
        std::size_t arrived = 0;
        // The first one pays for what the runtime allocates once.
        trueasync::spawn([&gate] { trueasync::await(gate); });
        trueasync::suspend();

        const bench::MemoryUse before;
        for (std::size_t i = 0; i < count; ++i) {
            trueasync::spawn([&gate, &arrived] {
                ++arrived;
                trueasync::await(gate);
            });
        }
        while (arrived != count) {
            trueasync::suspend();
        }
        const bench::MemoryUse after;
        bench::print_parked(before, after, count);
        ::_exit(0);  // waking them all is not part of the figure
    });
    return 0;
}
