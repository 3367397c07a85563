#include "gc.hpp"

#include "../error.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <trueasync/runtime/helper.hpp>
#include <utility>

namespace trueasync::php {

namespace {

int (*collect_before)() = nullptr;
zif_handler function_before = nullptr;
void (*execute_before)(zend_execute_data*) = nullptr;

struct GcState {
    bool is_pending = false;     // a coroutine for it is queued
    bool is_collecting = false;  // it is at work
    int last_count = -1;         // what it has freed, until the engine was told; -1: nothing to tell
};
TA_PHP_THREAD_LOCAL GcState state;

/// Neither too few to raise the threshold nor a reason to lower it.
constexpr int kNeutral = 100;

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

void collect_now() {
    state.is_pending = false;
    state.is_collecting = true;
    execute_before = std::exchange(zend_execute_ex, execute_aside);
    state.last_count = collect_before();
    zend_execute_ex = execute_before;
    state.is_collecting = false;
}

class CollectorBody final : public HelperBody {
public:
    Ref<Error> run() override {
        if (state.is_pending) {
            collect_now();
        }
        return {};
    }
};

bool is_deferred() noexcept {
    return request.runtime != nullptr && !state.is_collecting && request.runtime->is_accepting();
}

void defer() noexcept {
    if (!state.is_pending) {
        state.is_pending = true;  // first: making the coroutine may find the buffer full again
        state.is_pending =
            static_cast<bool>(request.runtime->scheduler().spawn_helper(std::make_unique<CollectorBody>(), Place()));
    }
}

/// What the engine calls when its buffer of roots is full.
int collect() {
    if (!is_deferred()) {
        return collect_before();
    }
    defer();
    return state.last_count >= 0 ? std::exchange(state.last_count, -1) : kNeutral;
}

/// What PHP code calls.
ZEND_NAMED_FUNCTION(collect_function) {
    if (!is_deferred()) {
        function_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    ZEND_PARSE_PARAMETERS_NONE();
    defer();
    RETURN_LONG(0);
}

}  // namespace

void gc_minit() {
    collect_before = std::exchange(gc_collect_cycles, collect);
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

void gc_request_begin() { state = {}; }

}  // namespace trueasync::php
