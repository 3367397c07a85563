#include "coroutine.hpp"

#include "../engine/in_use.hpp"
#include "../place.hpp"
#include "../stubs/coroutine_arginfo.h"
#include "awaitable.hpp"
#include "context.hpp"
#include "exceptions.hpp"
#include "finally.hpp"

#include <cstdint>

namespace trueasync::php {

namespace {

zend_object_handlers handlers;
zend_internal_function root_function = {};  // of the outermost frame on each VM stack

/// Its error comes up while the exception is still whole: the collector frees both in any order.
void destroy_coroutine(zend_object* object) { PhpCoroutine::of(object).drop_handle(); }

void free_coroutine(zend_object* object) {
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    if (UNEXPECTED(coroutine.attachment() != nullptr)) {
        end_context(coroutine);
    }
    coroutine.end();
    zend_object_std_dtor(object);
}

HashTable* show_to_collector(zend_object* object, zval** table, int* count) {
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    Shown shown;
    shown.add(coroutine.callable);
    for (Value& argument : coroutine.arguments) {
        shown.add(argument);
    }
    shown.add(coroutine.value);
    shown.add(coroutine.error());
    show_context(coroutine, shown);
    if (const FinallyList* finally = coroutine.finally_list()) {
        finally->each([&](FinallyHandler& handler) { shown.add(static_cast<PhpFinally&>(handler).callable); });
    }
    shown.give_to(table, count);
    return nullptr;
}

/// `@` holds for the code behind it, not for a coroutine that begins there.
int unsilenced_level() noexcept {
    if (EXPECTED(!E_HAS_ONLY_FATAL_ERRORS(EG(error_reporting)))) {
        return EG(error_reporting);
    }
    const char* level = INI_STR("error_reporting");
    return level != nullptr && *level != '\0' ? static_cast<int>(INI_INT("error_reporting")) : E_ALL;
}

zend_object* refuse_new(zend_class_entry* ce) {
    zend_throw_error(nullptr, "Cannot directly construct %s, use Async\\spawn() instead", ZSTR_VAL(ce->name));
    return zend_objects_new(zend_standard_class_def);
}

}  // namespace

PhpCoroutine::PhpCoroutine() : Coroutine(std::source_location()) {
    vm.vm_stack = nullptr;
    vm.current_execute_data = nullptr;  // until it leaves for the first time
    vm.error_reporting = unsilenced_level();
    become_host_object(sizeof(PhpCoroutine));
}

PhpCoroutine* PhpCoroutine::create() noexcept {
    static_assert(sizeof(PhpCoroutine) % alignof(zend_object) == 0);
    auto* memory = static_cast<std::byte*>(emalloc(sizeof(PhpCoroutine) + sizeof(zend_object)));
    auto* coroutine = new (memory) PhpCoroutine();
    auto* object = reinterpret_cast<zend_object*>(memory + sizeof(PhpCoroutine));
    zend_object_std_init(object, ce_coroutine);  // a class that is final and has no properties
    object->handlers = &handlers;
    if (const zend_execute_data* frame = user_frame(EG(current_execute_data)); EXPECTED(frame != nullptr)) {
        zval file;
        ZVAL_STR(&file, frame->func->op_array.filename);
        coroutine->spawn_file = Value(&file);
        coroutine->spawn_line = frame->opline->lineno;
    }
    return coroutine;
}

Place PhpCoroutine::spawned_at() const {
    if (!spawn_file.is_set()) {
        return {};
    }
    const zend_string* file = Z_STR_P(spawn_file.get());
    return {std::string_view(ZSTR_VAL(file), ZSTR_LEN(file)), spawn_line};
}

Place PhpCoroutine::suspended_at() const {
    if (!is_started() || is_finished() || vm.current_execute_data == nullptr) {
        return {};
    }
    return place_of(is_running() ? EG(current_execute_data) : vm.current_execute_data);
}

void PhpCoroutine::leave() noexcept {
    if (is_loaded_) {
        is_loaded_ = false;
        save();
    } else if (EG(current_execute_data) == vm.current_execute_data) {
        vm.save_unobserved();  // what was called since may have thrown
    }                          // else it has left before in the same window, and is not back yet
    request.scheduler_vm.load();
    request.is_in_scheduler = true;
}

void PhpCoroutine::save_aside() noexcept {
    vm.save_constants();  // inside a native fiber they are its own
    if (may_be_nested) {
        note_outer_uses(*this);
    }
    if (aside_ == nullptr) {
        if (!has_state_aside()) {
            return;
        }
        aside_ = std::make_unique<Aside>();
    }
    aside_->output.leave();
    aside_->compare.leave();
    aside_->serialize.leave();
    aside_->signal_handler.leave();
    aside_->collector.leave();
    aside_->error_handler.leave();
    aside_->fiber_block.leave();
    aside_->wrapper.leave();
    aside_->soap.leave();
    aside_->error_log.leave();
}

void PhpCoroutine::load_aside() noexcept {
    aside_->output.enter();
    aside_->compare.enter();
    aside_->serialize.enter();
    aside_->signal_handler.enter();
    aside_->collector.enter();
    aside_->error_handler.enter();
    aside_->fiber_block.enter();
    aside_->wrapper.enter();
    aside_->soap.enter();
    aside_->error_log.enter();
}

void PhpCoroutine::drop_body() noexcept {
    if (UNEXPECTED(error() != nullptr && !is_started())) {
        drop_unstarted();
    } else {
        drop_parts();
    }
}

/// Cancelled before it began. What destructors throw now is its own, whoever has the turn.
void PhpCoroutine::drop_unstarted() noexcept {
    const ExceptionPause pause;
    survive([this] { drop_parts(); });
    if (EG(exception) != nullptr) {
        Ref<Error> thrown = take_exception();
        if (!thrown->is_cancellation()) {
            zend_exception_set_previous(PhpError::thrown_by(thrown.get()), to_exception(*error()));
            fail(std::move(thrown));
        }
    }
}

TA_INLINE void PhpCoroutine::drop_parts() noexcept {
    GC_DEL_FLAGS(object(), GC_NOT_COLLECTABLE);
    callable.reset();
    arguments.clear();
    helper.reset();
}

void PhpCoroutine::run_body() noexcept {
    if (helper != nullptr) {
        if (Ref<Error> error = helper->run()) {
            fail(std::move(error));
        }
    } else {
        const auto count = static_cast<std::uint32_t>(arguments.size());
        auto* given = reinterpret_cast<zval*>(arguments.data());
        if (UNEXPECTED(has_named_arguments)) {
            callable.call(value.get(), count - 1, given, Z_ARRVAL(given[count - 1]));
        } else if (UNEXPECTED(!callable.call_plainly(value.get(), count, given))) {
            callable.call(value.get(), count, given);
        }
    }
    drop_body();
    if (GC_REFCOUNT(object()) ==
        1) {  // only the runtime knows it: let go here what it has, where destructors may suspend
        if (!keeps_value) {
            value.reset();
        }
        if (attachment() != nullptr && finally_list()->empty()) {
            end_context(*this);
            attach(nullptr);
        }
    }
}

/// It has left buffers behind, or an exception. Not part of `run`, whose frame is on the stack of all who wait.
void PhpCoroutine::end_body() noexcept {
    if (OutputState::has_buffers()) {
        const ExceptionPause pause;  // output callbacks run whatever the end was
        OutputState::end();
    }
    if (EG(exception) != nullptr && zend_is_unwind_exit(EG(exception))) {
        zend_clear_exception();
        end_script();  // not just this coroutine
    } else if (EG(exception) != nullptr) {
        value.reset();
        fail(take_exception());
    }
}

void PhpCoroutine::run() {
    if (UNEXPECTED(request.is_dying)) {
        drop_body();
        return;
    }
    alignas(zval) std::byte page[kFirstPage];
    observe_start(fiber, spawn_file, spawn_line);
    fiber.status = ZEND_FIBER_STATUS_RUNNING;
    VmState::begin_here(
        page, reinterpret_cast<zend_function*>(&root_function), vm.error_reporting, &fiber,
        request.runtime->stacks().stack_at(Coroutine::context().stack_top())
    );
    vm.save_constants();
    request.is_in_scheduler = false;
    zend_try {
        run_body();
        if (UNEXPECTED(OutputState::has_buffers() || EG(exception) != nullptr)) {
            end_body();
        }
    }
    zend_catch {
        die();
        OutputState::abandon();
    }
    zend_end_try();
    FiberBlock().leave();  // left behind by a fatal error
    vm.vm_stack = EG(vm_stack);
    observe_end(fiber);
    request.scheduler_vm.load();
    request.is_in_scheduler = true;
    vm.end();
}

Ref<Coroutine> PhpHelpers::make(std::unique_ptr<HelperBody> body, const Place& where) {
    PhpCoroutine* coroutine = PhpCoroutine::create();
    coroutine->helper = std::move(body);
    GC_ADD_FLAGS(
        coroutine->object(), GC_NOT_COLLECTABLE
    );  // one that is made for the collector must not fill its buffer
    if (where.is_known()) {
        zval file;
        ZVAL_STRINGL(&file, where.file.data(), where.file.size());
        coroutine->spawn_file = Value::adopt(&file);
        coroutine->spawn_line = where.line;
    }
    return Ref<Coroutine>::adopt(coroutine);
}

namespace {

TA_INLINE PhpCoroutine* make_empty() noexcept {
    PhpCoroutine* coroutine = PhpCoroutine::create();
    if (UNEXPECTED(request.runtime->state() == Runtime::State::Stopping)) {  // it is there, but does not begin any more
        request.runtime->scheduler().cancel(
            *coroutine, Error::cancellation(CancelReason::Shutdown, "Graceful shutdown")
        );
    }
    return coroutine;
}

}  // namespace

PhpCoroutine* make_coroutine(zend_object* closure) noexcept {
    PhpCoroutine* coroutine = make_empty();
    coroutine->callable.set(closure);
    return coroutine;
}

PhpCoroutine* make_coroutine(Callable callable) noexcept {
    PhpCoroutine* coroutine = make_empty();
    coroutine->callable = std::move(callable);
    return coroutine;
}

PhpCoroutine* make_coroutine(const Task& task) noexcept {
    PhpCoroutine* coroutine = make_coroutine(Callable(task.call, task.cache));
    coroutine->arguments.reserve(static_cast<std::size_t>(task.count));
    for (int i = 0; i < task.count; ++i) {
        coroutine->arguments.emplace_back(&task.arguments[i]);
    }
    if (task.named != nullptr) {
        zval array;
        ZVAL_ARR(&array, task.named);
        coroutine->arguments.emplace_back(&array);
        coroutine->has_named_arguments = true;
    }
    return coroutine;
}

bool spawn_coroutine(PhpCoroutine* coroutine, Owner* owner, zval* return_value) noexcept {
    if (!check(request.runtime->scheduler().spawn(*coroutine, owner))) {
        OBJ_RELEASE(coroutine->object());
        return false;
    }
    ZVAL_OBJ(return_value, coroutine->object());
    return true;
}

void register_coroutine() {
    init_root_function(root_function);
    ce_coroutine = register_class_Async_Coroutine(ce_completable);
    ce_coroutine->create_object = refuse_new;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = sizeof(PhpCoroutine);
    handlers.dtor_obj = destroy_coroutine;
    handlers.free_obj = free_coroutine;
    handlers.clone_obj = nullptr;
    handlers.get_gc = show_to_collector;
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

namespace {

PhpCoroutine& self_of(zval* object) { return PhpCoroutine::of(Z_OBJ_P(object)); }

}  // namespace

ZEND_METHOD(Async_Coroutine, getId) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_LONG(static_cast<zend_long>(self_of(ZEND_THIS).id()));
}

ZEND_METHOD(Async_Coroutine, asHiPriority) {
    ZEND_PARSE_PARAMETERS_NONE();
    self_of(ZEND_THIS).set_priority(Priority::High);
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_METHOD(Async_Coroutine, getResult) {
    ZEND_PARSE_PARAMETERS_NONE();
    PhpCoroutine& self = self_of(ZEND_THIS);
    if (self.is_finished() && self.error() == nullptr && self.value.is_set()) {
        RETURN_COPY(self.value.get());
    }
}

ZEND_METHOD(Async_Coroutine, getException) {
    ZEND_PARSE_PARAMETERS_NONE();
    PhpCoroutine& self = self_of(ZEND_THIS);
    if (self.is_finished() && self.error() != nullptr) {
        RETURN_OBJ(to_exception(*self.error()));
    }
}

ZEND_METHOD(Async_Coroutine, getTrace) {
    zend_long options = DEBUG_BACKTRACE_PROVIDE_OBJECT;
    zend_long limit = 0;
    ZEND_PARSE_PARAMETERS_START(0, 2)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(options)
    Z_PARAM_LONG(limit)
    ZEND_PARSE_PARAMETERS_END();
    PhpCoroutine& self = self_of(ZEND_THIS);
    if (!self.is_started() || self.is_running() || self.is_finished()) {
        RETURN_NULL();
    }
    zend_execute_data* here = EG(current_execute_data);
    EG(current_execute_data) = self.vm.current_execute_data;
    zend_fetch_debug_backtrace(return_value, 0, static_cast<int>(options), static_cast<int>(limit));
    EG(current_execute_data) = here;
}

ZEND_METHOD(Async_Coroutine, getSpawnFileAndLine) {
    ZEND_PARSE_PARAMETERS_NONE();
    return_place(self_of(ZEND_THIS).spawned_at(), return_value);
}

ZEND_METHOD(Async_Coroutine, getSpawnLocation) {
    ZEND_PARSE_PARAMETERS_NONE();
    return_location(self_of(ZEND_THIS).spawned_at(), return_value);
}

ZEND_METHOD(Async_Coroutine, getSuspendFileAndLine) {
    ZEND_PARSE_PARAMETERS_NONE();
    PhpCoroutine& self = self_of(ZEND_THIS);
    return_place(self.suspended_at(), return_value);
}

ZEND_METHOD(Async_Coroutine, getSuspendLocation) {
    ZEND_PARSE_PARAMETERS_NONE();
    PhpCoroutine& self = self_of(ZEND_THIS);
    return_location(self.suspended_at(), return_value);
}

#define TA_COROUTINE_IS(method, expression)      \
    ZEND_METHOD(Async_Coroutine, method) {       \
        ZEND_PARSE_PARAMETERS_NONE();            \
        PhpCoroutine& self = self_of(ZEND_THIS); \
        RETURN_BOOL(expression);                 \
    }
TA_COROUTINE_IS(isStarted, self.is_started())
TA_COROUTINE_IS(isQueued, !self.is_finished() && self.is_queued())
TA_COROUTINE_IS(isRunning, self.is_running())
TA_COROUTINE_IS(isSuspended, self.is_suspended())
TA_COROUTINE_IS(isCancelled, self.is_cancelled())
TA_COROUTINE_IS(isCancellationRequested, self.is_cancel_requested())
TA_COROUTINE_IS(isCompleted, self.is_finished())
#undef TA_COROUTINE_IS

ZEND_METHOD(Async_Coroutine, getAwaitingInfo) {
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    for (const std::string& line : self_of(ZEND_THIS).awaiting()) {
        add_next_index_stringl(return_value, line.data(), line.size());
    }
}

ZEND_METHOD(Async_Coroutine, cancel) {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    PhpCoroutine& self = self_of(ZEND_THIS);
    if (!self.is_finished() && request.runtime != nullptr) {
        request.runtime->scheduler().cancel(self, make_cancellation(cancellation, "Coroutine cancelled"));
    }
}

ZEND_METHOD(Async_Coroutine, finally) {
    zval* closure = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(closure, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    PhpCoroutine& self = self_of(ZEND_THIS);
    std::unique_ptr<FinallyHandler> handler = make_finally(closure, nullptr, [held = &self] {
        GC_ADDREF(held->object());
        return held->object();
    });
    if (!self.add_finally(handler)) {
        call_finally_now(*handler);
    }
}
