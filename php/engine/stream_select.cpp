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

ZEND_NAMED_FUNCTION(select) {
    const bool is_known = request.runtime != nullptr && !request.is_in_scheduler && ZEND_NUM_ARGS() >= 4;
    if (is_known && is_empty(ZEND_CALL_ARG(execute_data, 1)) && is_empty(ZEND_CALL_ARG(execute_data, 2)) &&
        is_empty(ZEND_CALL_ARG(execute_data, 3))) {
        RETURN_LONG(0);
    }
    select_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

}  // namespace

void stream_select_minit() { select_before = replace_handler(CG(function_table), "stream_select", select); }

}  // namespace trueasync::php
