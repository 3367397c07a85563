/// @file bench/peers/boost_fiber.cpp
/// The figures of the suite `core` on Boost.Fiber: default scheduler, default stacks, one thread.

#include <boost/fiber/all.hpp>

#include "core/floor.hpp"
#include "support/memory.hpp"
#include "support/suite.hpp"

namespace fibers = boost::fibers;

namespace {

void count_turns(std::size_t turns) {
    std::size_t counter = 0;
    for (std::size_t i = 0; i < turns; ++i) {
        counter += i;
        boost::this_fiber::yield();
    }
    bench::keep(counter);
}

void mix_turns(std::size_t turns) {
    std::size_t state = 0x9e3779b9;
    while (turns != 0) {
        boost::this_fiber::yield();
        state = (state ^ turns) << 1;
        --turns;
    }
    bench::keep(state);
}

double yield_ns_per_op(std::size_t iterations) {
    const std::size_t turns = iterations / 2;
    std::int64_t elapsed = 0;
    bench::settle_float_state();
    fibers::fiber first([&] {
        const bench::Stopwatch watch;
        count_turns(turns);
        elapsed = watch.elapsed_ns();
    });
    fibers::fiber second([&] { mix_turns(turns); });
    first.join();
    second.join();
    return bench::per_op(elapsed, turns * 2);
}

double yield_1000_ns_per_op(std::size_t iterations) {
    constexpr std::size_t kFibers = 1'000;
    const std::size_t turns = std::max<std::size_t>(1, iterations / kFibers);
    std::int64_t elapsed = 0;
    bench::settle_float_state();
    std::vector<fibers::fiber> all;
    all.reserve(kFibers);
    all.emplace_back([&] {
        boost::this_fiber::yield();  // lets the others start
        const bench::Stopwatch watch;
        count_turns(turns);
        elapsed = watch.elapsed_ns();
    });
    for (std::size_t i = 1; i < kFibers; ++i) {
        if (i % 2 == 0) {
            all.emplace_back([turns] { count_turns(turns + 1); });
        } else {
            all.emplace_back([turns] { mix_turns(turns + 1); });
        }
    }
    for (fibers::fiber& one : all) {
        one.join();
    }
    return bench::per_op(elapsed, turns * kFibers);
}

double spawn_join_ns_per_op(std::size_t iterations) {
    std::size_t sum = 0;
    bench::settle_float_state();
    const bench::Stopwatch watch;
    for (std::size_t i = 0; i < iterations; ++i) {
        fibers::fiber([&sum, i] { sum += i; }).join();
    }
    const auto elapsed = watch.elapsed_ns();
    if (sum != iterations * (iterations - 1) / 2) {
        bench::fail("spawn_join: a result was lost");
    }
    return bench::per_op(elapsed, iterations);
}

double await_completed_ns_per_op(std::size_t iterations) {
    fibers::promise<std::size_t> promise;
    const fibers::shared_future<std::size_t> future = promise.get_future().share();
    promise.set_value(1);

    std::size_t sum = 0;
    bench::settle_float_state();
    const bench::Stopwatch watch;
    for (std::size_t i = 0; i < iterations; ++i) {
        sum += future.get();
        bench::keep(sum);
    }
    return bench::per_op(watch.elapsed_ns(), iterations);
}

double wake_one_ns_per_op(std::size_t iterations) {
    std::int64_t elapsed = 0;
    std::size_t wakes = 0;
    fibers::mutex mutex;
    fibers::condition_variable condition;
    bench::settle_float_state();
    fibers::fiber waiter([&] {
        std::unique_lock<fibers::mutex> lock(mutex);
        const bench::Stopwatch watch;
        for (std::size_t i = 0; i < iterations; ++i) {
            condition.wait(lock);
            ++wakes;
        }
        elapsed = watch.elapsed_ns();
    });
    fibers::fiber notifier([&] {
        // A turn can pass before the waiter runs (the dispatcher takes one), so progress is what ends the loop.
        while (wakes != iterations) {
            condition.notify_one();
            boost::this_fiber::yield();
        }
    });
    waiter.join();
    notifier.join();
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kYield{"yield", yield_ns_per_op};
const bench::Registration kYield1000{"yield_1000", yield_1000_ns_per_op};
const bench::Registration kSpawnJoin{"spawn_join", spawn_join_ns_per_op};
const bench::Registration kAwaitCompleted{"await_completed", await_completed_ns_per_op};
const bench::Registration kWakeOne{"wake_one", wake_one_ns_per_op};
const bench::Registration kFloor{"floor", bench::floor_ns_per_op};

int measure_parked(std::size_t count) {
    fibers::mutex mutex;
    fibers::condition_variable gate;
    std::size_t arrived = 0;
    const auto park = [&] {
        std::unique_lock<fibers::mutex> lock(mutex);
        ++arrived;
        gate.wait(lock);
    };
    fibers::fiber(park).detach();
    while (arrived != 1) {
        boost::this_fiber::yield();
    }

    const bench::MemoryUse before;
    for (std::size_t i = 0; i < count; ++i) {
        fibers::fiber(park).detach();
    }
    while (arrived != count + 1) {
        boost::this_fiber::yield();
    }
    const bench::MemoryUse after;
    bench::print_parked(before, after, count);
    ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--parked") == 0) {
        return measure_parked(std::strtoul(argv[2], nullptr, 10));
    }
    return bench::run_suite(argc, argv);
}
