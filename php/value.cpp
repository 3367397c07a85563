#include "value.hpp"

namespace trueasync::php {

bool Callable::call(zval* result, std::uint32_t count, zval* arguments, HashTable* named) noexcept {
    zend_fcall_info call = empty_fcall_info;
    call.size = sizeof(call);
    ZVAL_COPY_VALUE(&call.function_name, function_.get());
    call.retval = result;
    call.param_count = count;
    call.params = arguments;
    call.named_params = named;
    zend_fcall_info_cache cache = cache_;
    ZVAL_UNDEF(result);
    const bool was_called = zend_call_function(&call, cache.function_handler != nullptr ? &cache : nullptr) == SUCCESS;
    return was_called && EG(exception) == nullptr;
}

ExceptionPause::ExceptionPause() noexcept {
    // The frame that is being left may not know of the exception yet: what is thrown meanwhile would lose where it was.
    if (zend_execute_data* frame = EG(current_execute_data);
        EG(exception) != nullptr && frame != nullptr && frame->func != nullptr && ZEND_USER_CODE(frame->func->type)) {
        zend_rethrow_exception(frame);
    }
    exception_ = std::exchange(EG(exception), nullptr);
    opline_ = EG(opline_before_exception);
}

ExceptionPause::~ExceptionPause() {
    if (exception_ == nullptr) {
        return;
    }
    zend_object* later = std::exchange(EG(exception), exception_);
    EG(opline_before_exception) = opline_;
    if (later != nullptr) {
        EG(exception) = later;
        zend_exception_set_previous(later, exception_);
    }
}

}  // namespace trueasync::php
