#include "scope.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../per_thread.hpp"
#include "../place.hpp"
#include "../stubs/scope_arginfo.h"
#include "awaitable.hpp"
#include "context.hpp"
#include "coroutine.hpp"
#include "exceptions.hpp"
#include "finally.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trueasync::php {

namespace {

/// Calls it right where a coroutine ends. Takes over the arguments.
Ref<Error> call_handler(Callable& callable, std::span<zval> arguments) noexcept {
    Ref<Error> error;
    survive([&] {
        zval result;
        const bool is_well = callable.call(&result, static_cast<std::uint32_t>(arguments.size()), arguments.data());
        zval_ptr_dtor(&result);
        for (zval& argument : arguments) {
            zval_ptr_dtor(&argument);
        }
        if (!is_well) {
            error = take_exception();
        }
    });
    return error;
}

/// A handler for errors that PHP code has set.
class PhpErrorHandler final : public ScopeErrorHandler {
public:
    explicit PhpErrorHandler(Callable callable) : callable(std::move(callable)) {}

    Ref<Error> call(ScopeEvent& scope, Coroutine& coroutine, Error& error) override {
        zval arguments[3];
        ZVAL_OBJ(&arguments[0], scope_object(scope));
        ZVAL_OBJ_COPY(&arguments[1], static_cast<PhpCoroutine&>(coroutine).object());
        ZVAL_OBJ(&arguments[2], to_exception(error));
        Callable held = callable;  // it may be replaced by itself
        return call_handler(held, arguments);
    }

    Callable callable;
};

TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<const ScopeEvent*, zend_object*>> objects;  // not counted

TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<const ScopeEvent*, const GroupEvent*>> groups;  // by their own scopes

/// Whether a scope below does nothing but wait for the collector to take it too.
bool is_idle_group(const ScopeEvent& scope) {
    const auto found = groups->find(&scope);
    return found != groups->end() && found->second->ref_count() == 1 && scope.ref_count() == 1;
}

struct ScopeData {
    Ref<ScopeEvent> scope;
    Value file;              // keeps the text of its place
    bool is_handle = false;  // the user's: the scope ends with it. Else it was made to be shown to a handler

    ~ScopeData() {
        if (scope == nullptr) {
            return;
        }
        objects->erase(scope.get());
        if (request.is_open && is_handle && !scope->is_dropped()) {
            const ExceptionPause pause;  // after a fatal error the engine skips what it calls destructors
            start();                     // its handlers are called from a coroutine
            dropped();
        }
    }
    /// The user has let it go: what runs in it is stopped.
    void dropped() {
        if (scope != nullptr && is_handle && !scope->is_dropped()) {
            scope->handle_dropped();
        }
    }
    void show(Shown& shown) {
        if (scope == nullptr) {
            return;
        }
        std::uint32_t idle = 1;
        scope->each_child([&](ScopeEvent& child) { idle += is_idle_group(child) ? 1 : 0; });
        if (scope->ref_count() != idle) {  // something runs in it, and it stays
            return;
        }
        for (ScopeErrorHandler* handler : {scope->error_handler(), scope->child_error_handler()}) {
            if (handler != nullptr) {
                shown.add(static_cast<PhpErrorHandler*>(handler)->callable);
            }
        }
        show_context(*scope, shown);
        scope->finally_list().each([&](FinallyHandler& handler) {
            shown.add(static_cast<PhpFinally&>(handler).callable);
        });
    }
};
using ScopeObject = ObjectOf<ScopeData>;

void attach(zend_object* object, Ref<ScopeEvent> scope) {
    (*objects)[scope.get()] = object;
    ScopeObject::of(object).scope = std::move(scope);
}

Ref<ScopeEvent> make_scope(ScopeEvent* parent, Value& file) {
    const Place place = place_here(file);
    return ScopeEvent::create(parent, place);
}

}  // namespace

ScopeEvent* scope_of(zend_object* object) noexcept {
    ScopeEvent* scope = ScopeObject::of(object).scope.get();
    if (UNEXPECTED(scope == nullptr)) {
        zend_throw_error(nullptr, "The scope was not constructed");
    }
    return scope;
}

