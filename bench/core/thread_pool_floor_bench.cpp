/// @file bench/core/thread_pool_floor_bench.cpp
/// The same as `thread_pool` with libuv alone: `uv_queue_work`, four threads, one piece of work after the other.

#include <uv.h>

#include "support/suite.hpp"

namespace {

struct Floor {
    uv_work_t work{};
    std::size_t left = 0;
    std::size_t sum = 0;
    std::size_t value = 0;
};

void queue_next(uv_loop_t* loop, Floor& floor);

void after(uv_work_t* work, int /*status*/) {
    auto& floor = *static_cast<Floor*>(work->data);
    floor.sum += floor.value;
    if (--floor.left != 0) {
        queue_next(work->loop, floor);
    }
}

void queue_next(uv_loop_t* loop, Floor& floor) {
    const int error = uv_queue_work(
        loop, &floor.work,
        [](uv_work_t* work) {
            auto& running = *static_cast<Floor*>(work->data);
            running.value = running.left;
        },
        &after
    );
    if (error != 0) {
        bench::fail("uv_queue_work refuses");
    }
}

void round_trips(uv_loop_t& loop, std::size_t count) {
    Floor floor;
    floor.work.data = &floor;
    floor.left = count;
    queue_next(&loop, floor);
    uv_run(&loop, UV_RUN_DEFAULT);
    if (floor.sum != count * (count + 1) / 2) {
        bench::fail("thread_pool_floor: a result was lost");
    }
}

double thread_pool_floor_ns_per_op(std::size_t iterations) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    round_trips(loop, bench::kAwake);
    const bench::Stopwatch watch;
    round_trips(loop, iterations);
    const std::int64_t elapsed = watch.elapsed_ns();
    uv_loop_close(&loop);
    return bench::per_op(elapsed, iterations);
}

const bench::Registration kThreadPoolFloor{"thread_pool_floor", thread_pool_floor_ns_per_op};

}  // namespace
