#pragma once

/// While the handler of `set_error_handler` runs, the engine has none. Without this a handler that suspends would leave the other
/// coroutines without one, and what they set meanwhile would be lost.

#include "../zend.hpp"

namespace trueasync::php {

/// The handler that is in force outside of itself, as the last `set_error_handler` or `restore_error_handler` left it; not counted.
extern TA_PHP_THREAD_LOCAL zval common_error_handler;

class ErrorHandlerState {
public:
    static bool is_in_use() noexcept {
        return Z_TYPE(common_error_handler) != IS_UNDEF && Z_TYPE(EG(user_error_handler)) == IS_UNDEF;
    }
    void leave() noexcept {
        if (is_in_use()) {
            ZVAL_COPY(&EG(user_error_handler), &common_error_handler);
            ZVAL_COPY_VALUE(&running_, &common_error_handler);
            is_inside_ = true;
        }
    }
    void enter() noexcept {
        if (is_inside_) {
            back_inside();
        }
    }

private:
    void back_inside() noexcept;

    zval running_;            // the handler, which the engine holds meanwhile
    bool is_inside_ = false;  // the coroutine has left from within it
};

void error_handler_minit();
void error_handler_request_begin();

}  // namespace trueasync::php
