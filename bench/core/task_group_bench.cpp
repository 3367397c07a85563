/// @file bench/core/task_group_bench.cpp
/// One task of a group of 1,000, from `spawn()` to the results of all.

#include <trueasync/trueasync.hpp>

#include "support/suite.hpp"

namespace {

constexpr std::size_t kTasks = 1000;

[[gnu::noinline]] std::size_t run_groups(std::size_t groups) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < groups; ++i) {
        trueasync::TaskGroup<std::size_t> group;
        for (std::size_t task = 0; task < kTasks; ++task) {
            group.spawn([task] { return task; });
        }
        for (const auto& [key, value] : group.all()) {
            sum += value;
        }
    }
    return sum;
}

double task_group_ns_per_op(std::size_t iterations) {
    const std::size_t groups = std::max(iterations / kTasks, std::size_t{1});
    std::int64_t elapsed = 0;
    std::size_t sum = 0;
    trueasync::run([&] {
        run_groups(1);  // address space for 1,000 stacks is reserved the first time
        bench::settle_float_state();
        const bench::Stopwatch watch;
        sum = run_groups(groups);
        elapsed = watch.elapsed_ns();
    });
    if (sum != groups * (kTasks * (kTasks - 1) / 2)) {
        bench::fail("task_group: a result was lost");
    }
    return bench::per_op(elapsed, groups * kTasks);
}

const bench::Registration kTaskGroup{"task_group", task_group_ns_per_op};

}  // namespace
