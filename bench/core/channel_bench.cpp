/// @file bench/core/channel_bench.cpp
/// A round trip between two coroutines: a value there over one unbuffered channel, a value back over another.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

double channel_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        trueasync::Channel<std::size_t> there;
        trueasync::Channel<std::size_t> back;
        auto echo = trueasync::spawn([there, back, iterations] {
            for (std::size_t i = 0; i < iterations; ++i) {
                back.send(there.recv() + 1);
            }
        });
        auto caller = trueasync::spawn([there, back, iterations, &elapsed, &sum] {
            const bench::Stopwatch watch;
            for (std::size_t i = 0; i < iterations; ++i) {
                there.send(i);
                sum += back.recv();
            }
            elapsed = watch.elapsed_ns();
        });
        trueasync::await(echo);
        trueasync::await(caller);
    });
    if (sum != iterations * (iterations + 1) / 2) {
        bench::fail("channel: a value was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kChannel{"channel", channel_ns_per_op};

}  // namespace
