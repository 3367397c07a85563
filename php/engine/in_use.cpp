#include "in_use.hpp"

#include "../classes/coroutine.hpp"
#include "../classes/exceptions.hpp"
#include "../error.hpp"
#include "connection.hpp"
#include "request.hpp"
#include "tls.hpp"

#include <main/php_network.h>
#include <ext/spl/spl_directory.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <trueasync/runtime/wait.hpp>
#include <trueasync/transparent/transparent.hpp>
#include <unordered_map>
#include <vector>

namespace trueasync::php {

namespace {

/// Who was last inside a function of each. Whether he still is his frame says.
TA_PHP_THREAD_LOCAL std::unordered_map<const void*, PhpCoroutine*> users;

int slot = -1;  // of functions whose handler we have replaced, for the one before

zif_handler handler_before(const zend_function* function) noexcept {
    return reinterpret_cast<zif_handler>(function->internal_function.reserved[slot]);
}

ZEND_NAMED_FUNCTION(refuse_others);
ZEND_NAMED_FUNCTION(take_turn);
ZEND_NAMED_FUNCTION(take_write_turn);
ZEND_NAMED_FUNCTION(lock_noted);

/// Reading, writing and locking a stream do not mind each other: to us they are three things, told apart by addresses that lie in one resource.
constexpr std::ptrdiff_t kUses = 3;

std::ptrdiff_t use_of(const zend_execute_data* call) noexcept {
    const zif_handler handler = call->func->internal_function.handler;
    return handler == take_write_turn ? 1 : handler == lock_noted ? 2 : 0;
}

/// What a call works on: its object, or its first argument if that is an object or a resource. Null: nothing.
const void* subject_of(zend_execute_data* call) noexcept {
    const zval* subject = &call->This;
    if (Z_TYPE_P(subject) != IS_OBJECT) {
        if (ZEND_CALL_NUM_ARGS(call) == 0) {
            return nullptr;
        }
        subject = ZEND_CALL_ARG(call, 1);
        ZVAL_DEREF(subject);
    }
    switch (Z_TYPE_P(subject)) {
        case IS_OBJECT:
            return connection_of(Z_OBJ_P(subject));
        case IS_RESOURCE:
            return reinterpret_cast<const std::byte*>(Z_RES_P(subject)) + use_of(call);
        default:
            return nullptr;
    }
}

bool is_guarded(const zend_execute_data* call) noexcept {
    if (call == nullptr || call->func == nullptr || call->func->type != ZEND_INTERNAL_FUNCTION) {
        return false;
    }
    const zif_handler handler = call->func->internal_function.handler;
    return handler == refuse_others || handler == take_turn || handler == take_write_turn || handler == lock_noted;
}

/// Those inside functions on streams that are written in PHP: they wait in code of their own, for something else.
struct Inside {
    const void* subject;
    PhpCoroutine* who;
};
TA_PHP_THREAD_LOCAL std::vector<Inside> insides;

/// `coroutine`, which does not run, has not come back from its call. Code of PHP may run inside it: an error handler.
bool is_still_inside(const PhpCoroutine& coroutine, const void* subject) noexcept {
    for (zend_execute_data* call = coroutine.vm.current_execute_data; call != nullptr; call = call->prev_execute_data) {
        if (is_guarded(call) && subject_of(call) == subject) {
            return true;
        }
    }
    return false;
}

PhpCoroutine* find_user(const void* subject) noexcept {
    const PhpCoroutine* running = &PhpCoroutine::running();
    if (const auto found = users.find(subject);
        found != users.end() && found->second != running && is_still_inside(*found->second, subject)) {
        return found->second;
    }
    const auto inside =
        std::ranges::find_if(insides, [&](const Inside& one) { return one.subject == subject && one.who != running; });
    return inside != insides.end() ? inside->who : nullptr;
}

/// The coroutine that waits inside a function that works on `subject`, if it is not the running one.
PhpCoroutine* other_user(const void* subject) noexcept {
    const bool is_alone = subject == nullptr || (PhpCoroutine::running().in_use == subject && insides.empty());
    return is_alone ? nullptr : find_user(subject);
}

bool may_look() noexcept {
    return request.runtime != nullptr && !request.is_in_scheduler && !(users.empty() && insides.empty());
}

// --- connections

TA_COLD void refuse(const zend_execute_data* call, const PhpCoroutine& other) noexcept {
    const bool is_method = Z_TYPE(call->This) == IS_OBJECT;
    const zval* subject = is_method ? &call->This : ZEND_CALL_ARG(call, 1);
    ZVAL_DEREF(subject);
    const char* kind = Z_TYPE_P(subject) == IS_OBJECT ? ZSTR_VAL(Z_OBJCE_P(subject)->name) : "resource";
    zend_string* function = get_active_function_or_method_name();
    zend_throw_exception_ex(
        ce_async_exception, 0,
        "%s(): this %s is in use. %s, has not come back from its own call. %s must not use it meanwhile: give each "
        "coroutine its "
        "own, take one from a pool, or await the other coroutine first",
        ZSTR_VAL(function), kind, other.info().c_str(), PhpCoroutine::running().info().c_str()
    );
    zend_string_release(function);
}

ZEND_NAMED_FUNCTION(refuse_others) {
    if (UNEXPECTED(may_look())) {
        if (const PhpCoroutine* other = other_user(subject_of(execute_data))) {
            refuse(execute_data, *other);
            return;
        }
    }
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

// --- streams

/// Lies on the stack of the coroutine that waits.
class Turn final : public DirectWait {
public:
    explicit Turn(const void* subject) noexcept
        : DirectWait([](const WaitGuard&) {
              return std::string("another coroutine's call on the same stream or handle");
          }),
          subject_(subject) {}
    const void* subject() const noexcept { return subject_; }

private:
    const void* subject_;
};

TA_PHP_THREAD_LOCAL IntrusiveList<DirectWait> turns;

TA_COLD void wake_next(const void* subject) noexcept {
    for (DirectWait& wait : turns) {
        if (static_cast<Turn&>(wait).subject() == subject) {
            wait.ListNode<>::unlink();
            wait.wake();
            return;
        }
    }
}

/// False: it threw.
TA_COLD bool await_turn(const void* subject) noexcept {
    while (other_user(subject) != nullptr) {
        Turn turn(subject);
        turns.push_back(turn);
        const WaitResult result = turn.park();
        if (!has_arrived(result)) {
            if (turn.is_woken()) {
                wake_next(subject);
            }
            return false;
        }
    }
    return true;
}

/// A call on a stream that may be written in PHP: who is inside is noted before it begins to wait.
TA_COLD void call_noted(INTERNAL_FUNCTION_PARAMETERS) noexcept {
    insides.push_back({subject_of(execute_data), &PhpCoroutine::running()});
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    const auto own = std::ranges::find_if(insides, [&](const Inside& one) {
        return one.who == &PhpCoroutine::running() && one.subject == subject_of(execute_data);
    });
    if (own != insides.end()) {
        insides.erase(own);
    }
}

ZEND_NAMED_FUNCTION(take_turn) {
    if (may_look()) {
        const void* subject = subject_of(execute_data);
        if (UNEXPECTED(other_user(subject) != nullptr) && !request.is_dying && !await_turn(subject)) {
            return;
        }
    }
    const php_stream* stream = stream_of(execute_data);
    const bool is_file = Z_TYPE(execute_data->This) == IS_OBJECT;  // whatever its stream is
    if (UNEXPECTED(
            (is_file || (stream != nullptr && stream->ops == &php_stream_userspace_ops)) &&
            request.runtime != nullptr && !request.is_in_scheduler
        )) {
        call_noted(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
    if (UNEXPECTED(!turns.empty())) {
        wake_next(subject_of(execute_data));
    }
}

/// Writes take turns further below, but those through OpenSSL or code of PHP.
ZEND_NAMED_FUNCTION(take_write_turn) {
    const php_stream* stream = stream_of(execute_data);
    if (UNEXPECTED(stream != nullptr && (stream->ops == &php_stream_userspace_ops || tls_of(stream) != nullptr))) {
        take_turn(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else {
        handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
}

ZEND_NAMED_FUNCTION(lock_noted) { handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU); }

// --- closing

/// Somebody else who is inside a call on the stream, whatever he does there.
PhpCoroutine* user_of_stream(const zend_resource* resource) noexcept {
    for (std::ptrdiff_t use = 0; use < kUses; ++use) {
        if (PhpCoroutine* user = find_user(reinterpret_cast<const std::byte*>(resource) + use)) {
            return user;
        }
    }
    return nullptr;
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
    if (UNEXPECTED(may_look()) && !request.is_dying) {
        php_stream* stream = stream_of(execute_data);
        if (stream != nullptr && user_of_stream(stream->res) != nullptr && !await_leaving(stream, execute_data)) {
            return;
        }
    }
    handler_before(execute_data->func)(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

// --- whose functions

/// Their functions may be called by several at once: nothing is kept between two calls, or the descriptor keeps it.
constexpr std::string_view kPlain[] = {"standard", "sockets", "FFI",        "SPL",
                                       "Core",     "pcntl",   "Reflection", "true_async"};

/// Null: it only looks or waits, which others need not mind. A multi handle is there for several, who must only not be inside it together.
zif_handler guard_for(std::string_view name) noexcept {
    constexpr std::string_view kMulti = "curl_multi_";
    constexpr std::string_view kFree[] = {
        "curl_getinfo", "curl_errno", "curl_error", "curl_multi_select", "curl_multi_getcontent"};
    if (std::ranges::find(kFree, name) != std::end(kFree)) {
        return nullptr;
    }
    return name.starts_with(kMulti) ? take_turn : refuse_others;
}

constexpr std::string_view kReads[] = {
    "fread",
    "fgets",
    "fgetc",
    "fgetcsv",
    "fscanf",
    "fpassthru",
    "stream_get_contents",
    "stream_get_line",
    "stream_copy_to_stream"};

constexpr std::string_view kFileReads[] = {"fread",          "fgets", "fgetc",   "fgetcsv", "fscanf", "fpassthru",
                                           "getcurrentline", "seek",  "current", "next",    "valid",  "rewind"};
constexpr std::string_view kWrites[] = {"fwrite", "fputs", "fputcsv"};
constexpr std::string_view kLocks[] = {"flock"};
constexpr std::string_view kCloses[] = {"fclose", "gzclose", "bzclose", "pclose"};

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
            if (const zif_handler handler = guard_for({ZSTR_VAL(name), ZSTR_LEN(name)})) {
                guard(function, handler);
            }
        }
    }
    ZEND_HASH_FOREACH_END();
}

/// At the latest when somebody waits in one of its functions for the first time. Classes of the program that extend one of the module's have copies.
TA_COLD void guard_module(const zend_module_entry* module) noexcept {
    static std::vector<const zend_module_entry*> known;
    if (module == nullptr || std::ranges::find(known, module) != known.end()) {
        return;
    }
    known.push_back(module);
    if (std::ranges::find(kPlain, std::string_view(module->name)) != std::end(kPlain)) {
        return;
    }
    guard_all(CG(function_table), module);
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(class_table), each) {
        guard_all(&static_cast<zend_class_entry*>(Z_PTR_P(each))->function_table, module);
    }
    ZEND_HASH_FOREACH_END();
}

/// Those that are known to have connections, when all modules are there: before anything is compiled, since the JIT compiler takes the address
/// of a handler for good.
constexpr std::string_view kKnown[] = {"curl",   "pdo",   "pdo_pgsql", "pdo_mysql", "pdo_sqlite", "sqlite3",
                                       "mysqli", "pgsql", "redis",     "memcached", "soap",       "ftp",
                                       "ssh2",   "amqp",  "ldap",      "imap",      "mongodb",    "oci8"};

zend_result (*post_startup_before)() = nullptr;

zend_result guard_known() {
    for (const std::string_view name : kKnown) {
        guard_module(static_cast<zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, name.data(), name.size()))
        );
    }
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

/// What it used before it uses no more.
void forget_use(PhpCoroutine& coroutine) noexcept {
    const void* subject = std::exchange(coroutine.in_use, nullptr);
    if (subject == nullptr) {
        return;
    }
    users.erase(subject);
    wake_next(subject);
}

}  // namespace

void note_use(PhpCoroutine& coroutine, zend_execute_data* call) noexcept {
    coroutine.used_by = nullptr;
    if (call == nullptr) {
        return;
    }
    if (!is_guarded(call)) {
        guard_module(call->func->internal_function.module);
        if (!is_guarded(call)) {
            return;
        }
    }
    const void* subject = subject_of(call);
    if (subject != nullptr && subject != coroutine.in_use) {
        forget_use(coroutine);
        coroutine.in_use = subject;
        if (PhpCoroutine* former = std::exchange(users[subject], &coroutine)) {
            former->in_use = nullptr;
        }
    }
    if (is_use_of(resource_of(call), subject)) {
        coroutine.used_by = call->func;
    }
}

void end_use(PhpCoroutine& coroutine) noexcept {
    forget_use(coroutine);
    if (UNEXPECTED(!insides.empty())) {  // left behind by one that did not come back from its call
        std::erase_if(insides, [&](const Inside& one) { return one.who == &coroutine; });
    }
}

void in_use_minit() {
    stream_types[0] = php_file_le_stream();
    stream_types[1] = php_file_le_pstream();
    post_startup_before = std::exchange(zend_post_startup_cb, guard_known);
    slot = zend_get_resource_handle("true_async");
    guard_named(CG(function_table), kReads, take_turn);
    guard_named(CG(function_table), kWrites, take_write_turn);
    guard_named(CG(function_table), kLocks, lock_noted);
    guard_named(CG(function_table), kCloses, close_alone);
    guard_named(&spl_ce_SplFileObject->function_table, kFileReads, take_turn);
}

}  // namespace trueasync::php
