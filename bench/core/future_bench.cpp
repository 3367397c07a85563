/// @file bench/core/future_bench.cpp
/// A round trip between two coroutines over futures: one is completed and awaited there, another one on the way back. Both are
/// made for this round trip, as they can be completed only once.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

struct Trip {
    trueasync::FutureState<std::size_t> there;
    trueasync::FutureState<std::size_t> back;
};

double future_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        Trip trips[2];
        auto echo = trueasync::spawn([&trips, iterations] {
            for (std::size_t i = 0; i < iterations; ++i) {
                const Trip& trip = trips[i % 2];
                trip.back.complete(trueasync::await(trip.there.future()) + 1);
            }
        });
        auto caller = trueasync::spawn([&trips, iterations, &elapsed, &sum] {
            const bench::Stopwatch watch;
            for (std::size_t i = 0; i < iterations; ++i) {
                const Trip& trip = trips[i % 2];
                trip.there.complete(i);
                sum += trueasync::await(trip.back.future());
                trips[i % 2] = Trip();
            }
            elapsed = watch.elapsed_ns();
        });
        trueasync::await(echo);
        trueasync::await(caller);
        for (const Trip& trip : trips) {
            trip.there.ignore();
            trip.back.ignore();
        }
    });
    if (sum != iterations * (iterations + 1) / 2) {
        bench::fail("future: a value was lost");
    }
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kFuture{"future", future_ns_per_op};

}  // namespace
