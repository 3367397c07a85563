#pragma once

/// Living together with pcntl's signal handlers.

#include "../zend.hpp"

#include <utility>

namespace trueasync::php {

/// pcntl blocks all signals while it calls handlers, for the whole process. Without this nobody could end it with SIGTERM while a handler
/// waits for something, and children started meanwhile would have all of them blocked too.
class SignalHandlerState {
public:
    void leave() noexcept {
        if (UNEXPECTED(is_inside)) {
            unblock();
            is_left_ = std::exchange(is_inside, false);
        }
    }
    void enter() noexcept {
        if (UNEXPECTED(is_left_)) {
            block();
            is_inside = std::exchange(is_left_, false);
        }
    }

    /// pcntl may be calling handlers for the running coroutine. It calls none for others meanwhile.
    static inline TA_PHP_THREAD_LOCAL bool is_inside = false;

    /// At the beginning of a request: a fatal error may have left something behind.
    static void forget() noexcept;

private:
    static void unblock() noexcept;
    static void block() noexcept;

    bool is_left_ = false;
};

/// From here on a signal reaches both who waits for it and the handler that `pcntl_signal` has set, before or after.
void share_signals_with_pcntl() noexcept;

/// When the extension goes: signals come on.
void unshare_signals_with_pcntl() noexcept;
void pcntl_request_end() noexcept;

/// If a signal has come for a handler of PHP code and nobody runs who would notice, a coroutine runs it.
void deliver_interrupt() noexcept;

}  // namespace trueasync::php