zend_object* scope_object(ScopeEvent& scope) noexcept {
    if (const auto found = objects->find(&scope); found != objects->end()) {
        GC_ADDREF(found->second);
        return found->second;
    }
    zend_object* object = ScopeObject::create(ce_scope);
    attach(object, Ref<ScopeEvent>(&scope));
    return object;
}

void note_group(const GroupEvent& group) { (*groups)[&group.scope()] = &group; }
void forget_group(const GroupEvent& group) { groups->erase(&group.scope()); }

ScopeEvent* current_scope() noexcept {
    if (!start()) {
        return nullptr;
    }
    if (EXPECTED(Scheduler::current_owner() == request.main_scope.get())) {
        return request.main_scope.get();
    }
    ScopeEvent* scope = ScopeEvent::current();
    return scope != nullptr ? scope : request.main_scope.get();
}

ScopeEvent& scope_here() noexcept { return request.runtime != nullptr ? *current_scope() : main_scope(); }

void scope_request_end() {
    if (CG(unclean_shutdown) == 0) {
        return;
    }
    std::vector<std::pair<std::uint64_t, Ref<ScopeEvent>>> left;  // in the order they were made
    for (const auto& [scope, object] : *objects) {
        if (ScopeObject::of(object).is_handle && !scope->is_dropped()) {
            left.emplace_back(scope->id(), ScopeObject::of(object).scope);
        }
    }
    std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    zend_try {
        for (const auto& [id, scope] : left) {
            scope->handle_dropped();
        }
    }
    zend_end_try();
}

void register_scope() {
    ce_scope_provider = register_class_Async_ScopeProvider();
    ce_spawn_strategy = register_class_Async_SpawnStrategy(ce_scope_provider);
    ce_scope = register_class_Async_Scope(ce_scope_provider);
    ScopeObject::register_class(ce_scope);
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

namespace {

/// `Scope::awaitAfterCancellation`'s own handler.
class PhpObserver final : public ScopeEvent::ErrorObserver {
public:
    explicit PhpObserver(Callable callable) : callable_(std::move(callable)) {}
    Ref<Error> call(Error& error, ScopeEvent& scope) override {
        zval arguments[2];
        ZVAL_OBJ(&arguments[0], to_exception(error));
        ZVAL_OBJ(&arguments[1], scope_object(scope));
        return call_handler(callable_, arguments);
    }

private:
    Callable callable_;
};

}  // namespace

#define TA_SCOPE_SELF                                      \
    ScopeEvent* const self = scope_of(Z_OBJ_P(ZEND_THIS)); \
    if (self == nullptr) {                                 \
        return;                                            \
    }

ZEND_METHOD(Async_Scope, __construct) {
    ZEND_PARSE_PARAMETERS_NONE();
    ScopeData& self = ScopeObject::of(ZEND_THIS);
    if (self.scope == nullptr) {
        attach(Z_OBJ_P(ZEND_THIS), make_scope(nullptr, self.file));
        self.is_handle = true;
    }
}

ZEND_METHOD(Async_Scope, inherit) {
    zend_object* parent = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(parent, ce_scope)
    ZEND_PARSE_PARAMETERS_END();
    ScopeEvent* above = parent != nullptr ? scope_of(parent) : &scope_here();
    if (above == nullptr) {
        return;
    }
    zend_object* object = ScopeObject::create(ce_scope);
    attach(object, make_scope(above, ScopeObject::of(object).file));
    ScopeObject::of(object).is_handle = true;
    RETURN_OBJ(object);
}

ZEND_METHOD(Async_Scope, provideScope) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_METHOD(Async_Scope, asNotSafely) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_SCOPE_SELF
    self->set_safe(false);
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_METHOD(Async_Scope, allowZombies) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_SCOPE_SELF
    self->set_safe(true);
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_METHOD(Async_Scope, spawn) {
    zval* closure = nullptr;
    Task task;
    ZEND_PARSE_PARAMETERS_START(1, -1)
    Z_PARAM_OBJECT_OF_CLASS(closure, zend_ce_closure)
    Z_PARAM_VARIADIC_WITH_NAMED(task.arguments, task.count, task.named)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    if (zend_fcall_info_init(closure, 0, &task.call, &task.cache, nullptr, nullptr) == SUCCESS && start()) {
        spawn_coroutine(make_coroutine(task), self, return_value);
    }
}

ZEND_METHOD(Async_Scope, cancel) {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    self->cancel(make_cancellation(cancellation, "Scope was cancelled"));
}

ZEND_METHOD(Async_Scope, dispose) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_SCOPE_SELF
    self->cancel(make_cancellation(nullptr, "Scope was cancelled"));
}

