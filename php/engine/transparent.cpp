#include "transparent.hpp"

#include "../classes/cancellation.hpp"
#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "../settings.hpp"
#include "archive.hpp"
#include "compiler.hpp"
#include "connection.hpp"
#include "curl.hpp"
#include "error_log.hpp"
#include "in_use.hpp"
#include "printing.hpp"
#include "proc.hpp"
#include "request.hpp"
#include "tls.hpp"

#include <dlfcn.h>
#include <php_network.h>
#include <sys/socket.h>
#include <ext/standard/file.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

#include <trueasync/transparent/transparent.hpp>

namespace trueasync::php {

namespace {

/// The innermost call, if it is one of a function of an extension.
TA_INLINE zend_execute_data* internal_call() noexcept {
    zend_execute_data* call = EG(current_execute_data);
    const bool is_internal =
        EXPECTED(call != nullptr) && call->func != nullptr && call->func->type == ZEND_INTERNAL_FUNCTION;
    return is_internal ? call : nullptr;
}

/// The outermost frame of a coroutine is none.
bool is_library_call(const zend_execute_data* call) noexcept {
    return call != nullptr && call->prev_execute_data != nullptr && call->func != nullptr &&
           call->func->type == ZEND_INTERNAL_FUNCTION;
}
/// The innermost call, if it may be one of a library.
zend_execute_data* library_call() noexcept {
    return is_library_call(EG(current_execute_data)) ? EG(current_execute_data) : nullptr;
}

/// `coroutine`, which runs, was cancelled inside a library that has not returned to code of PHP since, and the cancellation is in flight. What is
/// freed while it unwinds further out may talk to connections that have nothing to do with it.
bool is_still_cut_off(const PhpCoroutine& coroutine) noexcept {
    const zend_execute_data* call = library_call();
    const PhpCoroutine::Libraries& libraries = *coroutine.libraries;
    return EG(exception) == libraries.cut_off &&
           (libraries.cut_off_to == nullptr ||
            (call != nullptr && call >= libraries.cut_off_from && call <= libraries.cut_off_to));
}

/// Whether no frame of a callback is left on top of the call.
bool is_topmost(const zend_execute_data* call) noexcept {
    const std::uint32_t size = zend_vm_calc_used_stack(ZEND_CALL_NUM_ARGS(call), call->func);
    return reinterpret_cast<const std::byte*>(EG(vm_stack_top)) == reinterpret_cast<const std::byte*>(call) + size;
}

/// Those that open what they wait for and may tell a callback about it.
bool opens_streams(const zend_function* function) noexcept {
    static constexpr std::string_view kNames[] = {
        "file_get_contents", "file_put_contents", "fopen", "file", "readfile", "copy", "get_headers", "getimagesize"};
    const zend_module_entry* module = function->internal_function.module;
    const zend_string* name = function->common.function_name;
    return (module != nullptr && std::string_view(module->name) == "soap") ||
           (function->common.scope == nullptr && name != nullptr &&
            std::ranges::find(kNames, std::string_view(ZSTR_VAL(name), ZSTR_LEN(name))) != std::end(kNames));
}

bool has_waited(const PhpCoroutine& coroutine, const PhpCoroutine::LibraryWait& wait) noexcept {
    return coroutine.last_wait == wait ||
           (coroutine.libraries != nullptr &&
            std::ranges::find(coroutine.libraries->outer_waits, wait) != coroutine.libraries->outer_waits.end());
}

/// A callback of the library was cancelled, and the library goes on as if nothing had happened: it waits for what it has waited for before, or has
/// just opened. When the callback ends the library is innermost too, but what is freed then waits for something else.
bool was_callback_cancelled(const PhpCoroutine& coroutine, int fd) noexcept {
    const zend_object* thrown = EG(exception);
    const zend_execute_data* call = library_call();
    return call != nullptr && fd >= 0 && !coroutine.is_printing &&
           (is_exit(thrown) || instanceof_function(thrown->ce, ce_cancellation)) &&
           (has_waited(coroutine, {call, call->func, fd}) || (is_topmost(call) && opens_streams(call->func)));
}

bool is_inside(const zend_execute_data* call, const zend_execute_data* outer) noexcept {
    while (call != nullptr && call != outer) {
        call = call->prev_execute_data;
    }
    return call != nullptr;
}

/// Those further out are kept: when a callback of theirs is cancelled, they must be known by what they wait for.
TA_COLD void note_other_wait(PhpCoroutine& coroutine, const PhpCoroutine::LibraryWait& wait) {
    const auto is_outer = [&](const PhpCoroutine::LibraryWait& one) {
        return one.call != wait.call && is_inside(wait.call, one.call);
    };
    if (coroutine.libraries != nullptr) {
        std::erase_if(coroutine.libraries->outer_waits, std::not_fn(is_outer));
    }
    if (is_outer(coroutine.last_wait)) {
        coroutine.make_libraries().outer_waits.push_back(coroutine.last_wait);
    }
    coroutine.last_wait = wait;
}

/// Whether the running function is one of PHP's own whose name begins so.
bool is_inside(std::string_view name) noexcept {
    const zend_execute_data* call = EG(current_execute_data);
    return call != nullptr && call->func != nullptr && call->func->type == ZEND_INTERNAL_FUNCTION &&
           call->func->common.function_name != nullptr &&
           std::string_view(ZSTR_VAL(call->func->common.function_name)).starts_with(name);
}

int descriptor_of(php_stream* stream) noexcept {
    int fd = -1;
    constexpr int kHow = PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL;
    const bool is_ours = stream->ops != &php_stream_userspace_ops;  // that would call code of PHP
    return is_ours && php_stream_cast(stream, kHow, reinterpret_cast<void**>(&fd), 0) == SUCCESS ? fd : -1;
}

class PhpTransparentHost final : public TransparentHost {
public:
    Answer may_suspend(Coroutine& coroutine) noexcept override {
        if (UNEXPECTED(is_reading_script() || is_in_archive())) {
            return Answer::Block;
        }
        const Answer answer = gate(static_cast<PhpCoroutine&>(coroutine), -1);
        if (EXPECTED(answer == Answer::Suspend)) {
            note_use(static_cast<PhpCoroutine&>(coroutine), internal_call());
            note_logging();
        }
        return answer;
    }

