#pragma once

/// PHP values and callables that C++ owns.

#include "zend.hpp"

#include <cstdint>
#include <trueasync/base/export.hpp>
#include <utility>

namespace trueasync::php {

/// Owns one `zval`: what a channel, a future or a group keeps.
class Value {
public:
    Value() noexcept : value_{} {}  // undefined
    /// A copy of `value`, without the reference around it.
    explicit Value(const zval* value) noexcept { ZVAL_COPY_DEREF(&value_, const_cast<zval*>(value)); }
    Value(Value&& other) noexcept {
        ZVAL_COPY_VALUE(&value_, &other.value_);
        ZVAL_UNDEF(&other.value_);
    }
    Value(const Value& other) noexcept { ZVAL_COPY(&value_, &other.value_); }
    Value& operator=(Value other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Value() {
        if (Z_REFCOUNTED(value_)) {
            zval_ptr_dtor(&value_);
        }
    }

    static Value null() noexcept {
        Value value;
        ZVAL_NULL(&value.value_);
        return value;
    }
    /// Takes over a reference to `object`.
    static Value adopt(zend_object* object) noexcept {
        Value value;
        ZVAL_OBJ(&value.value_, object);
        return value;
    }

    /// Takes `value` over.
    static Value adopt(zval* value) noexcept {
        Value taken;
        ZVAL_COPY_VALUE(&taken.value_, value);
        return taken;
    }

    zval* get() noexcept { return &value_; }
    const zval* get() const noexcept { return &value_; }
    bool is_set() const noexcept { return Z_TYPE(value_) != IS_UNDEF; }
    /// Gives it to `target`, which must not hold anything.
    void move_to(zval* target) noexcept {
        ZVAL_COPY_VALUE(target, &value_);
        ZVAL_UNDEF(&value_);
    }
    void reset() noexcept {
        if (Z_REFCOUNTED(value_)) {
            Value().swap(*this);
        } else {
            ZVAL_UNDEF(&value_);
        }
    }
    void swap(Value& other) noexcept { std::swap(value_, other.value_); }

private:
    zval value_;
};
static_assert(sizeof(Value) == sizeof(zval), "an array of values is an array of arguments");

/// A callable that PHP code gave us, resolved once.
class Callable {
public:
    Callable() noexcept = default;
    /// What `Z_PARAM_FUNC` found.
    Callable(const zend_fcall_info& call, const zend_fcall_info_cache& cache) noexcept
        : function_(&call.function_name) {
        if (cache.function_handler != nullptr &&
            (cache.function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) == 0) {
            cache_ = cache;
        }
    }

    explicit Callable(zend_object* closure) noexcept { set(closure); }
    /// Of one that is not set.
    void set(zend_object* closure) noexcept {
        ZVAL_OBJ_COPY(function_.get(), closure);
        zend_function* code = nullptr;
        closure->handlers->get_closure(closure, &cache_.calling_scope, &code, &cache_.object, false);
        if ((code->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) == 0) {
            cache_.function_handler = code;
        }
        cache_.called_scope = cache_.calling_scope;
#if PHP_VERSION_ID >= 80300
        cache_.closure = closure;
#endif
    }

    bool is_set() const noexcept { return function_.is_set(); }

    /// Calls it; `result` is set to undefined when it threw. False: it threw, the exception is in `EG(exception)`.
    bool call(zval* result, std::uint32_t count = 0, zval* arguments = nullptr, HashTable* named = nullptr) noexcept;

    /// The same for a function written in PHP that takes nothing by reference: the engine's way, without what it needs for all the others and
    /// which would stay on the stack. False: nothing was done, use `call`.
    TA_INLINE bool call_plainly(zval* result, std::uint32_t count, const zval* arguments) noexcept {
        zend_function* function = cache_.function_handler;
        if (function == nullptr || function->type != ZEND_USER_FUNCTION || ZEND_OBSERVER_ENABLED ||
            (function->common.fn_flags & ZEND_ACC_DEPRECATED) != 0 || EG(exception) != nullptr) {
            return false;
        }
        for (std::uint32_t i = 1; i <= count; ++i) {
            if (UNEXPECTED(ARG_SHOULD_BE_SENT_BY_REF(function, i))) {
                return false;
            }
        }
        const std::uint32_t flags = function->common.fn_flags;
        const bool has_this = (flags & ZEND_ACC_STATIC) == 0 && cache_.object != nullptr;
        std::uint32_t info = ZEND_CALL_TOP_FUNCTION | ZEND_CALL_DYNAMIC | (has_this ? ZEND_CALL_HAS_THIS : 0);
        if ((flags & ZEND_ACC_CLOSURE) != 0) {
            GC_ADDREF(ZEND_CLOSURE_OBJECT(function));  // released by the frame
            info |= ZEND_CALL_CLOSURE | ((flags & ZEND_ACC_FAKE_CLOSURE) != 0 ? ZEND_CALL_FAKE_CLOSURE : 0);
        }
        void* self = has_this ? static_cast<void*>(cache_.object) : cache_.called_scope;
        ZVAL_UNDEF(result);
        zend_execute_data* frame = zend_vm_stack_push_call_frame(info, function, count, self);
        for (std::uint32_t i = 0; i < count; ++i) {
            ZVAL_COPY(ZEND_CALL_ARG(frame, i + 1), &arguments[i]);
        }
        zend_init_func_execute_data(frame, &function->op_array, result);
        zend_execute_ex(frame);
        zend_vm_stack_free_call_frame(frame);
        if (UNEXPECTED(EG(exception) != nullptr)) {
            zval_ptr_dtor(result);
            ZVAL_UNDEF(result);
        } else if (UNEXPECTED(Z_ISREF_P(result))) {  // of a function that returns one
            zend_unwrap_reference(result);
        }
        return true;
    }

    Value& function() noexcept { return function_; }
    /// What will run; null when that is found out at the call.
    const zend_function* code() const noexcept { return cache_.function_handler; }
    void reset() noexcept {
        function_.reset();
        cache_ = empty_fcall_info_cache;
    }

private:
    Value function_;
    zend_fcall_info_cache cache_ = empty_fcall_info_cache;
};

/// While it lives `EG(exception)` is empty; afterwards what was there is back, with what came meanwhile in front of it.
class ExceptionPause {
public:
    ExceptionPause() noexcept;
    ExceptionPause(const ExceptionPause&) = delete;
    ExceptionPause& operator=(const ExceptionPause&) = delete;
    ~ExceptionPause();

private:
    zend_object* exception_;
    const zend_op* opline_;
};

}  // namespace trueasync::php
