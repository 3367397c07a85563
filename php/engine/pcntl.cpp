/// Without this a signal reaches either `Async\signal()` or the handler of `pcntl_signal()`, whoever came last; and a handler due while
/// everybody is parked waits until some coroutine happens to run.

#include "pcntl.hpp"

#include "../error.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <signal.h>

#include <memory>
#include <trueasync/reactor/signal.hpp>
#include <trueasync/runtime/helper.hpp>

extern "C" {
#include <zend_signal.h>
}

namespace trueasync::php {

namespace {

/// In a signal handler. The engine has a handler of its own for every common signal, also when PHP code has set none; called for such
/// a signal it would do what the system does by default, which is mostly to end the process.
bool is_handled_by_php(int number) noexcept {
#ifdef ZEND_SIGNALS
#ifdef ZTS
    if (tsrm_get_ls_cache() == nullptr) {
        return false;  // a thread that is not PHP's
    }
#endif
    void* const handler = SIGG(handlers)[number - 1].handler;
    return handler != reinterpret_cast<void*>(SIG_DFL) && handler != reinterpret_cast<void*>(SIG_IGN);
#else
    static_cast<void>(number);
    return true;
#endif
}

zif_handler pcntl_signal_before = nullptr;

void pcntl_signal_after(INTERNAL_FUNCTION_PARAMETERS) {
    pcntl_signal_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (ZEND_NUM_ARGS() > 0 && Z_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) == IS_LONG) {
        const zend_long number = Z_LVAL_P(ZEND_CALL_ARG(execute_data, 1));
        if (number > 0 && number < NSIG) {
            reclaim_signal(static_cast<int>(number));
        }
    }
}

bool is_interrupted() noexcept {
#if PHP_VERSION_ID >= 80200
    return zend_atomic_bool_load_ex(&EG(vm_interrupt));
#else
    return EG(vm_interrupt);
#endif
}

/// What the VM does at its next jump.
class Interrupt final : public HelperBody {
public:
    Ref<Error> run() override {
        request.is_interrupt_queued = false;
        if (!is_interrupted()) {
            return {};
        }
#if PHP_VERSION_ID >= 80200
        zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
        const bool is_late = zend_atomic_bool_load_ex(&EG(timed_out));
#else
        EG(vm_interrupt) = false;
        const bool is_late = EG(timed_out);
#endif
        if (is_late) {
            zend_timeout();
        } else if (zend_interrupt_function != nullptr) {
            zend_interrupt_function(EG(current_execute_data));
        }
        return {};
    }
};

}  // namespace

void share_signals_with_pcntl() noexcept {
    if (pcntl_signal_before != nullptr) {
        return;
    }
    pcntl_signal_before = replace_handler(CG(function_table), "pcntl_signal", pcntl_signal_after);
    if (pcntl_signal_before != nullptr) {
        set_signal_chain(is_handled_by_php);
    }
}

void deliver_interrupt() noexcept {
    if (is_interrupted() && !request.is_interrupt_queued && request.runtime != nullptr) {
        request.is_interrupt_queued =
            request.runtime->scheduler().spawn_helper(std::make_unique<Interrupt>(), Place()).ok();
    }
}

}  // namespace trueasync::php