    Answer begin_wait(Coroutine& coroutine, int fd) noexcept override {
        auto& php = static_cast<PhpCoroutine&>(coroutine);
        const Answer answer = gate(php, fd);
        if (EXPECTED(answer == Answer::Suspend)) {
            zend_execute_data* call = internal_call();
            const zend_resource* resource = call != nullptr ? resource_of(call) : nullptr;
            // Most wait in the same function for the same stream again and again.
            if (UNEXPECTED(
                    !is_use_of(resource, php.in_use) || php.used_by != call->func || Z_TYPE(call->This) == IS_OBJECT
                )) {
                note_use(php, call);
            }
            begin_tls_wait(php, stream_of(resource), fd);
            if (UNEXPECTED(php.tls == nullptr && call != nullptr && ZEND_CALL_NUM_ARGS(call) > 1)) {
                begin_tls_wait_in(php, stream_of(resource_of(call, 2)), fd);
            }
            if (call != nullptr && EG(exception) == nullptr) {  // else somebody frees something
                const PhpCoroutine::LibraryWait wait{call, call->func, fd};
                if (UNEXPECTED(php.last_wait != wait)) {
                    note_other_wait(php, wait);
                }
            }
            note_logging();
            WaitWindow::open(php);
        }
        return answer;
    }
    void end_wait(Coroutine& coroutine) noexcept override {
        WaitWindow::close(static_cast<PhpCoroutine&>(coroutine));
        end_tls_wait(static_cast<PhpCoroutine&>(coroutine));
    }

    bool may_wait_for_lock(Coroutine& coroutine) noexcept override {
        if (is_reading_script() || !may_leave()) {
            return false;
        }
        note_use(static_cast<PhpCoroutine&>(coroutine), internal_call());
        return true;
    }

    bool cancelled(Coroutine& coroutine, Ref<Error> cancellation) noexcept override {
        auto& php = static_cast<PhpCoroutine&>(coroutine);
        if (php.is_printing) {  // by a shutdown, nobody else can
            Scheduler::current()->cancel(coroutine, std::move(cancellation));
            return false;
        }
        end_cut_off(php);
        throw_in_php(*cancellation);
        if (EG(exception) != nullptr) {
            begin_cut_off(php);
        }
        return true;
    }
    /// The answer to a question that was cut off must not be taken for the next one's: the library finds its connection closed.
    void cut_off(Coroutine& /*coroutine*/, int fd) noexcept override {
        zend_execute_data* call = library_call();
        if (call == nullptr || keeps_connection(call)) {
            ::shutdown(fd, SHUT_RDWR);
            if (call != nullptr) {
                shut_beside(call);
            }
        }
    }
    bool is_cut_off(Coroutine& coroutine) noexcept override { return cut_off_coroutine() == &coroutine; }

