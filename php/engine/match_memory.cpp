#include "match_memory.hpp"

#include "../value.hpp"
#include "replace.hpp"
#include "uses.hpp"

#include <utility>

namespace trueasync::php {

namespace {

/// What is about to be called where the memory is in use for certain.
struct Call {
    zend_execute_data* frame;
    zval* result;
    zif_handler handler;
};
TA_PHP_THREAD_LOCAL const Call* next_call = nullptr;

zend_internal_function outer = {};           // preg_replace_callback() as it was
zend_internal_function outer_callback = {};  // what it calls

/// As if it had been called from where its frame is, so that no trace shows more.
ZEND_NAMED_FUNCTION(call_inside) {
    const Call call = *std::exchange(next_call, nullptr);
    zend_execute_data* here = std::exchange(EG(current_execute_data), call.frame);
    call.handler(call.frame, call.result);
    EG(current_execute_data) = here;
    RETVAL_EMPTY_STRING();
}

/// A replacement of nothing in nothing either takes the memory or finds it taken. What is called in its callback gets memory of its own, and so
/// nobody who may suspend ever uses what all share, but these, which do not look at it again.
void call_with_own_memory(const Call& call) noexcept {
    zval arguments[3];
    ZVAL_STR(&arguments[0], zend_string_init("/^/", 3, false));
    zend_create_fake_closure(
        &arguments[1], reinterpret_cast<zend_function*>(&outer_callback), nullptr, nullptr, nullptr
    );
    ZVAL_EMPTY_STRING(&arguments[2]);
    zval ignored;
    ZVAL_UNDEF(&ignored);
    next_call = &call;
    zend_call_known_function(
        reinterpret_cast<zend_function*>(&outer), nullptr, nullptr, &ignored, 3, arguments, nullptr
    );
    zval_ptr_dtor(&ignored);
    zval_ptr_dtor(&arguments[0]);
    zval_ptr_dtor(&arguments[1]);
}

template <zif_handler* before>
ZEND_NAMED_FUNCTION(replace) {
    if (is_watching()) {
        call_with_own_memory({execute_data, return_value, *before});
    } else {
        (*before)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
}

zif_handler replace_before = nullptr;
zif_handler replace_array_before = nullptr;

zend_result (*post_startup_before)() = nullptr;

zend_result guard_replacements() {
    if (const auto* function =
            static_cast<zend_function*>(zend_hash_str_find_ptr(CG(function_table), ZEND_STRL("preg_replace_callback"))
            )) {
        outer = function->internal_function;
        outer_callback.type = ZEND_INTERNAL_FUNCTION;
        outer_callback.function_name = outer.function_name;
        outer_callback.handler = call_inside;
        outer_callback.module = outer.module;
        replace_before = replace_handler(CG(function_table), "preg_replace_callback", replace<&replace_before>);
        replace_array_before =
            replace_handler(CG(function_table), "preg_replace_callback_array", replace<&replace_array_before>);
    }
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

void match_memory_minit() noexcept { post_startup_before = std::exchange(zend_post_startup_cb, guard_replacements); }

}  // namespace trueasync::php
