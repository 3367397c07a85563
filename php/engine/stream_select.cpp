#include "stream_select.hpp"

#include "replace.hpp"
#include "request.hpp"

namespace trueasync::php {

namespace {

zif_handler select_before = nullptr;

bool is_empty(zval* argument) noexcept {
    ZVAL_DEREF(argument);
    return Z_TYPE_P(argument) == IS_NULL ||
           (Z_TYPE_P(argument) == IS_ARRAY && zend_array_count(Z_ARR_P(argument)) == 0);
}

bool is_stream(zval* element) noexcept {
    ZVAL_DEREF(element);
    return Z_TYPE_P(element) == IS_RESOURCE &&
           zend_fetch_resource2(Z_RES_P(element), nullptr, php_file_le_stream(), php_file_le_pstream()) != nullptr;
}

bool has_only_streams(zval* argument) noexcept {
    ZVAL_DEREF(argument);
    if (Z_TYPE_P(argument) == IS_ARRAY) {
        zval* element;
        ZEND_HASH_FOREACH_VAL(Z_ARR_P(argument), element) {
            if (!is_stream(element)) {
                return false;
            }
        }
        ZEND_HASH_FOREACH_END();
    }
    return true;
}

/// About an element that is no stream; that therefore no streams are left was said later.
void throw_first_complaint() noexcept {
    zval room;
    const zval* previous =
        zend_read_property_ex(zend_ce_error, EG(exception), ZSTR_KNOWN(ZEND_STR_PREVIOUS), true, &room);
    if (Z_TYPE_P(previous) == IS_OBJECT && Z_OBJCE_P(previous) == zend_ce_type_error) {
        zend_object* first = Z_OBJ_P(previous);
        GC_ADDREF(first);
        zend_clear_exception();
        zend_throw_exception_internal(first);
    }
}

ZEND_NAMED_FUNCTION(select) {
    const bool is_known = request.runtime != nullptr && !request.is_in_scheduler && ZEND_NUM_ARGS() >= 4;
    if (is_known && is_empty(ZEND_CALL_ARG(execute_data, 1)) && is_empty(ZEND_CALL_ARG(execute_data, 2)) &&
        is_empty(ZEND_CALL_ARG(execute_data, 3))) {
        RETURN_LONG(0);
    }
    select_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (UNEXPECTED(EG(exception) != nullptr) && is_known && EG(exception)->ce == zend_ce_value_error &&
        !(has_only_streams(ZEND_CALL_ARG(execute_data, 1)) && has_only_streams(ZEND_CALL_ARG(execute_data, 2)) &&
          has_only_streams(ZEND_CALL_ARG(execute_data, 3)))) {
        throw_first_complaint();
    }
}

}  // namespace

void stream_select_minit() { select_before = replace_handler(CG(function_table), "stream_select", select); }

}  // namespace trueasync::php