    /// `php_network_gethostbyname` has one buffer for all, which every call frees first.
    bool shares_memory(const void* caller) noexcept override {
        Dl_info engine{};
        Dl_info object{};
        return dladdr(reinterpret_cast<void*>(&php_network_gethostbyname), &engine) != 0 &&
               dladdr(caller, &object) != 0 && engine.dli_fbase == object.dli_fbase;
    }

    bool is_in_shared(Coroutine& /*coroutine*/) noexcept override {
        return !request.is_in_scheduler && is_inside("curl_multi_");
    }

    /// A child that the program itself has asked for is none of `proc_close()`.
    void child_changed(pid_t child, int status) noexcept override {
        if (!is_inside("pcntl_")) {
            note_child(child, status);
        }
    }

    /// The handle of the child goes with a coroutine that was cancelled, which PHP does not wait for.
    bool is_left(pid_t /*child*/) noexcept override {
        return EG(exception) != nullptr && instanceof_function(EG(exception)->ce, ce_cancellation) &&
               !is_inside("pcntl_");
    }

private:
    /// The exception in flight ends whatever the running coroutine is in.
    void begin_cut_off(PhpCoroutine& php) noexcept {
        PhpCoroutine::Libraries& libraries = php.make_libraries();
        libraries.cut_off = EG(exception);
        libraries.cut_off_from = libraries.cut_off_to = library_call();
        while (libraries.cut_off_from != nullptr && is_library_call(libraries.cut_off_from->prev_execute_data)) {
            libraries.cut_off_from = libraries.cut_off_from->prev_execute_data;
        }
        GC_ADDREF(libraries.cut_off);
        ++cut_offs;
    }

    /// Whether it may suspend where it is.
    TA_INLINE Answer gate(PhpCoroutine& php, int fd) noexcept {
        if (UNEXPECTED(php.cut_off() != nullptr)) {
            end_cut_off_aside(php);  // it made way for an exception that was never thrown
            if (is_still_cut_off(php)) {
                return Answer::Fail;
            }
            end_cut_off(php);
        }
        if (UNEXPECTED(EG(exception) != nullptr) && was_callback_cancelled(php, fd)) {
            begin_cut_off(php);
            return Answer::Fail;
        }
        return may_leave() ? Answer::Suspend : Answer::Block;
    }

    /// Whether others may run here.
    static TA_INLINE bool may_leave() noexcept {
        // The compiler's state is one for all.
        const bool is_wrong_place = request.is_in_scheduler || request.is_dying || CG(in_compilation);
        if (is_wrong_place || had_fatal_error()) {
            return false;
        }
        FG(pclose_wait) = false;  // a process that another coroutine drops is not waited for
        return true;
    }
};

PhpTransparentHost host;
bool is_begun = false;
bool is_possible = true;

// --- what a library makes of its failure

using ErrorCallback = decltype(zend_error_cb);
ErrorCallback error_callback_before = nullptr;

/// The running function has to do with a stream that another coroutine closes.
bool is_being_closed() noexcept {
    zend_execute_data* call = request.runtime != nullptr && !request.is_in_scheduler ? internal_call() : nullptr;
    for (const std::uint32_t number : {1, 2}) {
        php_stream* stream = call != nullptr ? stream_of(resource_of(call, number)) : nullptr;
        if (stream != nullptr && trueasync::is_being_closed(descriptor_of(stream))) {
            return true;
        }
    }
    return false;
}

/// A function that was cut short complains about it; the cancellation has been thrown already. So does a read whose stream is closed by
/// another coroutine: that it ends is said by its result.
void report_error(int type, zend_string* file, const std::uint32_t line, zend_string* message) {
    if ((type & E_FATAL_ERRORS) != 0 || (cut_off_coroutine() == nullptr && (type != E_NOTICE || !is_being_closed()))) {
        error_callback_before(type, file, line, message);
    }
}

using CreateObject = zend_object* (*)(zend_class_entry*);
CreateObject create_exception_before = nullptr;

/// An exception thrown while another one is in flight takes its place. What a library throws about its failed call must not: the cancellation
/// steps aside, and takes its place again with that one as the previous.
zend_object* create_exception(zend_class_entry* ce) {
    if (PhpCoroutine* coroutine = cut_off_coroutine(); coroutine != nullptr && !coroutine->is_cut_off_aside()) {
        begin_cut_off_aside(*coroutine);
    }
    return create_exception_before(ce);
}

/// Who has just thrown it may still have something to write into it.
void drop_later(zend_object* exception) noexcept {
    static TA_PHP_THREAD_LOCAL zend_object* dropped = nullptr;
    if (zend_object* former = std::exchange(dropped, exception)) {
        OBJ_RELEASE(former);
    }
}

using ThrowHook = decltype(zend_throw_exception_hook);
ThrowHook throw_hook_before = nullptr;

void on_throw(zend_object* exception) {
    if (throw_hook_before != nullptr) {
        throw_hook_before(exception);
    }
    if (PhpCoroutine* coroutine = cut_off_coroutine(); coroutine != nullptr && coroutine->is_cut_off_aside()) {
        throw_cut_off(*coroutine);
    }
}

void watch_exceptions() noexcept {
    error_callback_before = std::exchange(zend_error_cb, report_error);
    throw_hook_before = std::exchange(zend_throw_exception_hook, on_throw);
    create_exception_before = zend_ce_exception->create_object;
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(class_table), each) {
        auto* ce = static_cast<zend_class_entry*>(Z_PTR_P(each));
        if (ce->type == ZEND_INTERNAL_CLASS && ce->create_object == create_exception_before) {
            ce->create_object = create_exception;
        }
    }
    ZEND_HASH_FOREACH_END();
}

}  // namespace

