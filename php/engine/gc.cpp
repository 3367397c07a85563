#include "gc.hpp"

#include "../error.hpp"
#include "mentions.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <algorithm>
#include <cstdint>
#include <trueasync/runtime/helper.hpp>
#include <utility>

namespace trueasync::php {

namespace {

int (*collect_before)() = nullptr;
zif_handler function_before = nullptr;
zif_handler status_before = nullptr;
void (*execute_before)(zend_execute_data*) = nullptr;

struct GcState {
    bool is_pending = false;      // a coroutine for it is queued
    bool is_collecting = false;   // it is at work
    bool was_full = false;        // the buffer of roots was full since the last collection
    std::uint32_t threshold = 0;  // as `gc_status` shows it; 0: as the engine has it
};
TA_PHP_THREAD_LOCAL GcState state;

// The engine's own, of zend_gc.c.
constexpr std::uint32_t kThreshold = 10001;
constexpr std::uint32_t kStep = 10000;
constexpr std::uint32_t kMaxThreshold = 1'000'000'000;
constexpr int kFew = 100;  // fewer than that raise the threshold, more lower it

class DestructorBody final : public HelperBody {
public:
    explicit DestructorBody(zend_object* object) : object_(object) { GC_ADDREF(object_); }
    ~DestructorBody() override { OBJ_RELEASE(object_); }

    Ref<Error> run() override {
        zend_objects_destroy_object(object_);
        return EG(exception) != nullptr ? take_exception() : Ref<Error>();
    }

private:
    zend_object* object_;
};

/// In place of the executor while the collector works: a destructor is taken out of it.
void execute_aside(zend_execute_data* frame) {
    zend_execute_ex = execute_before;
    zend_object* object = Z_TYPE(frame->This) == IS_OBJECT ? Z_OBJ(frame->This) : nullptr;
    const bool is_destructor = object != nullptr && frame->func == object->ce->destructor;
    if (is_destructor &&
        request.runtime->scheduler().spawn_helper(std::make_unique<DestructorBody>(object), Place(), Priority::High)) {
        EG(current_execute_data) = frame->prev_execute_data;
        zend_vm_stack_free_call_frame(frame);
        Scheduler::run_head(std::source_location());
    } else {
        zend_execute_ex(frame);
    }
    zend_execute_ex = execute_aside;
}

zend_gc_status engine_status() noexcept {
    zend_gc_status status;
    zend_gc_get_status(&status);
    return status;
}

/// While a collection is due the engine need not ask for it again: its buffer just grows.
void let_engine_ask(bool is_asking) noexcept { gc_enable(is_asking && INI_BOOL("zend.enable_gc")); }

/// What the engine does after a collection that it has asked for.
void adjust_threshold(int count) noexcept {
    if (count < kFew) {
        state.threshold = std::min(state.threshold + kStep, kMaxThreshold);
    } else if (state.threshold > kThreshold) {
        state.threshold = std::max(state.threshold - kStep, kThreshold);
    }
}

void collect_now() {
    state.is_pending = false;
    state.is_collecting = true;
    const bool had_roots = engine_status().num_roots != 0;
    const bool was_full = std::exchange(state.was_full, false);
    execute_before = std::exchange(zend_execute_ex, execute_aside);
    request.has_rare_state |= Request::kCollecting;
    const int count = collect_before();
    request.has_rare_state &= static_cast<std::uint8_t>(~Request::kCollecting);
    zend_execute_ex = execute_before;
    if (was_full && had_roots) {
        adjust_threshold(count);
    }
    state.is_collecting = false;
    let_engine_ask(true);
}

class CollectorBody final : public HelperBody {
public:
    ~CollectorBody() override {
        if (!has_run_ && state.is_pending) {  // dropped by a shutdown
            state.is_pending = false;
            let_engine_ask(true);
        }
    }

    Ref<Error> run() override {
        has_run_ = true;
        if (state.is_pending) {
            collect_now();
        }
        return {};
    }

private:
    bool has_run_ = false;
};

bool is_deferred() noexcept {
    return request.runtime != nullptr && !state.is_collecting &&
           (request.runtime->is_accepting() || request.runtime->state() == Runtime::State::Stopping);
}

void defer() noexcept {
    if (!state.is_pending) {
        state.is_pending = true;  // first: making the coroutine may find the buffer full again
        state.is_pending =
            static_cast<bool>(request.runtime->scheduler().spawn_helper(std::make_unique<CollectorBody>(), Place()));
    }
}

/// What the engine calls when its buffer of roots is full. Its threshold goes up when few are said to be collected, else down.
int collect() {
    if (!is_deferred()) {
        return collect_before();
    }
    const zend_gc_status engine = engine_status();
    if (state.threshold == 0) {
        state.threshold = engine.threshold;
    }
    if (engine.threshold < state.threshold && engine.num_roots + 1 < state.threshold) {
        return 0;  // not full yet: lets it catch up with what is shown
    }
    state.was_full = true;
    defer();
    let_engine_ask(!state.is_pending);
    return kFew;
}

/// What PHP code calls.
ZEND_NAMED_FUNCTION(collect_function) {
    // A program that uses streams and `Async\` has had the scheduler since the first stream.
    const bool is_running = request.runtime != nullptr || (request.is_open && mentions_async() && is_started());
    if (!is_running || !is_deferred()) {
        function_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    ZEND_PARSE_PARAMETERS_NONE();
    defer();
    RETURN_LONG(0);
}

ZEND_NAMED_FUNCTION(status_function) {
    status_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (state.threshold != 0 && Z_TYPE_P(return_value) == IS_ARRAY) {
        add_assoc_long(return_value, "threshold", static_cast<zend_long>(state.threshold));
    }
}

/// What PHP code has said, whatever a pending collection does to the engine.
ZEND_NAMED_FUNCTION(enabled_function) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(INI_BOOL("zend.enable_gc"));
}

}  // namespace

void CollectorState::leave() noexcept {
    is_left_ = is_collecting();
    if (is_left_) {
        zend_execute_ex = execute_before;
    }
}

void CollectorState::enter() noexcept {
    if (std::exchange(is_left_, false)) {
        execute_before = std::exchange(zend_execute_ex, execute_aside);
    }
}

bool CollectorState::is_collecting() noexcept { return zend_execute_ex == execute_aside; }

void gc_minit() {
    collect_before = std::exchange(gc_collect_cycles, collect);
    status_before = replace_handler(CG(function_table), "gc_status", status_function);
    replace_handler(CG(function_table), "gc_enabled", enabled_function);
    function_before = replace_handler(CG(function_table), "gc_collect_cycles", collect_function);
}

void gc_mshutdown() {
    if (gc_collect_cycles == collect) {
        gc_collect_cycles = collect_before;
    }
}

void gc_finish_pending() {
    if (state.is_pending && is_deferred()) {
        collect_now();
    }
}

void gc_runtime_end() {
    if (CollectorState::is_collecting()) {  // a fatal error has ended it
        zend_execute_ex = execute_before;
    }
    if (state.is_pending || state.threshold != 0) {
        state = {};
        let_engine_ask(true);
    }
}

void gc_request_begin() { state = {}; }

}  // namespace trueasync::php
