#include "in_use.hpp"

#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "archive.hpp"
#include "connection.hpp"
#include "curl.hpp"
#include "references.hpp"
#include "request.hpp"
#include "ssh.hpp"
#include "tls.hpp"
#include "transparent.hpp"
#include "uses.hpp"
#include "uses_aside.hpp"

#include <main/php_network.h>
#include <ext/spl/spl_directory.h>
#include <ext/standard/streamsfuncs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <trueasync/transparent/transparent.hpp>
#include <vector>

namespace trueasync::php {

namespace {

int slot = -1;  // of functions whose handler we have replaced, for the one before

zif_handler handler_before(const zend_function* function) noexcept {
    return reinterpret_cast<zif_handler>(function->internal_function.reserved[slot]);
}

/// Of large objects of PDO, once one was seen.
const php_stream_ops* large_object_ops = nullptr;

TA_COLD void look_for_large_object(const php_stream* stream) noexcept {
    if (stream != nullptr && std::string_view(stream->ops->label) == "pdo_pgsql lob stream") {
        large_object_ops = stream->ops;
    }
}

/// What a function does with a stream among its arguments.
enum class How : std::uint8_t { None, Read, Write, Other };

// --- connections

/// It may be about to be closed.
void leave_default_link(zend_execute_data* call) noexcept {
    if (zend_string_equals_literal(call->func->common.function_name, "pg_close")) {
        const zval* link = ZEND_CALL_NUM_ARGS(call) != 0 ? ZEND_CALL_ARG(call, 1) : nullptr;
        if (link == nullptr || Z_TYPE_P(link) != IS_OBJECT || Z_OBJ_P(link) == default_link) {
            default_link = nullptr;
        }
    }
}

}  // namespace

namespace {

/// After a call of pgsql.
void end_with_link(zend_execute_data* call, zval* result) noexcept {
    if (is_pgsql_link(result)) {
        default_link = Z_OBJ_P(result);
    }
    if (PhpCoroutine* self = cut_off_coroutine(); UNEXPECTED(self != nullptr)) {
        zend_object* cut_off = std::exchange(self->libraries->cut_off, nullptr);  // it may read again
        notice_shut_link(call);
        self->libraries->cut_off = cut_off;
    }
}

}  // namespace

ZEND_NAMED_FUNCTION(refuse_others) {
    if (UNEXPECTED(may_look())) {
        if (const PhpCoroutine* other = other_user(subject_of(execute_data))) {
            refuse(execute_data, *other);
            return;
        }
    }
    if (is_watching()) {
        PhpCoroutine::running().may_be_nested = true;
    }
    const bool is_pgsql = execute_data->func->internal_function.module == pgsql && pgsql != nullptr;
    if (UNEXPECTED(is_pgsql)) {
        leave_default_link(execute_data);
    }
    if (const zif_handler before = handler_before(execute_data->func);
        UNEXPECTED(ssh2 != nullptr) && execute_data->func->internal_function.module == ssh2) {
        call_ssh(before, INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else {
        before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
    if (UNEXPECTED(is_pgsql)) {
        end_with_link(execute_data, return_value);
    }
    if (UNEXPECTED(!turns.empty())) {
        wake_next(subject_of(execute_data));
    }
    if (UNEXPECTED(Z_TYPE_P(return_value) == IS_RESOURCE)) {
        look_for_large_object(stream_of(Z_RES_P(return_value)));
    }
}

namespace {

// --- streams

bool is_notifying(const php_stream* stream) noexcept {
    const php_stream_context* context = PHP_STREAM_CONTEXT(stream);
    return context != nullptr && context->notifier != nullptr;
}

/// Code of PHP runs inside its calls, which may wait for anything.
bool runs_code(const php_stream* stream) noexcept {
    return stream->ops == &php_stream_userspace_ops || stream->readfilters.head != nullptr ||
           stream->writefilters.head != nullptr || is_notifying(stream);
}
bool is_large_object(const php_stream* stream) noexcept { return stream->ops == large_object_ops; }

php_stream* stream_used_by(zend_execute_data* call) noexcept {
    if (Z_TYPE(call->This) != IS_OBJECT) {
        return stream_of(call);
    }
    auto* object = reinterpret_cast<std::byte*>(Z_OBJ(call->This)) - offsetof(spl_filesystem_object, std);
    return reinterpret_cast<spl_filesystem_object*>(object)->u.file.stream;
}

/// To PHP a read that fails is the end of its stream. One that was cancelled is not.
class EndOfStream {
public:
    explicit EndOfStream(const php_stream* stream) noexcept : was_there_(stream == nullptr || stream->eof) {}
    template <typename Find>
    TA_INLINE void forget_if_cancelled(Find&& find) const noexcept {
        if (UNEXPECTED(EG(exception) != nullptr) && !was_there_ && is_watching() &&
            PhpCoroutine::running().cut_off() != nullptr) {
            if (php_stream* stream = find()) {
                stream->eof = 0;
            }
        }
    }

private:
    bool was_there_;
};

/// A stream that talks through a connection which others use too.
TA_COLD void use_large_object(INTERNAL_FUNCTION_PARAMETERS) noexcept {
    const void* connection = connection_of(stream_of(execute_data));
    if (const PhpCoroutine* other = other_user(connection)) {
        refuse(execute_data, *other);
        return;
    }
    const UseAside use(connection);
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

}  // namespace

ZEND_NAMED_FUNCTION(take_turn) {
    if ((may_look() || !turns.empty()) && !begin_turn(subject_of(execute_data))) {
        return;
    }
    const php_stream* stream = stream_of(execute_data);
    if (UNEXPECTED(stream == nullptr ? is_watching() : is_large_object(stream) && is_watching())) {
        if (stream != nullptr) {
            use_large_object(INTERNAL_FUNCTION_PARAM_PASSTHRU);
            return;
        }
        PhpCoroutine::running().may_be_nested = true;
    }
    const bool is_file = Z_TYPE(execute_data->This) == IS_OBJECT;  // whatever its stream is
    const EndOfStream end(is_file ? stream_used_by(execute_data) : stream);
    // Who is inside such a call is noted before it begins to wait.
    const void* noted = (is_file || (stream != nullptr && UNEXPECTED(runs_code(stream)))) && is_watching()
                            ? subject_of(execute_data)
                            : nullptr;
    if (UNEXPECTED(noted != nullptr)) {
        note_inside(noted);
    }
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (UNEXPECTED(noted != nullptr)) {
        forget_inside(noted);
    }
    end.forget_if_cancelled([&] { return stream_used_by(execute_data); });
    if (UNEXPECTED(!turns.empty())) {
        wake_next(subject_of(execute_data));
    }
}

namespace {

bool is_compressing(const php_stream* stream) noexcept {
    const char* kind = stream->ops->label;
    return UNEXPECTED(*kind == 'Z' || *kind == 'B') &&
           (std::strcmp(kind, "ZLIB") == 0 || std::strcmp(kind, "BZip2") == 0);
}

/// Writes take turns further below, but those through OpenSSL, a library that compresses or code of PHP.
bool takes_write_turns(const php_stream* stream) noexcept {
    return runs_code(stream) || tls_of(stream) != nullptr || is_large_object(stream) || is_compressing(stream);
}

}  // namespace

ZEND_NAMED_FUNCTION(take_write_turn) {
    const php_stream* stream = stream_of(execute_data);
    if (UNEXPECTED(stream != nullptr && takes_write_turns(stream))) {
        take_turn(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
}

ZEND_NAMED_FUNCTION(lock_noted) { handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU); }

namespace {

/// What a call does with its argument of that number; null if that is no stream.
const void* argument_used_by(zend_execute_data* call, std::uint32_t number, How how) noexcept {
    const zend_resource* resource = how != How::None ? resource_of(call, number) : nullptr;
    const php_stream* stream = stream_of(resource);
    if (stream == nullptr) {
        return nullptr;
    }
    const std::ptrdiff_t use = how == How::Read ? 0 : how == How::Write && takes_write_turns(stream) ? 1 : kOtherUse;
    return reinterpret_cast<const std::byte*>(resource) + use;
}

/// Functions that have a stream elsewhere than in the first place, have two, or only must not lose theirs.
template <How first, How second = How::None>
ZEND_NAMED_FUNCTION(use_streams) {
    if (!is_watching() || request.is_dying) {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    if (const php_stream* stream = stream_of(execute_data); stream != nullptr && is_large_object(stream)) {
        use_large_object(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    const std::array subjects = {argument_used_by(execute_data, 1, first), argument_used_by(execute_data, 2, second)};
    std::size_t begun = 0;
    for (; begun < subjects.size(); ++begun) {
        const void* subject = subjects[begun];
        if (subject == nullptr) {
            continue;
        }
        const bool is_shared = (reinterpret_cast<std::uintptr_t>(subject) & 3) == kOtherUse;
        if (!is_shared && !begin_turn(subject)) {
            break;
        }
        note_inside(subject);
    }
    if (begun == subjects.size()) {
        const EndOfStream one(stream_of(resource_of(execute_data, 1)));
        const EndOfStream other(stream_of(resource_of(execute_data, 2)));
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        one.forget_if_cancelled([&] { return stream_of(resource_of(execute_data, 1)); });
        other.forget_if_cancelled([&] { return stream_of(resource_of(execute_data, 2)); });
    }
    for (std::size_t i = 0; i < begun; ++i) {
        if (subjects[i] != nullptr) {
            forget_inside(subjects[i]);
            end_turn(subjects[i]);
        }
    }
}

/// A filter is taken out when nobody is inside it.
ZEND_NAMED_FUNCTION(remove_filter) {
    const zend_resource* resource = is_watching() && !request.is_dying ? resource_of(execute_data) : nullptr;
    if (resource != nullptr && resource->ptr != nullptr && resource->type == php_file_le_stream_filter()) {
        const php_stream* stream = static_cast<php_stream_filter*>(resource->ptr)->chain->stream;
        for (const std::ptrdiff_t use : {0, 1}) {
            if (!begin_turn(reinterpret_cast<const std::byte*>(stream->res) + use)) {
                return;
            }
        }
    }
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/// A persistent stream can be found by others before it is connected, who would take it for a dead one and free it: one at a time.
ZEND_NAMED_FUNCTION(open_persistent) {
    static const char subject = 0;
    constexpr std::uint32_t kFlags = 5;  // of stream_socket_client
    const zval* flags = ZEND_CALL_NUM_ARGS(execute_data) >= kFlags ? ZEND_CALL_ARG(execute_data, kFlags) : nullptr;
    const bool is_client = zend_string_equals_literal(execute_data->func->common.function_name, "stream_socket_client");
    const bool is_persistent = !is_client || (flags != nullptr && Z_TYPE_P(flags) == IS_LONG &&
                                              (Z_LVAL_P(flags) & PHP_STREAM_CLIENT_PERSISTENT) != 0);
    if (!is_persistent || !is_watching() || request.is_dying) {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else if (begin_turn(&subject)) {
        note_inside(&subject);
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        forget_inside(&subject);
        end_turn(&subject);
    }
}

}  // namespace

/// The same for connections that outlive the request. Who finds one asks it whether it is alive, and must not while another talks through it.
ZEND_NAMED_FUNCTION(open_kept) {
    static const char subject = 0;
    if (!is_watching() || request.is_dying || !opens_kept(execute_data)) {
        refuse_others(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    if (!begin_turn(&subject)) {
        return;
    }
    const std::vector<const void*> kept = kept_for(execute_data);
    const auto used = std::ranges::find_if(kept, [](const void* each) { return other_user(each) != nullptr; });
    if (used != kept.end()) {
        refuse(execute_data, *other_user(*used));
    } else {
        note_inside(&subject);
        for (const void* each : kept) {
            note_inside(each, true);
        }
        refuse_others(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        for (const void* each : kept) {
            forget_inside(each);
        }
        forget_inside(&subject);
    }
    end_turn(&subject);
}

namespace {

/// Nobody can catch what a destructor throws: it waits.
ZEND_NAMED_FUNCTION(destroy_alone) {
    if (!is_watching() || request.is_dying) {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    const void* subject = subject_of(execute_data);
    await_unused(subject);
    const UseAside use(subject);
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

// --- closing

/// Somebody else who is inside a call on the stream, whatever he does there.
PhpCoroutine* user_of_stream(const zend_resource* resource) noexcept {
    for (std::ptrdiff_t use = 0; use < kUses; ++use) {
        if (PhpCoroutine* user = find_user(reinterpret_cast<const std::byte*>(resource) + use)) {
            return user;
        }
    }
    return user_of_target(resource);
}

int descriptor_of(php_stream* stream) noexcept {
    int fd = -1;
    constexpr int kHow = PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL;
    const bool is_ours = stream->ops != &php_stream_userspace_ops;  // that would call code of PHP
    return is_ours && php_stream_cast(stream, kHow, reinterpret_cast<void**>(&fd), 0) == SUCCESS ? fd : -1;
}

/// Lets the others leave. Their calls fail, but they may wait on the way out: for a thread, in an error handler. False: it threw.
TA_COLD bool await_leaving(php_stream* stream, const zend_execute_data* call) noexcept {
    constexpr Duration kLongest = std::chrono::seconds(10);
    const int fd = descriptor_of(stream);
    const zend_resource* resource = stream->res;
    Reactor& reactor = request.runtime->scheduler().reactor();
    const Instant end = reactor.now() + kLongest;
    begin_closing(fd);
    Duration pause{};
    PhpCoroutine* other = user_of_stream(resource);
    {
        const ProtectGuard protect;  // whoever is cancelled here has still to close it
        for (; other != nullptr && reactor.now() < end; other = user_of_stream(resource)) {
            sleep_until(Deadline::after(pause));
            pause = std::min<Duration>(pause * 2 + std::chrono::microseconds(10), std::chrono::milliseconds(10));
        }
    }
    end_closing(fd);
    if (other != nullptr) {
        refuse(call, *other);
    }
    return other == nullptr;
}

ZEND_NAMED_FUNCTION(close_alone) {
    if (!let_others_leave(resource_of(execute_data), execute_data)) {
        return;
    }
    const php_stream* stream = stream_of(execute_data);
    const bool is_large = stream != nullptr && is_large_object(stream) && is_watching() && !request.is_dying;
    const void* connection = is_large ? connection_of(stream) : nullptr;
    if (connection != nullptr) {
        await_unused(connection);
    }
    const UseAside use(connection);
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

// --- whose functions

/// Their functions may be called by several at once: nothing is kept between two calls, or the descriptor keeps it. For imap see engine/imap.hpp.
constexpr std::string_view kPlain[] = {"standard",   "sockets", "FFI", "SPL",        "Core", "pcntl",
                                       "Reflection", "zlib",    "bz2", "true_async", "imap"};

/// Null: it only looks or waits, which others need not mind. A multi handle is there for several, who must only not be inside it together.
zif_handler guard_for(std::string_view module, std::string_view name) noexcept {
    constexpr std::string_view kMulti = "curl_multi_";
    constexpr std::string_view kFree[] = {
        "curl_getinfo", "curl_errno", "curl_error", "curl_multi_select", "curl_multi_getcontent"};
    if (std::ranges::find(kFree, name) != std::end(kFree)) {
        return nullptr;
    }
    const bool looks = name.starts_with("is") || (name.starts_with("get") && name != "get");
    if (module == "amqp" && looks) {
        return nullptr;
    }
    const bool opens = (module == "PDO" && name == "__construct") || name == "pg_pconnect" ||
                       (module == "redis" && (name == "pconnect" || name == "popen"));
    if (name == "__destruct") {
        return destroy_alone;
    }
    return name.starts_with(kMulti) ? take_turn : opens ? open_kept : refuse_others;
}

constexpr std::string_view kReads[] = {
    "fread",           "fgets",  "fgetc",  "fgetcsv", "fscanf",     "fpassthru", "stream_get_contents",
    "stream_get_line", "gzread", "gzgets", "gzgetc",  "gzpassthru", "bzread",    "stream_socket_recvfrom"};

constexpr std::string_view kFileReads[] = {"fread",          "fgets", "fgetc",   "fgetcsv", "fscanf", "fpassthru",
                                           "getcurrentline", "seek",  "current", "next",    "valid",  "rewind"};
constexpr std::string_view kWrites[] = {"fwrite", "fputs", "fputcsv", "gzwrite", "gzputs", "bzwrite"};
constexpr std::string_view kLocks[] = {"flock"};
constexpr std::string_view kCloses[] = {"fclose", "gzclose", "bzclose", "pclose", "closedir"};
constexpr std::string_view kFormattedWrites[] = {"fprintf", "vfprintf"};
constexpr std::string_view kCopies[] = {"stream_copy_to_stream"};
constexpr std::string_view kReadsOfSecond[] = {"file_put_contents"};
constexpr std::string_view kFilterRemovals[] = {"stream_filter_remove"};
constexpr std::string_view kPersistent[] = {"pfsockopen", "stream_socket_client"};
/// Not those that wait long and are woken by the close itself (`stream_socket_accept`): while somebody is noted each read looks for him.
constexpr std::string_view kOthers[] = {
    "feof",
    "fseek",
    "rewind",
    "fflush",
    "ftruncate",
    "fstat",
    "fsync",
    "fdatasync",
    "readdir",
    "rewinddir",
    "stream_set_blocking",
    "stream_set_timeout",
    "stream_set_write_buffer",
    "stream_set_read_buffer",
    "stream_socket_enable_crypto",
    "stream_socket_shutdown",
    "stream_filter_append",
    "stream_filter_prepend",
    "stream_get_meta_data",
    "gzeof",
    "gzseek",
    "gzrewind",
    "bzflush"};

void guard(zend_function* function, zif_handler handler) noexcept {
    zif_handler& current = function->internal_function.handler;
    if (slot >= 0 && current != handler) {
        function->internal_function.reserved[slot] = reinterpret_cast<void*>(current);
        current = handler;
    }
}

void guard_named(HashTable* table, std::span<const std::string_view> names, zif_handler handler) noexcept {
    for (const std::string_view name : names) {
        if (auto* function = static_cast<zend_function*>(zend_hash_str_find_ptr(table, name.data(), name.size()))) {
            guard(function, handler);
        }
    }
}

void guard_all(HashTable* table, const zend_module_entry* module) noexcept {
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(table, each) {
        auto* function = static_cast<zend_function*>(Z_PTR_P(each));
        if (function->type == ZEND_INTERNAL_FUNCTION && function->internal_function.module == module) {
            const zend_string* name = function->common.function_name;
            if (const zif_handler handler = guard_for(module->name, {ZSTR_VAL(name), ZSTR_LEN(name)})) {
                guard(function, handler);
            }
        }
    }
    ZEND_HASH_FOREACH_END();
}

/// Those whose libraries drop a connection, or mark it as broken, when a call on it fails with ECANCELED.
constexpr std::string_view kDropping[] = {"curl", "mysqli", "redis", "memcached", "soap"};

}  // namespace

void guard_module(const zend_module_entry* module) noexcept {
    static std::vector<const zend_module_entry*> known;
    if (module == nullptr || std::ranges::find(known, module) != known.end()) {
        return;
    }
    known.push_back(module);
    if (std::ranges::find(kPlain, std::string_view(module->name)) != std::end(kPlain)) {
        return;
    }
    if (std::string_view(module->name) == "pgsql") {
        pgsql = module;
    } else if (std::string_view(module->name) == "ssh2") {
        guard_ssh(module);
    }
    guard_all(CG(function_table), module);
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(class_table), each) {
        guard_all(&static_cast<zend_class_entry*>(Z_PTR_P(each))->function_table, module);
    }
    ZEND_HASH_FOREACH_END();
}

namespace {

/// Those that are known to have connections, when all modules are there: before anything is compiled, since the JIT compiler takes the address
/// of a handler for good.
constexpr std::string_view kKnown[] = {"curl",   "pdo",   "pdo_pgsql", "pdo_mysql", "pdo_sqlite", "sqlite3",
                                       "mysqli", "pgsql", "redis",     "memcached", "soap",       "ftp",
                                       "ssh2",   "amqp",  "ldap",      "mongodb",   "oci8"};

zend_result (*post_startup_before)() = nullptr;

/// A handler written in PHP is about to be called, inside a call that has complained.
void on_error(int /*type*/, zend_string* /*file*/, std::uint32_t /*line*/, zend_string* /*message*/) {
    if (is_watching() && Z_TYPE(EG(user_error_handler)) != IS_UNDEF && is_guarded(EG(current_execute_data))) {
        PhpCoroutine::running().may_be_nested = true;
    }
}

void guard_streams() noexcept {
    guard_named(CG(function_table), kReads, take_turn);
    guard_named(CG(function_table), kWrites, take_write_turn);
    guard_named(CG(function_table), kLocks, lock_noted);
    guard_named(CG(function_table), kCloses, close_alone);
    guard_named(CG(function_table), kFormattedWrites, use_streams<How::Write>);
    guard_named(CG(function_table), kCopies, use_streams<How::Read, How::Write>);
    guard_named(CG(function_table), kReadsOfSecond, use_streams<How::None, How::Read>);
    guard_named(CG(function_table), kOthers, use_streams<How::Other>);
    guard_named(CG(function_table), kFilterRemovals, remove_filter);
    guard_named(CG(function_table), kPersistent, open_persistent);
    guard_named(&spl_ce_SplFileObject->function_table, kFileReads, take_turn);
}

zend_result guard_known() {
    guard_streams();
    curl_startup();  // its handlers come below the guards, and those of the references do
    guard_references();
    for (const std::string_view name : kKnown) {
        guard_module(static_cast<zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, name.data(), name.size()))
        );
    }
    guard_uses_aside();
    archive_startup();
    zend_observer_error_register(on_error);
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

bool keeps_connection(zend_execute_data* call) noexcept {
    if (!is_guarded(call)) {
        return has_use_aside();
    }
    const zend_internal_function& function = call->func->internal_function;
    if (function.handler != refuse_others && function.handler != open_kept) {
        const php_stream* stream = stream_of(call);
        return stream != nullptr && is_large_object(stream);
    }
    return std::ranges::find(kDropping, std::string_view(function.module->name)) == std::end(kDropping);
}

bool let_others_leave(const zend_resource* resource, const zend_execute_data* call) noexcept {
    if (EXPECTED(!may_look() && !has_targets()) || request.is_dying) {
        return true;
    }
    php_stream* stream = stream_of(resource);
    return stream == nullptr || user_of_stream(resource) == nullptr || await_leaving(stream, call);
}

InsideCall::InsideCall(zend_execute_data* call) noexcept
    : subject_(is_watching() && is_guarded(call) ? subject_of(call) : nullptr) {
    if (subject_ != nullptr) {
        note_inside(subject_);
    }
}

InsideCall::~InsideCall() {
    if (subject_ != nullptr) {
        forget_inside(subject_);
    }
}

bool await_others(zend_execute_data* call) noexcept {
    if (EXPECTED(!may_look() && turns.empty())) {
        return true;
    }
    const void* subject = subject_of(call);
    if (!begin_turn(subject)) {
        return false;
    }
    end_turn(subject);
    return true;
}

void guard_method(zend_function* function, zend_module_entry* module) noexcept {
    if (function->internal_function.handler != refuse_others) {
        function->internal_function.module = module;
        guard(function, refuse_others);
    }
}

void in_use_request_end() {
    default_link = nullptr;
    ssh_request_end();
}

void in_use_minit() {
    stream_types[0] = php_file_le_stream();
    stream_types[1] = php_file_le_pstream();
    post_startup_before = std::exchange(zend_post_startup_cb, guard_known);
    slot = zend_get_resource_handle("true_async");
}

}  // namespace trueasync::php