PhpCoroutine* cut_off_coroutine() noexcept {
    auto* coroutine = static_cast<PhpCoroutine*>(Scheduler::current_coroutine());
    const bool is_cut_off = coroutine != nullptr && !request.is_in_scheduler && coroutine->cut_off() != nullptr &&
                            (coroutine->is_cut_off_aside() || is_still_cut_off(*coroutine));
    return is_cut_off ? coroutine : nullptr;
}

void begin_cut_off_aside(PhpCoroutine& coroutine) noexcept {
    coroutine.libraries->is_cut_off_aside = true;
    OBJ_RELEASE(std::exchange(EG(exception), nullptr));  // we have a reference of our own
}

void end_cut_off_aside(PhpCoroutine& coroutine) noexcept {
    if (coroutine.is_cut_off_aside()) {
        coroutine.libraries->is_cut_off_aside = false;
        GC_ADDREF(coroutine.cut_off());
        zend_throw_exception_internal(coroutine.cut_off());
    }
}

void throw_cut_off(PhpCoroutine& coroutine) noexcept {
    coroutine.libraries->is_cut_off_aside = false;
    zend_object* cancellation = coroutine.cut_off();
    GC_ADDREF(cancellation);
    if (is_exit(cancellation) || previous_of(cancellation) != nullptr) {
        drop_later(std::exchange(EG(exception), cancellation));
    } else {
        zend_throw_exception_internal(cancellation);
    }
}

void end_cut_off(PhpCoroutine& coroutine) noexcept {
    if (coroutine.cut_off() != nullptr) {
        coroutine.libraries->is_cut_off_aside = false;
        drop_later(nullptr);
        --host.cut_offs;
        OBJ_RELEASE(std::exchange(coroutine.libraries->cut_off, nullptr));
    }
}

void begin_transparent_io() noexcept {
    if (is_begun) {
        // May be off: this may be the child of a fork.
        set_transparent(is_possible && INI_BOOL("async.transparent_io"));
        return;
    }
    is_begun = true;
    if (!INI_BOOL("async.transparent_io")) {
        return;
    }
    begin_whole_output();
    set_transparent_host(&host);
    watch_exceptions();
    TransparentSettings settings = transparent_settings();
    settings.host = reinterpret_cast<const void*>(&php_network_gethostbyname);
    is_possible = static_cast<bool>(install_transparent(settings));
    if (is_possible) {
        hook_curl();
        std::atexit([] { set_transparent(false); });  // a library may end the process in a coroutine
    }
    if (!is_possible) {
        zend_error(
            E_NOTICE,
            "Transparent I/O is off, blocking functions hold up all coroutines: the calls of this PHP cannot be "
            "replaced (another system, the extension linked into PHP, or sealed memory)"
        );
    } else if (transparent_stats().refused != 0) {
        zend_error(
            E_NOTICE,
            "Transparent I/O is incomplete, blocking functions of some libraries hold up all coroutines: the system "
            "has sealed their memory"
        );
    }
}

}  // namespace trueasync::php
