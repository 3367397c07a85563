#include "request.hpp"

#include "../classes/coroutine.hpp"
#include "../classes/exceptions.hpp"
#include "../classes/finally.hpp"
#include "../classes/scope.hpp"
#include "../error.hpp"
#include "../settings.hpp"
#include "archive.hpp"
#include "autoload.hpp"
#include "compiler.hpp"
#include "curl.hpp"
#include "datagram.hpp"
#include "error_handler.hpp"
#include "fiber.hpp"
#include "fiber_block.hpp"
#include "fork.hpp"
#include "gc.hpp"
#include "generator.hpp"
#include "host_names.hpp"
#include "in_use.hpp"
#include "jit.hpp"
#include "mentions.hpp"
#include "observer.hpp"
#include "output.hpp"
#include "overflow.hpp"
#include "pcntl.hpp"
#include "pipe_timeout.hpp"
#include "printing.hpp"
#include "proc.hpp"
#include "stream_select.hpp"
#include "test_main.hpp"
#include "transparent.hpp"

#include <ext/standard/basic_functions.h>

#include <algorithm>
#include <cstdint>
#include <trueasync/debug/dump.hpp>
#include <trueasync/event/host_objects.hpp>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/reactor/uv_reactor.hpp>
#include <trueasync/runtime/finally.hpp>