ZEND_METHOD(Async_Scope, disposeSafely) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_SCOPE_SELF
    self->dispose_safely();
}

ZEND_METHOD(Async_Scope, disposeAfterTimeout) {
    zend_long milliseconds = 0;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(milliseconds)
    ZEND_PARSE_PARAMETERS_END();
    if (milliseconds < 0) {
        zend_argument_value_error(1, "must be greater than or equal to 0");
        return;
    }
    TA_SCOPE_SELF
    const std::chrono::milliseconds delay(milliseconds);
    if (request.runtime != nullptr) {
        check(self->dispose_after(delay));
    } else if (!self->dispose_after(delay) && start()) {  // refused: there is something to dispose
        check(self->dispose_after(delay));
    }
}

ZEND_METHOD(Async_Scope, awaitCompletion) {
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(token, ce_awaitable)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    WaitLimit limit;
    if (may_suspend() && limit_of(token, limit)) {
        const Ref<ScopeEvent> held(self);
        has_arrived(held->await_completion(limit));
    }
}

ZEND_METHOD(Async_Scope, awaitAfterCancellation) {
    zend_fcall_info call = empty_fcall_info;
    zend_fcall_info_cache cache = empty_fcall_info_cache;
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 2)
    Z_PARAM_OPTIONAL
    Z_PARAM_FUNC_OR_NULL(call, cache)
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_awaitable)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    WaitLimit limit;
    if (!may_suspend() || !limit_of(token, limit)) {
        return;
    }
    const Ref<ScopeEvent> held(self);
    if (ZEND_FCI_INITIALIZED(call)) {
        PhpObserver observer{Callable(call, cache)};
        has_arrived(held->await_after_cancellation(&observer, limit));
    } else {
        has_arrived(held->await_after_cancellation(nullptr, limit));
    }
}

#define TA_SCOPE_IS(method, expression) \
    ZEND_METHOD(Async_Scope, method) {  \
        ZEND_PARSE_PARAMETERS_NONE();   \
        TA_SCOPE_SELF                   \
        RETURN_BOOL(expression);        \
    }
TA_SCOPE_IS(isFinished, self->is_finished())
TA_SCOPE_IS(isClosed, self->is_closed())
TA_SCOPE_IS(isCancelled, self->is_cancelled())
#undef TA_SCOPE_IS

ZEND_METHOD(Async_Scope, setExceptionHandler) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    self->set_error_handler(std::make_shared<PhpErrorHandler>(Callable(call, cache)));
}

ZEND_METHOD(Async_Scope, setChildScopeExceptionHandler) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    self->set_child_error_handler(std::make_shared<PhpErrorHandler>(Callable(call, cache)));
}

ZEND_METHOD(Async_Scope, finally) {
    zval* closure = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(closure, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    TA_SCOPE_SELF
    std::unique_ptr<PhpFinally> made = make_finally(closure, nullptr, [self] { return scope_object(*self); });
    made->set_owed();
    std::unique_ptr<FinallyHandler> handler = std::move(made);
    if (!self->add_finally(handler)) {
        call_finally_now(*handler);
    }
}

ZEND_METHOD(Async_Scope, getChildScopes) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_SCOPE_SELF
    array_init(return_value);
    self->each_child([&](ScopeEvent& child) { add_next_index_object(return_value, scope_object(child)); });
}
