#include "curl.hpp"

#include "../classes/coroutine.hpp"
#include "../classes/exceptions.hpp"
#include "../error.hpp"
#include "in_use.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <dlfcn.h>
#include <stdio_ext.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <trueasync/runtime/wait.hpp>
#include <trueasync/transparent/transparent.hpp>
#include <utility>

namespace trueasync::php {

TA_PHP_THREAD_LOCAL PerThread<std::vector<CurlTarget>> curl_targets;

namespace {

// As libcurl defines them, whose headers an extension need not have.
constexpr zend_long kAbortRead = 0x10000000;
constexpr zend_long kPauseRead = 0x10000001;

zend_class_entry* ce_handle = nullptr;
zend_class_entry* ce_multi = nullptr;
zif_handler exec_before = nullptr;
zif_handler multi_exec_before = nullptr;
zif_handler multi_select_before = nullptr;

bool is_watching() noexcept { return request.runtime != nullptr && !request.is_in_scheduler && !request.is_dying; }

// --- turns

std::uint64_t count_switches() noexcept { return request.runtime->scheduler().stats().switches; }

/// Others run once, if none has since `switches` were counted. May throw.
void take_turn(std::uint64_t switches) noexcept {
    const bool can_suspend = is_watching() && is_transparent() && !CG(in_compilation) && !had_fatal_error();
    if (EG(exception) != nullptr || !can_suspend || count_switches() != switches) {
        return;
    }
    if (const WaitResult result = sleep_until(Deadline::after(Duration::zero())); result != WaitResult::TimedOut) {
        has_arrived(result);
    }
}

// --- the streams of a transfer

zend_object* object_of(zend_execute_data* call) noexcept {
    if (ZEND_CALL_NUM_ARGS(call) == 0) {
        return nullptr;
    }
    const zval* argument = ZEND_CALL_ARG(call, 1);
    ZVAL_DEREF(argument);
    return Z_TYPE_P(argument) == IS_OBJECT ? Z_OBJ_P(argument) : nullptr;
}

/// All that the object holds, which is what it tells the collector of cycles. Good until the next question.
std::span<const zval> held_by(zend_object* object) noexcept {
    zval* values = nullptr;
    int count = 0;
    if (object->handlers->get_gc != nullptr) {
        object->handlers->get_gc(object, &values, &count);
    }
    return {values, static_cast<std::size_t>(count)};
}

/// While it lives nobody else closes the streams of the handle, or of those in the multi handle.
class Targets {
public:
    explicit Targets(zend_object* object) {
        if (object == nullptr) {
            return;
        }
        const bool had_buffer = EG(get_gc_buffer).start != nullptr;
        if (object->ce == ce_handle) {
            add_of(object);
        } else if (object->ce == ce_multi) {
            std::vector<zend_object*> handles;
            for (const zval& value : held_by(object)) {
                if (Z_TYPE(value) == IS_OBJECT && Z_OBJCE(value) == ce_handle) {
                    handles.push_back(Z_OBJ(value));
                }
            }
            std::ranges::for_each(handles, [this](zend_object* handle) { add_of(handle); });
        }
        if (!had_buffer && EG(get_gc_buffer).start != nullptr) {  // what scripts see of their memory stays the same
            efree(EG(get_gc_buffer).start);
            EG(get_gc_buffer) = {};
        }
    }
    Targets(const Targets&) = delete;
    Targets& operator=(const Targets&) = delete;
    ~Targets() {
        for (; count_ != 0; --count_) {
            const PhpCoroutine* running = &PhpCoroutine::running();
            const auto own = std::find_if(curl_targets->rbegin(), curl_targets->rend(), [&](const CurlTarget& one) {
                return one.who == running;
            });
            if (own == curl_targets->rend()) {
                return;
            }
            zend_resource* resource = own->resource;
            curl_targets->erase(std::next(own).base());
            zend_list_delete(resource);
        }
    }

private:
    void add_of(zend_object* handle) {
        for (const zval& value : held_by(handle)) {
            if (Z_TYPE(value) == IS_RESOURCE && stream_of(Z_RES(value)) != nullptr) {
                GC_ADDREF(Z_RES(value));
                curl_targets->push_back({Z_RES(value), &PhpCoroutine::running()});
                ++count_;
            }
        }
    }