namespace trueasync::php {

TA_PHP_THREAD_LOCAL Request request;

namespace {

zend_internal_function scheduler_function = {};  // of the outermost frame while no coroutine runs

/// Exchanges the engine's state at every switch.
class PhpHook final : public HostHook {
public:
    void start(Coroutine& /*coroutine*/) noexcept override {}  // in `run`, on whose stack the first VM page lies
    void leave(Coroutine& coroutine) noexcept override { static_cast<PhpCoroutine&>(coroutine).leave(); }
    void enter(Coroutine& coroutine) noexcept override { static_cast<PhpCoroutine&>(coroutine).enter(); }
    void finish(Coroutine& coroutine) noexcept override {
        end_cut_off(static_cast<PhpCoroutine&>(coroutine));
        end_use(static_cast<PhpCoroutine&>(coroutine));
        if (&coroutine != request.main) {
            auto& php = static_cast<PhpCoroutine&>(coroutine);
            php.vm.end();  // left behind by one that was abandoned
            observe_abandoned(php.fiber);
        }
    }
    void coming(const Coroutine& soon, const Coroutine* later, Ahead step) noexcept override {
        static_cast<const PhpCoroutine&>(soon).prefetch(step);
        if (step == Ahead::Rest && later != nullptr) {
            static_cast<const PhpCoroutine*>(later)->prefetch_self();
        }
    }
    void woke() noexcept override { deliver_interrupt(); }
};

class PhpObjects final : public HostObjects {
public:
    void add_ref(void* object) noexcept override { GC_ADDREF(static_cast<zend_object*>(object)); }
    void release(void* object) noexcept override { OBJ_RELEASE(static_cast<zend_object*>(object)); }
    std::uint32_t ref_count(const void* object) const noexcept override {
        return GC_REFCOUNT(static_cast<const zend_object*>(object));
    }
};

/// Errors that nobody took are kept until everything has unwound; warnings are PHP's.
class PhpReports final : public ReportSink {
public:
    void warning(Warning /*kind*/, const Event* /*event*/, std::string_view text) noexcept override {
        if (request.is_dying || had_fatal_error()) {
            return;
        }
        zend_error(E_WARNING, "%.*s", static_cast<int>(text.size()), text.data());
    }
    void unhandled_error(const Event* /*event*/, const Error& error) noexcept override { note_uncaught(error); }
    void deadlock(std::span<const Event* const> waiting, std::size_t active_events) noexcept override {
        if (zend_long(INI_BOOL("async.debug_deadlock")) == 0) {
            return;
        }
        php_printf("\n=== DEADLOCK REPORT START ===\n");
        php_printf("Coroutines waiting: %zu, active_events: %zu\n", waiting.size(), active_events);
        for (const Event* event : waiting) {
            const auto& coroutine = static_cast<const Coroutine&>(*event);
            php_printf("Coroutine %llu\n", static_cast<unsigned long long>(coroutine.id()));
            php_printf("  spawn: %s\n", to_string(coroutine.spawned_at()).c_str());
            php_printf("  suspend: %s\n", to_string(coroutine.suspended_at()).c_str());
            php_printf("  waiting for:\n");
            const std::vector<std::string> lines = coroutine.awaiting();
            for (const std::string& line : lines) {
                php_printf("    - %s\n", line.c_str());
            }
            if (lines.empty()) {
                php_printf("    <nothing>\n");
            }
        }
        php_printf("=== DEADLOCK REPORT END   ===\n");
    }
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override {
        for (const Event* coroutine : coroutines) {
            zend_error(E_WARNING, "A coroutine did not stop: %s", coroutine->info().c_str());
        }
    }
};

PhpHook hook;
PhpObjects objects;
PhpReports reports;
PhpHelpers helpers;
TA_PHP_THREAD_LOCAL FiberRelief fiber_relief;

}  // namespace

ScopeEvent& main_scope() {
    if (request.main_scope == nullptr || request.main_scope->is_cancelled()) {
        request.main_scope = ScopeEvent::create(nullptr, Place());
        request.main_scope->set_safe(true);
    }
    return *request.main_scope;
}

bool start_slow() noexcept {
    if (!request.is_open) {
        zend_throw_error(nullptr, "The script has ended: what is closed or saved only now cannot use coroutines");
        return false;
    }
    find_observers();
    request.has_native_fibers = request.has_seen_fiber;
    if (request.has_native_fibers) {
        request.has_rare_state |= Request::kNativeFibers;
    }
    if (request.scheduler_page == nullptr) {
        request.scheduler_page = std::make_unique<Request::Page>();
    }
    request.scheduler_vm.begin(
        request.scheduler_page->bytes, reinterpret_cast<zend_function*>(&scheduler_function), EG(error_reporting),
        EG(main_fiber_context), {}
    );
    RuntimeSettings settings;
    settings.second_error_ends = false;
    settings.stacks = stack_settings();
    request.stack_size = stack_size();
    settings.shutdown_grace = Deadline::never();
    settings.report_overflow = false;  // in words of our own, and without a core
    auto runtime = std::make_unique<Runtime>(make_uv_reactor(), settings);
    runtime->scheduler().set_host_hook(&hook);
    runtime->scheduler().set_helper_factory(&helpers);
    runtime->scheduler().add_stuck_handler(fiber_relief);
    request.main = PhpCoroutine::create();
    request.main->vm.save_constants();
    request.main->set_name("main");
    request.main->set_owner(&main_scope());
    request.main_scope->adopt(*request.main);
    if (Status status = runtime->start(request.main); !status) {
        OBJ_RELEASE(std::exchange(request.main, nullptr)->object());
        throw_in_php(*status.error());
        return false;
    }
    request.runtime = runtime.release();
    request.is_in_scheduler = false;
    guard_overflow(request.runtime->stacks(), request.stack_size);
    begin_transparent_io();
    return true;
}

namespace {

zend_long next_resource() noexcept { return zend_hash_next_free_element(&EG(regular_list)); }

}  // namespace

bool is_started() noexcept {
    return request.runtime != nullptr ||
           (request.is_open && (request.has_seen_fiber || next_resource() > request.first_resource) && start());
}

bool may_suspend_slow() noexcept {
    if (request.is_in_scheduler) {
        zend_throw_error(nullptr, "The scheduler itself calls this code: it cannot suspend");
        return false;
    }
    return start();
}

void die() noexcept {
    request.is_dying = true;
    Scheduler& scheduler = request.runtime->scheduler();
    if (request.runtime->is_accepting()) {
        request.runtime->shutdown();
    }
    for (Coroutine& coroutine : scheduler.alive()) {
        scheduler.cancel(coroutine, {});
    }
}

void end_script() noexcept {
    if (had_fatal_error()) {
        die();
    } else {
        request.runtime->shutdown();
    }
}

namespace {

/// What comes now may call code again.
void forget_fatal_error() noexcept {
    request.is_dying = false;
#ifdef ZEND_HAS_OOM
    EG(delayed_oom).state = ZEND_OOM_STATE_NONE;
#endif
}

}  // namespace

void note_uncaught(const Error& error) noexcept {
    zend_object* later = to_exception(error);
    zend_object* earlier = std::exchange(request.uncaught, later);
    if (earlier != nullptr && earlier != later) {
        zend_exception_set_previous(later, earlier);
    } else if (earlier != nullptr) {
        OBJ_RELEASE(earlier);
    }
}

void finish_runtime() noexcept {
    if (request.runtime == nullptr || Scheduler::current_coroutine() != request.main) {
        return;
    }
    Ref<Error> main_error;
    if (EG(exception) != nullptr && !zend_is_unwind_exit(EG(exception))) {
        main_error = take_exception();
        if (!main_error->is_cancellation()) {
            note_uncaught(*main_error);
        }
        gc_finish_pending();
    } else if (EG(exception) != nullptr) {
        end_script();
    }
    VmState bottom;  // main's own, which is not told of switches once it has finished
    FiberBlock blocked;
    OutputState buffers;
    bottom.save();
    blocked.leave();
    buffers.leave();
    request.is_in_scheduler = true;  // whatever runs here from now on is no coroutine's
    const Ref<Error> outcome = request.runtime->finish(std::move(main_error));
    bottom.load();
    blocked.enter();
    buffers.enter();
    if (outcome != nullptr && outcome->code() == ErrorCode::Deadlock) {
        zend_execute_data* frame = std::exchange(EG(current_execute_data), nullptr);  // ours: it belongs in no trace
        note_uncaught(*outcome);
        EG(current_execute_data) = frame;
    }
    unguard_overflow();
    delete std::exchange(request.runtime, nullptr);
    request.is_in_scheduler = false;
    end_whole_output();
    forget_fatal_error();
    gc_runtime_end();
    OBJ_RELEASE(std::exchange(request.main, nullptr)->object());
}

// --- the end of the script

namespace {

using CompileFile = zend_op_array* (*)(zend_file_handle*, int);
CompileFile compile_file_before = nullptr;
using CompileString = zend_op_array* (*)(zend_string*, const char*, zend_compile_position);
CompileString compile_string_before = nullptr;
using ExecuteEx = void (*)(zend_execute_data*);
ExecuteEx execute_before = nullptr;

/// The next bottom script is one of `auto_prepend_file`, or one behind which comes that of `auto_append_file`.
TA_PHP_THREAD_LOCAL bool is_followed = false;

/// Runs a script that is at the bottom of everything, then what it has left. The engine reports an uncaught exception only afterwards.
void execute_bottom(zend_execute_data* execute_data) {
    zend_execute_ex = execute_before;  // for all calls inside: the engine's fast paths ask for this
    const bool has_follower = std::exchange(is_followed, false);
    if (request.runtime == nullptr) {
        request.first_resource = next_resource();
    }
    if (UNEXPECTED(is_main_in_coroutine())) {
        execute_in_coroutine(execute_data);
    } else {
        zend_execute_ex(execute_data);
    }
    if (has_follower && EG(exception) == nullptr) {
        return;
    }
    if (request.runtime != nullptr && EG(current_execute_data) == nullptr) {
        finish_runtime();
        if (request.uncaught != nullptr && EG(exception) == nullptr) {
            EG(exception) = std::exchange(request.uncaught, nullptr);
        }
    } else if (EG(exception) != nullptr && EG(current_execute_data) == nullptr && instanceof_function(EG(exception)->ce, ce_cancellation)) {
        zend_clear_exception();  // ends a script without a word, also one that never used a coroutine
    }
}

/// After the script: runs a shutdown function or a destructor that the engine calls from nowhere, to which every exception is a fatal error. A
/// cancellation ends it without a word, as it ends the script.
void execute_late(zend_execute_data* execute_data) {
    zend_execute_ex = execute_before;
    zend_execute_ex(execute_data);
    if (EG(current_execute_data) != nullptr) {
        return;
    }
    if (EG(exception) != nullptr && instanceof_function(EG(exception)->ce, ce_cancellation)) {
        zend_clear_exception();
    }
    zend_execute_ex = execute_late;
}

/// The next function that is called from nowhere is such a one.
void watch_late_calls() {
    if (zend_execute_ex != execute_late) {
        if (zend_execute_ex != execute_bottom) {
            execute_before = zend_execute_ex;
        }
        zend_execute_ex = execute_late;
    }
}

/// The next script that runs is the bottom one when nothing runs now.
void watch_next_script() {
    if (EG(current_execute_data) == nullptr && zend_execute_ex != execute_bottom && zend_execute_ex != execute_late) {
        execute_before = zend_execute_ex;
        zend_execute_ex = execute_bottom;
    }
}

void stop_watching() {
    if (zend_execute_ex == execute_bottom || zend_execute_ex == execute_late) {
        zend_execute_ex = execute_before;
    }
}

/// `compile` in the running coroutine's turn.
template <typename Compile>
zend_op_array* compile_alone(Compile&& compile) {
    if (!begin_compiling()) {
        return nullptr;
    }
    zend_op_array* script = nullptr;
    zend_try { script = compile(); }
    zend_catch {
        end_compiling();
        zend_bailout();
    }
    zend_end_try();
    end_compiling();
    if (script != nullptr) {
        watch_next_script();
    }
    return script;
}

bool is_file(const zend_file_handle& handle, const char* setting) noexcept {
    return setting != nullptr && *setting != '\0' && handle.filename != nullptr &&
           std::strcmp(ZSTR_VAL(handle.filename), setting) == 0;
}

/// Those that PHP runs one after another are one script to us.
void note_followed(const zend_file_handle& handle) noexcept {
    if (EG(current_execute_data) == nullptr) {
        const bool has_append = PG(auto_append_file) != nullptr && *PG(auto_append_file) != '\0';
        is_followed = handle.primary_script ? has_append : is_file(handle, PG(auto_prepend_file));
    }
}

zend_op_array* compile_file(zend_file_handle* handle, int type) {
    note_followed(*handle);
    const zend_long before = next_resource();
    zend_op_array* script =
        read_ahead(handle, type) ? compile_alone([&] { return compile_file_before(handle, type); }) : nullptr;
    request.first_resource += next_resource() - before;
    return script;
}

zend_op_array* compile_string(zend_string* source, const char* filename, zend_compile_position position) {
    return compile_alone([&] { return compile_string_before(source, filename, position); });
}

/// At the first request, since opcache puts itself in front of all that came before, and asks nobody about a script that it has.
void watch_compiler() {
    if (compile_file_before == nullptr) {
        compile_file_before = std::exchange(zend_compile_file, compile_file);
        compile_string_before = std::exchange(zend_compile_string, compile_string);
    }
}

}  // namespace

// --- after the script

namespace {

constexpr int kLateRounds = 8;  // of destructors that make objects with destructors

void report_uncaught() {
    if (request.uncaught != nullptr) {
        zend_exception_error(std::exchange(request.uncaught, nullptr), E_ERROR);
    }
}

/// Handlers of scopes that a fatal error has kept from being called.
void call_owed_finally() {
    while (has_owed_finally()) {
        forget_fatal_error();
        start_owed_finally();
        finish_runtime();
        report_uncaught();
    }
}

zend_internal_function first_function = {};  // called before all shutdown functions, and after all
zend_internal_function last_function = {};

/// `call` becomes a shutdown function.
void append_shutdown_function(zend_internal_function& function) {
    php_shutdown_function_entry entry = {};
    entry.fci.size = sizeof(entry.fci);
    ZVAL_UNDEF(&entry.fci.function_name);
    entry.fci_cache.function_handler = reinterpret_cast<zend_function*>(&function);
    append_user_shutdown_function(&entry);
}

ZEND_NAMED_FUNCTION(before_shutdown_functions) {
    static_cast<void>(execute_data);
    ZVAL_NULL(return_value);
    if (request.runtime != nullptr) {  // main has ended by a fatal error
        request.is_dying = true;
        request.runtime->shutdown();
        finish_runtime();
    }
    request.in_shutdown_functions = true;
    append_shutdown_function(last_function);
    watch_late_calls();
}

void call_destructors() {
    zend_try { zend_objects_store_call_destructors(&EG(objects_store)); }
    zend_end_try();
}

/// What coroutines of destructors have made comes after the engine's own walk, and would be destroyed when no code can run any more.
void destroy_late_objects() {
    for (int round = 0; round < kLateRounds && !CG(unclean_shutdown); ++round) {
        watch_late_calls();
        call_destructors();
        if (request.runtime == nullptr) {
            break;
        }
        finish_runtime();
        report_uncaught();
    }
    zend_objects_store_mark_destructed(&EG(objects_store));
}

bool is_last(const zend_internal_function& function) {
    zval* last = nullptr;
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(BG(user_shutdown_function_names), each) { last = each; }
    ZEND_HASH_FOREACH_END();
    const auto* entry = static_cast<php_shutdown_function_entry*>(Z_PTR_P(last));
    return entry->fci_cache.function_handler == reinterpret_cast<const zend_function*>(&function);
}

/// What shutdown functions have spawned runs when all of them have returned, before global destructors.
ZEND_NAMED_FUNCTION(after_shutdown_functions) {
    static_cast<void>(execute_data);
    ZVAL_NULL(return_value);
    if (is_last(last_function)) {
        finish_runtime();
        report_uncaught();
        call_owed_finally();
        watch_late_calls();
    }
    if (is_last(last_function)) {
        request.in_shutdown_functions = false;
    } else {
        append_shutdown_function(last_function);  // others came behind it
    }
}

void init_shutdown_function(zend_internal_function& function, const char* name, zif_handler handler) {
    function.type = ZEND_INTERNAL_FUNCTION;
    function.function_name = zend_string_init_interned(name, std::strlen(name), true);
    function.handler = handler;
}

}  // namespace

void request_minit() {
    init_shutdown_function(first_function, "true_async_shutdown", before_shutdown_functions);
    init_shutdown_function(last_function, "true_async_finish", after_shutdown_functions);
    error_handler_minit();
    init_root_function(scheduler_function);
    set_host_objects(&objects);
    FinallyList::set_start([] {
        if (request.is_open) {
            start();
        }
    });
    autoload_minit();
    datagram_minit();
    fiber_minit();
    gc_minit();
    generator_minit();
    pipe_timeout_minit();
    proc_minit();
    stream_select_minit();
    in_use_minit();
}

void request_mshutdown() {
    set_host_objects(nullptr);
    FinallyList::set_start(nullptr);
    autoload_mshutdown();
    gc_mshutdown();
    unshare_signals_with_pcntl();
    if (zend_compile_file == compile_file) {
        zend_compile_file = compile_file_before;
    }
    if (zend_compile_string == compile_string) {
        zend_compile_string = compile_string_before;
    }
}

void request_begin() {
    set_report_sink(&reports);
    request.is_open = true;
    request.in_shutdown_functions = false;
    request.has_seen_fiber = false;
    request.has_rare_state = 0;
    SignalHandlerState::forget();
    request.is_dying = false;
    watch_compiler();
    mentions_request_begin();
    append_shutdown_function(first_function);
    error_handler_request_begin();
    output_request_begin();
    guard_fork();  // both before any script is compiled: the JIT keeps the handlers that it has seen
    share_signals_with_pcntl();
    guard_host_names();
    guard_jit();
    gc_request_begin();
    request.is_in_scheduler = false;
    request.is_interrupt_queued = false;
}

void request_end() {
    stop_watching();
    if (std::exchange(request.in_shutdown_functions, false) && request.runtime != nullptr) {
        // exit() or a fatal error in one of them
        request.is_dying = PG(last_error_message) != nullptr && (PG(last_error_type) & E_FATAL_ERRORS) != 0;
        request.runtime->shutdown();
    }
    const bool has_run = request.runtime != nullptr;
    finish_runtime();
    report_uncaught();
    call_owed_finally();
    if (CG(unclean_shutdown) && request.main_scope != nullptr && start()) {
        scope_request_end();
        finish_runtime();
        report_uncaught();
    }
    if (has_run) {
        destroy_late_objects();
        stop_watching();
    }
    call_owed_finally();
    request.is_open = false;
    fiber_request_end();
    autoload_request_end();
    proc_request_end();
    in_use_request_end();
    archive_request_end();
    curl_request_end();
    output_request_end();
    pcntl_request_end();
    request.main_scope.reset();  // while the values in its context can still go
    set_report_sink(nullptr);
}

}  // namespace trueasync::php
