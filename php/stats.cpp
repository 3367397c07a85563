/// `runtime_stats()`.

#include "engine/request.hpp"
#include "settings.hpp"

#include <trueasync/runtime/scheduler.hpp>

using namespace trueasync;
using namespace trueasync::php;

ZEND_FUNCTION(Async_runtime_stats) {
    ZEND_PARSE_PARAMETERS_NONE();
    std::size_t total = 0;
    std::size_t microtasks = 0;
    std::size_t queued = 0;
    std::size_t resumed = 0;
    StackPoolStats stacks;
    StackPoolSettings bounds;
    const std::size_t size = request.runtime != nullptr ? request.stack_size : stack_size();
    if (request.runtime != nullptr) {
        Scheduler& scheduler = request.runtime->scheduler();
        for (const Coroutine& coroutine : scheduler.alive()) {
            ++total;
            queued += coroutine.is_queued() ? 1 : 0;
            resumed += coroutine.is_queued() && coroutine.is_started() ? 1 : 0;
        }
        microtasks = scheduler.microtasks().size();
        stacks = request.runtime->stacks().stats();
        bounds = request.runtime->stacks().settings();
    } else {
        bounds = stack_settings();
    }
    const auto put = [return_value](const char* name, std::size_t value) {
        add_assoc_long(return_value, name, static_cast<zend_long>(value));
    };
    array_init_size(return_value, 10);
    put("coroutines_total", total);
    put("coroutines_active", total);  // finished ones are nowhere counted
    put("microtasks_queue", microtasks);
    put("coroutine_queue", queued);
    put("resumed_queue", resumed);
    put("fiber_pool_count", stacks.idle);
    put("fiber_pool_capacity", bounds.max_idle);
    put("fiber_pool_min", bounds.min_idle);
    put("fiber_stack_size", size);
    put("fiber_pool_virtual_bytes", stacks.idle * size);
}
