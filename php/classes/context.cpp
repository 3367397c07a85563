#include "context.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../per_thread.hpp"
#include "../stubs/context_arginfo.h"
#include "coroutine.hpp"
#include "exceptions.hpp"
#include "scope.hpp"

#include <cstdint>
#include <string>
#include <trueasync/structured/context.hpp>
#include <unordered_map>

namespace trueasync::php {

namespace {

/// Strings compare by what they say, objects by which they are.
struct KeyTraits {
    struct Hash {
        std::size_t operator()(const Value& key) const noexcept {
            const zval* value = key.get();
            return Z_TYPE_P(value) == IS_STRING ? zend_string_hash_val(Z_STR_P(value))
                                                : std::hash<const void*>()(Z_OBJ_P(value));
        }
    };
    struct Equal {
        bool operator()(const Value& a, const Value& b) const noexcept {
            if (Z_TYPE_P(a.get()) != Z_TYPE_P(b.get())) {
                return false;
            }
            return Z_TYPE_P(a.get()) == IS_STRING ? zend_string_equals(Z_STR_P(a.get()), Z_STR_P(b.get()))
                                                  : Z_OBJ_P(a.get()) == Z_OBJ_P(b.get());
        }
    };
    static std::string describe(const Value& key) {
        return Z_TYPE_P(key.get()) == IS_STRING ? '"' + std::string(Z_STRVAL_P(key.get()), Z_STRLEN_P(key.get())) + '"'
                                                : "of type " + std::string(ZSTR_VAL(Z_OBJCE_P(key.get())->name));
    }
};

using PhpContext = ContextOf<Value, Value, KeyTraits>;

/// The object of a context, which has it.
struct Known {
    zend_object* object = nullptr;  // not counted
    bool is_held = false;           // but once for a coroutine, whose own context it is
};
TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<const PhpContext*, Known>> objects;

/// Nothing if somebody else than the `holders` that are known has it too: a scope, a coroutine, or an object.
void show(PhpContext& context, Shown& shown, std::uint32_t holders = 1) {
    if (context.ref_count() == holders) {
        context.each_value([&](const Value& key, Value& value) {
            shown.add(const_cast<Value&>(key));
            shown.add(value);
        });
    }
}

struct ContextData {
    Ref<PhpContext> context = make_ref<PhpContext>();

