#pragma once

/// One request, from the first `Async\` call to the end: the runtime, the main coroutine, what was not caught.
///
/// A runtime lasts from the first asynchronous operation to the end of the script; whatever shutdown functions and destructors do
/// afterwards gets a runtime of its own.

#include "vm_state.hpp"

#include <cstdint>
#include <memory>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/structured/scope.hpp>

namespace trueasync::php {

class PhpCoroutine;

struct Request {
    // Our own; a library may end the process on a coroutine's stack, which must stay where it is then.
    Runtime* runtime = nullptr;
    PhpCoroutine* main = nullptr;  // counted
    Ref<ScopeEvent> main_scope;
    VmState scheduler_vm = {};  // in force while no coroutine runs
    struct Page {
        alignas(zval) std::byte bytes[kFirstPage];
    };
    std::unique_ptr<Page> scheduler_page;  // not here: a thread has little room for variables of its own
    std::size_t stack_size = 0;            // of the runtime's coroutines, as it was set
    zend_object* uncaught = nullptr;       // counted; what will be reported when everything has unwound
    bool is_open = false;                  // a runtime can be started: it would be ended
    bool is_in_scheduler = false;          // no coroutine's state is loaded
    bool is_interrupt_queued = false;
    bool is_dying = false;            // after a fatal error: coroutines only unwind, no code of theirs runs
    bool has_seen_fiber = false;      // one was made: the first question about coroutines starts the scheduler
    zend_long first_resource = 0;     // of the script: what it has opened has this number or a greater one
    bool has_native_fibers = false;   // from before the runtime: they may go on beside its coroutines
    std::uint8_t has_rare_state = 0;  // each switch has more to look after: bits, of which the last three come and go
    static constexpr std::uint8_t kNativeFibers = 1, kWrappers = 2, kSoap = 4, kInSignalHandler = 8, kCollecting = 16,
                                  kLogging = 32;
    bool in_shutdown_functions = false;  // the script is over, its shutdown functions are being called
};

extern TA_PHP_THREAD_LOCAL Request request;

/// The running script becomes the main coroutine, if it is not. False: it threw.
bool start_slow() noexcept;
inline bool start() noexcept { return EXPECTED(request.runtime != nullptr) || start_slow(); }

/// Whether the scheduler runs, as the API tells it: it does since the first fiber or stream.
bool is_started() noexcept;

/// The scope of the script and all that comes after; made when it is first needed.
ScopeEvent& main_scope();

/// `start`, and whether code may suspend here at all. False: it threw.
bool may_suspend_slow() noexcept;
TA_INLINE bool may_suspend() noexcept {
#ifdef ZEND_HAS_OOM
    if (UNEXPECTED(EG(delayed_oom).state == ZEND_OOM_STATE_PENDING)) {
        return false;  // the memory limit was hit: this very coroutine is about to be told
    }
#endif
    return EXPECTED(request.runtime != nullptr && !request.is_in_scheduler) || may_suspend_slow();
}

/// A fatal error has ended the running coroutine, and with it the script: from now on everybody only unwinds.
void die() noexcept;

/// `exit()` was called, or a fatal error unwinds as if it had been: the script ends.
void end_script() noexcept;

/// Whether what unwinds as if `exit()` had been called is a memory limit that was hit.
inline bool had_fatal_error() noexcept {
#ifdef ZEND_HAS_OOM
    return ZEND_HAS_OOM();
#else
    return false;
#endif
}

/// After a fatal error only what comes behind the shutdown functions calls code again.
inline bool is_cut_short() noexcept { return request.is_dying || had_fatal_error(); }

/// Runs code of PHP on a stack on which the core is at work: a fatal error in it ends the script, and this stack goes on.
template <typename Code>
void survive(Code&& code) noexcept {
    VmState before;
    before.save();
    zend_try { code(); }
    zend_catch {
        before.load();
        die();
    }
    zend_end_try();
}

/// Main is done: runs what is left and ends the runtime. What nobody took is in `request.uncaught` afterwards.
void finish_runtime() noexcept;

/// Notes an error that nobody took; the latest is the one that is reported, with the earlier ones behind it.
void note_uncaught(const Error& error) noexcept;

void request_begin();
void request_end();
void request_minit();
void request_mshutdown();

}  // namespace trueasync::php