    std::size_t count_ = 0;
};

// --- callbacks

/// While `curl_multi_exec` has more to do, for the callbacks of other handles: what it will throw.
struct Kept {
    const zend_execute_data* call;
    zend_object* exception;  // counted
};
TA_PHP_THREAD_LOCAL PerThread<std::vector<Kept>> kept;

bool is_multi_exec(const zend_execute_data* call) noexcept {
    const zend_string* name = call->func->common.function_name;
    return name != nullptr && zend_string_equals_literal(name, "curl_multi_exec");
}

bool is_exit(const zend_object* exception) noexcept {
    return zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception);
}

zend_object* join(zend_object* earlier, zend_object* later) noexcept {
    if (earlier == later) {
        OBJ_RELEASE(later);
        return earlier;
    }
    if (instanceof_function(earlier->ce, ce_cancellation)) {
        std::swap(earlier, later);
    }
    zend_exception_set_previous(later, earlier);
    return later;
}

/// The exception in flight comes when the call ends.
void keep_exception(const zend_execute_data* call) noexcept {
    zend_object* exception = std::exchange(EG(exception), nullptr);
    const auto found = std::ranges::find_if(*kept, [&](const Kept& one) { return one.call == call; });
    if (found == kept->end()) {
        kept->push_back({call, exception});
    } else {
        found->exception = join(found->exception, exception);
    }
}

void throw_kept(const zend_execute_data* call) noexcept {
    if (EXPECTED(kept->empty())) {
        return;
    }
    const auto found = std::ranges::find_if(*kept, [&](const Kept& one) { return one.call == call; });
    if (found == kept->end()) {
        return;
    }
    zend_object* exception = found->exception;
    kept->erase(found);
    zend_object* later = std::exchange(EG(exception), nullptr);
    if (later != nullptr && is_exit(later)) {
        OBJ_RELEASE(exception);
        exception = later;
    } else if (later != nullptr) {
        exception = join(exception, later);
    }
    EG(exception) = exception;  // nothing runs here whose next step would have to change
}

/// The call of a cURL function that runs now; null where all is as in plain PHP.
zend_execute_data* running_call() noexcept {
    zend_execute_data* call = EG(current_execute_data);
    const bool is_internal = call != nullptr && call->func != nullptr && call->func->type == ZEND_INTERNAL_FUNCTION;
    return is_internal && is_watching() ? call : nullptr;
}

bool is_read_callback(const zend_fcall_info& callback) noexcept {
    return callback.param_count == 3 && Z_TYPE(callback.params[2]) == IS_LONG &&
           (Z_TYPE(callback.params[1]) == IS_RESOURCE || Z_TYPE(callback.params[1]) == IS_NULL);
}

/// What lets libcurl end the transfer. Told apart by their parameters: a write or header callback, one that reads, one that shows the progress.
void answer_stop(const zend_fcall_info& callback) noexcept {
    constexpr zend_long kNothingWritten = -1;
    const std::uint32_t count = callback.param_count;
    if (callback.retval == nullptr || !(count == 2 || count == 5 || is_read_callback(callback))) {
        return;
    }
    zval_ptr_dtor(callback.retval);
    ZVAL_LONG(callback.retval, count == 2 ? kNothingWritten : count == 3 ? kAbortRead : 1);
}

void check_read(const zend_fcall_info& callback) noexcept {
    if (is_read_callback(callback) && callback.retval != nullptr && Z_TYPE_P(callback.retval) == IS_LONG) {
        const zend_long answer = Z_LVAL_P(callback.retval);
        if (answer != 0 && answer != kAbortRead && answer != kPauseRead) {
            zend_value_error(
                "The CURLOPT_READFUNCTION callback must return a string, 0, CURL_READFUNC_ABORT or CURL_READFUNC_PAUSE"
            );
        }
    }
}

/// `zend_call_function`, when the extension calls it.
zend_result call_back(zend_fcall_info* callback, zend_fcall_info_cache* cache) {
    zend_execute_data* call = running_call();
    if (call == nullptr) {
        return zend_call_function(callback, cache);
    }
    const bool is_multi = is_multi_exec(call);
    if (EG(exception) != nullptr && is_multi && !is_exit(EG(exception))) {
        keep_exception(call);
    }
    zend_result result = FAILURE;
    {
        const InsideCall inside(call);
        result = zend_call_function(callback, cache);
    }
    if (EG(exception) == nullptr) {
        check_read(*callback);
    }
    if (EG(exception) != nullptr) {
        answer_stop(*callback);
        if (is_multi && !is_exit(EG(exception))) {
            keep_exception(call);
        }
    }
    return result;
}

// --- files

/// A regular file, or one that is none of the system's.
enum class Kind : std::uint8_t { Regular, Waits, Stream };

Kind kind_of(int fd) noexcept {
    struct stat status {};
    if (fd < 0) {
        return Kind::Stream;
    }
    return ::fstat(fd, &status) != 0 || S_ISREG(status.st_mode) ? Kind::Regular : Kind::Waits;
}

/// The stream of PHP's that the file stands for.
php_stream* stream_behind(const FILE* file) noexcept {
    for (const CurlTarget& target : *curl_targets) {
        php_stream* stream = stream_of(target.resource);
        if (stream != nullptr && stream->stdiocast == file) {
            return stream;
        }
    }
    return nullptr;
}

std::size_t write_all(int fd, const char* data, std::size_t size) noexcept {
    std::size_t written = 0;
    while (written < size) {
        const ssize_t result = suspending_write(fd, data + written, size - written);
        if (result <= 0) {
            break;
        }
        written += static_cast<std::size_t>(result);
    }
    return written;
}

/// `fwrite`, when the extension calls it for a transfer. What the C library kept in a buffer would fail when nobody asks any more, and its
/// own writes block.
size_t write_file(const void* data, size_t size, size_t count, FILE* file) {
    zend_execute_data* call = size != 0 && count != 0 ? running_call() : nullptr;
    const int fd = call != nullptr ? ::fileno(file) : -1;
    const Kind kind = call != nullptr ? kind_of(fd) : Kind::Regular;
    php_stream* stream = kind == Kind::Stream ? stream_behind(file) : nullptr;
    if (kind == Kind::Regular || (kind == Kind::Stream && stream == nullptr)) {
        return std::fwrite(data, size, count, file);
    }
    std::fflush(file);
    if (kind == Kind::Waits) {
        return write_all(fd, static_cast<const char*>(data), size * count) / size;
    }
    const ssize_t written = php_stream_write(stream, static_cast<const char*>(data), size * count);
    if (EG(exception) != nullptr) {
        if (is_multi_exec(call) && !is_exit(EG(exception))) {
            keep_exception(call);
        }
        return 0;
    }
    return written > 0 ? static_cast<std::size_t>(written) / size : 0;
}

/// `fread`, likewise: as much as was asked for, or up to the end. What the C library has in a buffer already it gives out itself.
size_t read_file(void* buffer, size_t size, size_t count, FILE* file) {
    const bool is_fresh = size != 0 && count != 0 && __fbufsize(file) <= 1;
    zend_execute_data* call = is_fresh ? running_call() : nullptr;
    const int fd = call != nullptr ? ::fileno(file) : -1;
    if (call == nullptr || kind_of(fd) != Kind::Waits) {
        return std::fread(buffer, size, count, file);
    }
    std::setvbuf(file, nullptr, _IONBF, 0);
    std::size_t got = 0;
    while (got < size * count) {
        const ssize_t result = suspending_read(fd, static_cast<char*>(buffer) + got, size * count - got);
        if (result <= 0) {
            break;
        }
        got += static_cast<std::size_t>(result);
    }
    return got / size;
}

// --- functions

ZEND_NAMED_FUNCTION(exec) {
    if (!is_watching()) {
        exec_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    const std::uint64_t switches = count_switches();
    {
        const Targets targets(object_of(execute_data));
        exec_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
    take_turn(switches);
}

ZEND_NAMED_FUNCTION(multi_exec) {
    const Targets targets(is_watching() ? object_of(execute_data) : nullptr);
    multi_exec_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    throw_kept(execute_data);  // of callbacks also when one of them has begun with coroutines
}

/// Waits with others, but not while one of them is in the middle of a callback.
ZEND_NAMED_FUNCTION(multi_select) {
    if (!is_watching()) {
        multi_select_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    const std::uint64_t switches = count_switches();
    if (object_of(execute_data) != nullptr && !await_others(execute_data)) {
        return;
    }
    multi_select_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (Z_TYPE_P(return_value) == IS_LONG && Z_LVAL_P(return_value) <= 0) {
        take_turn(switches);
    }
}

}  // namespace

PhpCoroutine* user_of_target(const zend_resource* resource) noexcept {
    const PhpCoroutine* running = &PhpCoroutine::running();
    const auto found = std::ranges::find_if(*curl_targets, [&](const CurlTarget& one) {
        return one.resource == resource && one.who != running;
    });
    return found != curl_targets->end() ? found->who : nullptr;
}

void curl_startup() noexcept {
    ce_handle = static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("curlhandle")));
    ce_multi = static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("curlmultihandle")));
    if (ce_handle == nullptr || ce_multi == nullptr) {
        return;
    }
    exec_before = replace_handler(CG(function_table), "curl_exec", exec);
    multi_exec_before = replace_handler(CG(function_table), "curl_multi_exec", multi_exec);
    multi_select_before = replace_handler(CG(function_table), "curl_multi_select", multi_select);
}

void hook_curl() noexcept {
    const auto* module =
        static_cast<const zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, ZEND_STRL("curl")));
    if (module == nullptr || exec_before == nullptr) {
        return;
    }
    const void* code = reinterpret_cast<const void*>(module->module_startup_func);
    Dl_info engine{};
    Dl_info extension{};
    const bool is_apart = ::dladdr(reinterpret_cast<const void*>(&zend_call_function), &engine) != 0 &&
                          ::dladdr(code, &extension) != 0 && engine.dli_fbase != extension.dli_fbase;
    if (is_apart && replace_call(code, "zend_call_function", reinterpret_cast<void*>(&call_back))) {
        static_cast<void>(replace_call(code, "fwrite", reinterpret_cast<void*>(&write_file)));
        static_cast<void>(replace_call(code, "fread", reinterpret_cast<void*>(&read_file)));
    }
}

void curl_request_end() noexcept {
    curl_targets->clear();  // left behind by a fatal error, as what they point to
    kept->clear();
}

}  // namespace trueasync::php
