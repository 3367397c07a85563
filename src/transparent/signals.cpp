#include <signal.h>
#include <atomic>
#include <cerrno>

#include "hooks.hpp"
#include "state.hpp"
#include "waiting.hpp"

extern "C" [[noreturn]] void __longjmp_chk(sigjmp_buf target, int value);

namespace trueasync::hooked {

thread_local constinit int thread_oddity __attribute__((tls_model("initial-exec"))) = 0;

namespace {

/// On this thread.
thread_local constinit unsigned signals_handled __attribute__((tls_model("initial-exec"))) = 0;

/// What the program has set; the kernel has `on_signal` in its place.
struct Handler {
    std::atomic<void*> function = nullptr;
    std::atomic<bool> wants_info = false;
};
Handler handlers[NSIG];

void on_signal(int number, siginfo_t* info, void* context) {
    const Handler& handler = handlers[number];
    void* function = handler.function.load(std::memory_order_relaxed);
    ++thread_oddity;
    ++signals_handled;
    if (handler.wants_info.load(std::memory_order_relaxed)) {
        reinterpret_cast<void (*)(int, siginfo_t*, void*)>(function)(number, info, context);
    } else {
        reinterpret_cast<sighandler_t>(function)(number);
    }
    --thread_oddity;
}

/// The kernel looks at the pointer alone, whatever the flags say.
bool is_function(const struct sigaction& action) noexcept {
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

}  // namespace

int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
    if (number <= 0 || number >= NSIG) {
        return ::sigaction(number, action, before);
    }
    Handler& handler = handlers[number];
    void* const function_before = handler.function.load(std::memory_order_relaxed);
    const bool wanted_info = handler.wants_info.load(std::memory_order_relaxed);
    struct sigaction changed {};
    if (action != nullptr && is_function(*action)) {
        changed = *action;
        const bool wants_info = (action->sa_flags & SA_SIGINFO) != 0;
        handler.wants_info.store(wants_info, std::memory_order_relaxed);
        handler.function.store(
            wants_info ? reinterpret_cast<void*>(action->sa_sigaction) : reinterpret_cast<void*>(action->sa_handler),
            std::memory_order_relaxed
        );
        changed.sa_flags |= SA_SIGINFO;
        changed.sa_sigaction = on_signal;
        action = &changed;
    }
    struct sigaction previous {};
    const int result = ::sigaction(number, action, &previous);
    if (result != 0 && action == &changed) {
        handler.function.store(function_before, std::memory_order_relaxed);
        handler.wants_info.store(wanted_info, std::memory_order_relaxed);
    }
    if (result == 0 && before != nullptr) {
        *before = previous;
        if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction == on_signal) {  // ours: not theirs to see
            if (wanted_info) {
                before->sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(function_before);
            } else {
                before->sa_flags &= ~SA_SIGINFO;
                before->sa_handler = reinterpret_cast<sighandler_t>(function_before);
            }
        }
    }
    return result;
}

sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    return hooked::sigaction(number, &action, &before) != 0 ? SIG_ERR : before.sa_handler;
}

/// Whether a handler has run is asked with pauses. Of those that were set before us only a sleep of the thread tells, which they interrupt.
int pause() {
    const IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::pause();
    }
    const unsigned handled = signals_handled;
    const std::uint64_t interruptions = reactor->io_stats().interruptions;
    for (Backoff pauses; handled == signals_handled && interruptions == reactor->io_stats().interruptions;) {
        switch (pauses.wait()) {
            case Waited::Ready:
                break;
            case Waited::Blocks:
                return ::pause();
            default:
                return -1;
        }
    }
    errno = EINTR;
    return -1;
}

// Out of a handler, which does not return.
void longjmp(jmp_buf target, int value) {
    thread_oddity &= kLookDue;
    ::longjmp(target, value);
}

void _longjmp(jmp_buf target, int value) {
    thread_oddity &= kLookDue;
    ::_longjmp(target, value);
}

void siglongjmp(sigjmp_buf target, int value) {
    thread_oddity &= kLookDue;
    ::siglongjmp(target, value);
}

void __longjmp_chk(sigjmp_buf target, int value) {
    thread_oddity &= kLookDue;
    ::__longjmp_chk(target, value);
}

}  // namespace trueasync::hooked
