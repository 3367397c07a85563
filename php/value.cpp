#include "value.hpp"

#include "engine/request.hpp"

#include <cstdint>

namespace trueasync::php {

namespace {

/// Of the outermost frame when the engine has none: there an exception would be reported at once instead of coming back to us.
zend_internal_function nobody = {ZEND_INTERNAL_FUNCTION};

class Outermost {
public:
    Outermost() noexcept : is_needed_(EG(current_execute_data) == nullptr) {
        if (UNEXPECTED(is_needed_)) {
            frame_.func = reinterpret_cast<zend_function*>(&nobody);
            EG(current_execute_data) = &frame_;
        }
    }
    Outermost(const Outermost&) = delete;
    Outermost& operator=(const Outermost&) = delete;
    ~Outermost() {
        if (UNEXPECTED(is_needed_)) {
            EG(current_execute_data) = nullptr;
        }
    }

private:
    bool is_needed_;
    zend_execute_data frame_ = {};
};

}  // namespace

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
    if (UNEXPECTED(!EG(active) || is_cut_short())) {  // no code runs any more, and nothing is thrown
        return true;
    }
    const Outermost outermost;
    const bool was_called = zend_call_function(&call, cache.function_handler != nullptr ? &cache : nullptr) == SUCCESS;
    if (UNEXPECTED(Z_ISREF_P(result))) {
        zend_unwrap_reference(result);
    }
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
    if (later != nullptr && zend_is_unwind_exit(later)) {
        EG(exception) = later;
        OBJ_RELEASE(exception_);
    } else if (later != nullptr && zend_is_unwind_exit(exception_)) {
        OBJ_RELEASE(later);
    } else if (later != nullptr) {
        EG(exception) = later;
        zend_exception_set_previous(later, exception_);
    }
}

}  // namespace trueasync::php
