/// @file bench/core/wake_one_bench.cpp
/// One coroutine waits for an event, another notifies it: two switches and one wake-up in a round.

#include <trueasync/event/manual_event.hpp>
#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

double wake_one_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t wakes = 0;
    trueasync::run([&] {
        bench::settle_float_state();
        trueasync::ManualEvent event;
        bench::Stopwatch watch;
        auto waiter = trueasync::spawn([&] {
            watch.restart();
            for (std::size_t i = 0; i < iterations; ++i) {
                trueasync::await(event);
                ++wakes;
            }
            elapsed = watch.elapsed_ns();
        });
        auto notifier = trueasync::spawn([&] {
            for (std::size_t i = 0; i < iterations; ++i) {
                event.notify();
                trueasync::suspend();
                if (wakes != i + 1) {
                    bench::fail("wake_one: the waiter did not wake in its round");
                }
            }
        });
        trueasync::await(waiter);
        trueasync::await(notifier);
    });
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kWakeOne{"wake_one", wake_one_ns_per_op};

}  // namespace