    ~ContextData() { objects->erase(context.get()); }
    void show(Shown& shown) {
        const auto found = objects->find(context.get());
        php::show(*context, shown, found != objects->end() && found->second.is_held ? 2 : 1);
    }
};
using ContextObject = ObjectOf<ContextData>;

/// The object of a context; a new reference.
zend_object* object_of(Ref<PhpContext> context) {
    if (const auto found = objects->find(context.get()); found != objects->end()) {
        GC_ADDREF(found->second.object);
        return found->second.object;
    }
    zend_object* object = ContextObject::create(ce_context);
    (*objects)[context.get()].object = object;
    ContextObject::of(object).context = std::move(context);
    return object;
}

PhpContext& self_of(zval* object) { return *ContextObject::of(object).context; }

/// Strings and objects only; a number would become a string by PHP's own rules. False: it threw.
bool is_key(zval* key) {
    if (EXPECTED(Z_TYPE_P(key) == IS_STRING || Z_TYPE_P(key) == IS_OBJECT)) {
        return true;
    }
    zend_argument_type_error(1, "must be of type string|object, %s given", zend_zval_type_name(key));
    return false;
}

enum class Missing : std::uint8_t { Null, Throw };

void look_up(INTERNAL_FUNCTION_PARAMETERS, bool is_local, Missing missing) {
    zval* given = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    if (!is_key(given)) {
        return;
    }
    const Value key(given);
    PhpContext& self = self_of(ZEND_THIS);
    if (Value* value = is_local ? self.find_local(key) : self.find(key)) {
        RETURN_COPY(value->get());
    }
    if (missing == Missing::Throw) {
        throw_in_php(*PhpContext::not_found(key));
    }
}

void ask(INTERNAL_FUNCTION_PARAMETERS, bool is_local) {
    zval* given = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    if (!is_key(given)) {
        return;
    }
    const Value key(given);
    PhpContext& self = self_of(ZEND_THIS);
    RETURN_BOOL((is_local ? self.find_local(key) : self.find(key)) != nullptr);
}

}  // namespace

void show_context(PhpCoroutine& coroutine, Shown& shown) {
    if (coroutine.attachment() == nullptr) {
        return;
    }
    const Ref<PhpContext> context = PhpContext::of(coroutine);
    if (const auto found = objects->find(context.get()); found != objects->end()) {
        shown.add(found->second.object);  // which shows the rest
    } else {
        show(*context, shown, 2);  // the coroutine, and here
    }
}

zend_object* coroutine_context(PhpCoroutine& coroutine) noexcept {
    const Ref<PhpContext> context = PhpContext::of(coroutine);
    zend_object* object = object_of(context);
    if (bool& is_held = (*objects)[context.get()].is_held; !is_held) {
        is_held = true;
        GC_ADDREF(object);
    }
    return object;
}

void end_context(PhpCoroutine& coroutine) noexcept {
    const auto found = objects->find(PhpContext::of(coroutine).get());
    if (found != objects->end() && std::exchange(found->second.is_held, false)) {
        OBJ_RELEASE(found->second.object);
    }
}

void show_context(ScopeEvent& scope, Shown& shown) {
    if (scope.context() != nullptr) {
        show(static_cast<PhpContext&>(*scope.context()), shown);
    }
}

void register_context() {
    ce_context = register_class_Async_Context();
    ContextObject::register_class(ce_context);
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

ZEND_METHOD(Async_Context, find) { look_up(INTERNAL_FUNCTION_PARAM_PASSTHRU, false, Missing::Null); }
ZEND_METHOD(Async_Context, get) { look_up(INTERNAL_FUNCTION_PARAM_PASSTHRU, false, Missing::Throw); }
ZEND_METHOD(Async_Context, has) { ask(INTERNAL_FUNCTION_PARAM_PASSTHRU, false); }
ZEND_METHOD(Async_Context, findLocal) { look_up(INTERNAL_FUNCTION_PARAM_PASSTHRU, true, Missing::Null); }
ZEND_METHOD(Async_Context, getLocal) { look_up(INTERNAL_FUNCTION_PARAM_PASSTHRU, true, Missing::Throw); }
ZEND_METHOD(Async_Context, hasLocal) { ask(INTERNAL_FUNCTION_PARAM_PASSTHRU, true); }

ZEND_METHOD(Async_Context, set) {
    zval* given = nullptr;
    zval* value = nullptr;
    bool replaces = false;
    ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_ZVAL(given)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(replaces)
    ZEND_PARSE_PARAMETERS_END();
    if (is_key(given) && check(self_of(ZEND_THIS).set(Value(given), Value(value), replaces))) {
        RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
    }
}

ZEND_METHOD(Async_Context, unset) {
    zval* given = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    if (!is_key(given)) {
        return;
    }
    self_of(ZEND_THIS).unset(Value(given));
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_FUNCTION(Async_current_context) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (ScopeEvent* scope = current_scope()) {
        RETURN_OBJ(object_of(PhpContext::of(*scope)));
    }
}

ZEND_FUNCTION(Async_coroutine_context) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (start() && request.is_in_scheduler) {
        zend_throw_exception(ce_async_exception, "The current coroutine is not defined", 0);
    } else if (request.runtime != nullptr) {
        RETURN_OBJ(coroutine_context(*static_cast<PhpCoroutine*>(Scheduler::current_coroutine())));
    }
}

ZEND_FUNCTION(Async_root_context) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (start()) {
        RETURN_OBJ(object_of(PhpContext::of(*request.main_scope)));
    }
}

ZEND_FUNCTION(Async_request_context) {
    ZEND_PARSE_PARAMETERS_NONE();  // set by a server that embeds us; there is none
}

ZEND_METHOD(Async_Coroutine, getContext) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_OBJ(coroutine_context(PhpCoroutine::of(Z_OBJ_P(ZEND_THIS))));
}
