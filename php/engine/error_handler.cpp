#include "error_handler.hpp"

#include "replace.hpp"

namespace trueasync::php {

TA_PHP_THREAD_LOCAL zval common_error_handler = {};

void ErrorHandlerState::back_inside() noexcept {
    is_inside_ = false;
    // If another one was set meanwhile it stays: the engine then does not put back the one that is running.
    if (zend_is_identical(&EG(user_error_handler), &running_)) {
        zval_ptr_dtor(&EG(user_error_handler));
        ZVAL_UNDEF(&EG(user_error_handler));
    }
}

namespace {

zif_handler set_before = nullptr;
zif_handler restore_before = nullptr;

ZEND_NAMED_FUNCTION(set_error_handler) {
    set_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    ZVAL_COPY_VALUE(&common_error_handler, &EG(user_error_handler));
}

ZEND_NAMED_FUNCTION(restore_error_handler) {
    restore_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    ZVAL_COPY_VALUE(&common_error_handler, &EG(user_error_handler));
}

}  // namespace

void error_handler_minit() {
    set_before = replace_handler(CG(function_table), "set_error_handler", set_error_handler);
    restore_before = replace_handler(CG(function_table), "restore_error_handler", restore_error_handler);
}

void error_handler_request_begin() { ZVAL_UNDEF(&common_error_handler); }

}  // namespace trueasync::php
