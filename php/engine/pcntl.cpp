/// Without this a signal reaches either `Async\signal()` or the handler of `pcntl_signal()`, whoever came last; and a handler due while
/// everybody is parked waits until some coroutine happens to run.

#include "pcntl.hpp"

#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <signal.h>

#include <cstdint>
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

// --- while a handler waits

/// What is blocked outside of the handlers that pcntl calls. Lives as long as they run.
TA_PHP_THREAD_LOCAL const sigset_t* outside = nullptr;

/// What comes meanwhile pcntl would keep, but only look at when another one comes.
TA_PHP_THREAD_LOCAL volatile sig_atomic_t is_withholding = 0;
TA_PHP_THREAD_LOCAL volatile sig_atomic_t has_withheld = 0;
volatile sig_atomic_t withheld[NSIG] = {};
siginfo_t withheld_info[NSIG];

#ifdef ZEND_SIGNALS
using SignalHandler = void (*)(int, siginfo_t*, void*);
SignalHandler pcntl_handler = nullptr;

/// In a signal handler, in place of pcntl's.
void withhold(int number, siginfo_t* info, void* context) {
    if (is_withholding == 0 || number >= NSIG) {
        pcntl_handler(number, info, context);
        return;
    }
    withheld_info[number] = *info;
    withheld[number] = 1;
    has_withheld = 1;
}

void stand_before_pcntl(int number) noexcept {
    void*& handler = SIGG(handlers)[number - 1].handler;
    if (is_handled_by_php(number) && handler != reinterpret_cast<void*>(withhold)) {
        pcntl_handler = reinterpret_cast<SignalHandler>(handler);
        handler = reinterpret_cast<void*>(withhold);
    }
}

void step_aside() noexcept {
    for (int number = 1; number < NSIG; ++number) {
        void*& handler = SIGG(handlers)[number - 1].handler;
        if (handler == reinterpret_cast<void*>(withhold)) {
            handler = reinterpret_cast<void*>(pcntl_handler);
        }
    }
}

/// pcntl gets what has come.
TA_COLD void hand_over() noexcept {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    has_withheld = 0;
    for (int number = 1; number < NSIG; ++number) {
        if (withheld[number] != 0) {
            withheld[number] = 0;
            pcntl_handler(number, &withheld_info[number], nullptr);
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
#else
void stand_before_pcntl(int /*number*/) noexcept {}
void step_aside() noexcept {}
void hand_over() noexcept {}
#endif

/// Around all that may call handlers. Inside of one pcntl calls no others.
template <typename Dispatch>
void dispatch(Dispatch&& dispatch_before) {
    if ((request.has_rare_state & Request::kInSignalHandler) != 0) {
        dispatch_before();
        return;
    }
    sigset_t before;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    outside = &before;
    SignalHandlerState::is_inside = true;
    request.has_rare_state |= Request::kInSignalHandler;
    dispatch_before();
    request.has_rare_state &= static_cast<std::uint8_t>(~Request::kInSignalHandler);
    SignalHandlerState::is_inside = false;
    is_withholding = 0;
    if (UNEXPECTED(has_withheld != 0)) {
        hand_over();
    }
}

void (*interrupt_before)(zend_execute_data*) = nullptr;
void interrupt(zend_execute_data* call) {
    dispatch([&] { interrupt_before(call); });
}

zif_handler pcntl_dispatch_before = nullptr;
ZEND_NAMED_FUNCTION(pcntl_dispatch) {
    dispatch([&] { pcntl_dispatch_before(INTERNAL_FUNCTION_PARAM_PASSTHRU); });
}

// --- handlers and `Async\signal()`

zif_handler pcntl_signal_before = nullptr;

/// Who was the last to set a handler: counted; null: the script, before it was a coroutine.
TA_PHP_THREAD_LOCAL PhpCoroutine* last_to_set = nullptr;

void note_who_sets(PhpCoroutine* coroutine) noexcept {
    if (coroutine != nullptr) {
        GC_ADDREF(coroutine->object());
    }
    if (PhpCoroutine* former = std::exchange(last_to_set, coroutine)) {
        OBJ_RELEASE(former->object());
    }
}

void pcntl_signal_after(INTERNAL_FUNCTION_PARAMETERS) {
    pcntl_signal_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    note_who_sets(request.runtime != nullptr && !request.is_in_scheduler ? &PhpCoroutine::running() : nullptr);
    if (ZEND_NUM_ARGS() > 0 && Z_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) == IS_LONG) {
        const zend_long number = Z_LVAL_P(ZEND_CALL_ARG(execute_data, 1));
        if (number > 0 && number < NSIG) {
            stand_before_pcntl(static_cast<int>(number));
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

/// Nobody runs in whom a handler could have thrown. Who has set one waits for something, with a time limit perhaps that this is about.
void throw_where_it_was_set() noexcept {
    PhpCoroutine* target = last_to_set != nullptr && !last_to_set->is_finished() ? last_to_set : request.main;
    if (EG(exception) != nullptr && !is_exit(EG(exception)) && target != nullptr && !target->is_finished()) {
        request.runtime->scheduler().interrupt(*target, take_exception());
    }
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
            throw_where_it_was_set();
        }
        return {};
    }
};

}  // namespace

void SignalHandlerState::forget() noexcept {
    is_inside = false;
    is_withholding = 0;
    has_withheld = 0;
}

void SignalHandlerState::unblock() noexcept {
    is_withholding = 1;
    ::pthread_sigmask(SIG_SETMASK, outside, nullptr);
}

void SignalHandlerState::block() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void share_signals_with_pcntl() noexcept {
    if (pcntl_signal_before != nullptr) {
        return;
    }
    pcntl_signal_before = replace_handler(CG(function_table), "pcntl_signal", pcntl_signal_after);
    if (pcntl_signal_before != nullptr) {
        set_signal_chain(is_handled_by_php);
        pcntl_dispatch_before = replace_handler(CG(function_table), "pcntl_signal_dispatch", pcntl_dispatch);
        if (zend_interrupt_function != nullptr) {
            interrupt_before = std::exchange(zend_interrupt_function, interrupt);
        }
    }
}

void pcntl_request_end() noexcept { note_who_sets(nullptr); }

void unshare_signals_with_pcntl() noexcept {
    if (zend_interrupt_function == interrupt) {
        zend_interrupt_function = interrupt_before;
    }
    step_aside();
}

void deliver_interrupt() noexcept {
    if (is_interrupted() && !request.is_interrupt_queued && request.runtime != nullptr) {
        request.is_interrupt_queued =
            request.runtime->scheduler().spawn_helper(std::make_unique<Interrupt>(), Place()).ok();
    }
}

}  // namespace trueasync::php
