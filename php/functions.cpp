/// The functions of the namespace that belong to no class.

#include "classes/awaitable.hpp"
#include "classes/coroutine.hpp"
#include "classes/exceptions.hpp"
#include "classes/scope.hpp"
#include "classes/timeout.hpp"
#include "engine/request.hpp"
#include "error.hpp"

#include <chrono>
#include <trueasync/runtime/wait.hpp>

using namespace trueasync;
using namespace trueasync::php;

ZEND_FUNCTION(Async_spawn) {
    if (zend_object* closure = only_closure(execute_data); EXPECTED(closure != nullptr)) {
        if (start()) {
            spawn_coroutine(make_coroutine(closure), current_scope(), return_value);
        }
        return;
    }
    Task task;
    ZEND_PARSE_PARAMETERS_START(1, -1)
    TA_PARAM_TASK(task)
    ZEND_PARSE_PARAMETERS_END();
    if (!start()) {
        return;
    }
    spawn_coroutine(make_coroutine(task), current_scope(), return_value);
}

ZEND_FUNCTION(Async_spawn_with) {
    zend_object* provider = nullptr;
    Task task;
    ZEND_PARSE_PARAMETERS_START(2, -1)
    Z_PARAM_OBJ_OF_CLASS(provider, ce_scope_provider)
    TA_PARAM_TASK(task)
    ZEND_PARSE_PARAMETERS_END();
    if (!start()) {
        return;
    }
    Value provided;
    zend_call_method_with_0_params(provider, provider->ce, nullptr, "provideScope", provided.get());
    if (EG(exception) != nullptr) {
        return;
    }
    const bool is_given = Z_TYPE_P(provided.get()) == IS_OBJECT;
    ScopeEvent* scope = is_given ? scope_of(Z_OBJ_P(provided.get())) : current_scope();
    if (scope == nullptr) {
        return;
    }
    if (!instanceof_function(provider->ce, ce_spawn_strategy)) {
        spawn_coroutine(make_coroutine(task), scope, return_value);
        return;
    }
    if (!check(scope->admit())) {
        return;
    }
    PhpCoroutine* coroutine = make_coroutine(task);
    zval hook[2];
    ZVAL_OBJ(&hook[0], coroutine->object());
    ZVAL_OBJ(&hook[1], scope_object(*scope));
    const Value held_scope = Value::adopt(Z_OBJ(hook[1]));
    Value ignored;
    zend_call_method_with_2_params(
        provider, provider->ce, nullptr, "beforeCoroutineEnqueue", ignored.get(), &hook[0], &hook[1]
    );
    if (EG(exception) != nullptr || !check(request.runtime->scheduler().spawn(*coroutine, scope))) {
        OBJ_RELEASE(coroutine->object());
        return;
    }
    ignored.reset();
    zend_call_method_with_2_params(
        provider, provider->ce, nullptr, "afterCoroutineEnqueue", ignored.get(), &hook[0], &hook[1]
    );
    RETURN_OBJ(coroutine->object());
}

namespace {

WaitResult suspend_here() noexcept {
    const WaitWindow window;
    return Scheduler::suspend(std::source_location());
}

TA_INLINE WaitResult sleep_here(Deadline deadline) noexcept {
    const WaitWindow window;
    return sleep_until(deadline, std::source_location());
}

}  // namespace

ZEND_FUNCTION(Async_suspend) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (!may_suspend()) {
        return;
    }
    if (Coroutine* self = PhpCoroutine::suspend_simple(); EXPECTED(self != nullptr)) {
        if (UNEXPECTED(!Scheduler::is_undisturbed_but_hooked(*self))) {
            has_arrived(Scheduler::arrived(*self));
        }
    } else {
        has_arrived(suspend_here());
    }
}

ZEND_FUNCTION(Async_delay) {
    zend_long milliseconds = 0;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(milliseconds)
    ZEND_PARSE_PARAMETERS_END();
    if (!may_suspend()) {
        return;
    }
    if (milliseconds <= 0) {
        has_arrived(suspend_here());
    } else {
        has_arrived(sleep_here(Deadline::after(std::chrono::milliseconds(milliseconds))));
    }
}

ZEND_FUNCTION(Async_await) {
    if (const zval* only = ZEND_CALL_ARG(execute_data, 1); EXPECTED(
            ZEND_NUM_ARGS() == 1 && Z_TYPE_P(only) == IS_OBJECT && Z_OBJCE_P(only) == ce_coroutine &&
            await_coroutine(PhpCoroutine::of(Z_OBJ_P(only)), return_value)
        )) {
        return;
    }
    zend_object* awaitable = nullptr;
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_OBJ_OF_CLASS(awaitable, ce_completable)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    if (!start()) {
        return;
    }
    if (Event* event = event_of(awaitable)) {
        await_event(*event, token != awaitable ? token : nullptr, return_value);
    }
}

ZEND_FUNCTION(Async_timeout) {
    zend_long milliseconds = 0;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(milliseconds)
    ZEND_PARSE_PARAMETERS_END();
    if (milliseconds <= 0) {
        zend_value_error("Timeout value must be greater than 0");
        return;
    }
    RETURN_OBJ(make_timeout(milliseconds));
}

ZEND_FUNCTION(Async_protect) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zval* closure = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(closure, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    if (zend_fcall_info_init(closure, 0, &call, &cache, nullptr, nullptr) != SUCCESS) {
        return;
    }
    call.retval = return_value;
    if (request.runtime == nullptr || request.is_in_scheduler) {
        zend_call_function(&call, &cache);
        return;
    }
    ProtectGuard guard;
    zend_call_function(&call, &cache);
    if (guard.leave() == WaitResult::Cancelled) {
        zval_ptr_dtor(return_value);
        ZVAL_NULL(return_value);
        const ExceptionPause pause;
        has_arrived(WaitResult::Cancelled);
    }
}

ZEND_FUNCTION(Async_current_coroutine) {
    ZEND_PARSE_PARAMETERS_NONE();
    Coroutine* current = is_started() && !request.is_in_scheduler ? Scheduler::current_coroutine() : nullptr;
    if (current == nullptr) {
        zend_throw_exception(ce_async_exception, "The current coroutine is not defined", 0);
        return;
    }
    RETURN_OBJ_COPY(static_cast<PhpCoroutine*>(current)->object());
}

ZEND_FUNCTION(Async_get_coroutines) {
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    if (!is_started()) {
        return;
    }
    for (Coroutine& coroutine : request.runtime->scheduler().alive()) {
        zend_object* object = static_cast<PhpCoroutine&>(coroutine).object();
        GC_ADDREF(object);
        add_next_index_object(return_value, object);
    }
}

ZEND_FUNCTION(Async_graceful_shutdown) {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    if (request.runtime != nullptr) {
        request.runtime->shutdown(cancellation != nullptr ? PhpError::share(cancellation) : Ref<Error>());
    }
}

ZEND_FUNCTION(Async_spawn_thread) {
    zval* task = nullptr;
    bool inherit = true;
    zval* bootloader = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 3)
    Z_PARAM_OBJECT_OF_CLASS(task, zend_ce_closure)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(inherit)
    Z_PARAM_OBJECT_OF_CLASS_OR_NULL(bootloader, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    zend_throw_exception(ce_async_exception, "spawn_thread() requires a Thread-Safe (ZTS) PHP build", 0);
}
