#include "exceptions.hpp"

#include "../stubs/exceptions_arginfo.h"

namespace trueasync::php {

namespace {

zval* list_of(zend_object* composite) noexcept {
    return OBJ_PROP_NUM(composite, composite->ce->default_properties_count - 1);
}

}  // namespace

void register_exceptions() {
    register_cancellation();
    ce_async_cancellation = register_class_Async_AsyncCancellation(ce_cancellation);
    ce_operation_canceled = register_class_Async_OperationCanceledException(ce_async_cancellation);
    ce_async_exception = register_class_Async_AsyncException(zend_ce_exception);
    ce_io_exception = register_class_Async_InputOutputException(zend_ce_exception);
    ce_dns_exception = register_class_Async_DnsException(zend_ce_exception);
    ce_timeout_exception = register_class_Async_TimeoutException(zend_ce_exception);
    ce_poll_exception = register_class_Async_PollException(zend_ce_exception);
    ce_deadlock_error = register_class_Async_DeadlockError(zend_ce_error);
    ce_service_unavailable = register_class_Async_ServiceUnavailableException(ce_async_exception);
    ce_composite_exception = register_class_Async_CompositeException(zend_ce_exception);
    ce_context_exception = register_class_Async_ContextException(ce_async_exception);
}

zend_object* make_exception(zend_class_entry* ce, const char* message, zend_object* previous) noexcept {
    zval object;
    object_init_ex(&object, ce);
    zval text;
    ZVAL_STRING(&text, message);
    zend_update_property_ex(
        instanceof_function(ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error, Z_OBJ(object),
        ZSTR_KNOWN(ZEND_STR_MESSAGE), &text
    );
    zval_ptr_dtor(&text);
    if (previous != nullptr) {
        zend_exception_set_previous(Z_OBJ(object), previous);
    }
    return Z_OBJ(object);
}

void add_to_composite(zend_object* composite, zend_object* exception) noexcept {
    zval* list = list_of(composite);
    if (Z_TYPE_P(list) != IS_ARRAY) {
        array_init(list);
    }
    SEPARATE_ARRAY(list);
    zval value;
    ZVAL_OBJ(&value, exception);
    zend_hash_next_index_insert(Z_ARRVAL_P(list), &value);
}

}  // namespace trueasync::php

using namespace trueasync::php;

ZEND_METHOD(Async_CompositeException, addException) {
    zend_object* exception = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(exception, zend_ce_throwable)
    ZEND_PARSE_PARAMETERS_END();
    GC_ADDREF(exception);
    add_to_composite(Z_OBJ_P(ZEND_THIS), exception);
}

ZEND_METHOD(Async_CompositeException, getExceptions) {
    ZEND_PARSE_PARAMETERS_NONE();
    zval* list = list_of(Z_OBJ_P(ZEND_THIS));
    if (Z_TYPE_P(list) == IS_ARRAY) {
        RETURN_COPY(list);
    }
    RETURN_EMPTY_ARRAY();
}
