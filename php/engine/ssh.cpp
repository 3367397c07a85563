#include "ssh.hpp"

#include "../classes/coroutine.hpp"
#include "../per_thread.hpp"
#include "request.hpp"
#include "uses.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace trueasync::php {

namespace {

using Handle = decltype(zend_resource::handle);

/// Of what was opened, by the numbers of the resources, which are not given twice. Noted when it is opened: nothing is read of what ext/ssh2 keeps for
/// itself.
TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<Handle, const zend_resource*>> sessions;

const zend_resource* known_session(const zend_resource* resource) noexcept {
    const auto found = resource != nullptr ? sessions->find(resource->handle) : sessions->end();
    return found != sessions->end() ? found->second : nullptr;
}

/// `call` runs alone in the session, or is refused.
template <typename Result, typename Call>
Result alone(const zend_resource* session, Result refused, Call&& call) {
    zend_execute_data* caller = EG(current_execute_data);
    if (session == nullptr || caller == nullptr || !is_watching() || request.is_dying) {
        return call();
    }
    if (const PhpCoroutine* other = may_look() ? other_user(session) : nullptr) {
        refuse(caller, *other);
        return refused;
    }
    const UseAside use(session);
    return call();
}

// --- streams

/// Begins with what a stream gets, to be found again from there.
struct Operations {
    php_stream_ops ours = {};
    const php_stream_ops* before = nullptr;
};
TA_PHP_THREAD_LOCAL PerThread<std::array<Operations, 3>> operations;  // of channels, files and directories

const php_stream_ops& before(const php_stream* stream) noexcept {
    return *reinterpret_cast<const Operations*>(stream->ops)->before;
}

ssize_t read(php_stream* stream, char* to, std::size_t size) {
    return alone<ssize_t>(known_session(stream->res), -1, [&] { return before(stream).read(stream, to, size); });
}
ssize_t write(php_stream* stream, const char* from, std::size_t size) {
    return alone<ssize_t>(known_session(stream->res), -1, [&] { return before(stream).write(stream, from, size); });
}
int seek(php_stream* stream, zend_off_t offset, int whence, zend_off_t* result) {
    return alone(known_session(stream->res), -1, [&] { return before(stream).seek(stream, offset, whence, result); });
}
int stat(php_stream* stream, php_stream_statbuf* result) {
    return alone(known_session(stream->res), -1, [&] { return before(stream).stat(stream, result); });
}

/// Nobody can refuse a close: it waits.
template <typename Call>
int when_unused(const zend_resource* session, Call&& call) {
    if (session == nullptr || !is_watching() || request.is_dying) {
        return call();
    }
    await_unused(session);
    const UseAside use(session);
    return call();
}
int flush(php_stream* stream) {
    return when_unused(known_session(stream->res), [&] { return before(stream).flush(stream); });
}
int close(php_stream* stream, int close_handle) {
    const zend_resource* session = known_session(stream->res);
    if (session != nullptr) {
        sessions->erase(stream->res->handle);
    }
    return when_unused(session, [&] { return before(stream).close(stream, close_handle); });
}

bool is_ours(const php_stream* stream) noexcept {
    return std::ranges::any_of(*operations, [&](const Operations& each) { return stream->ops == &each.ours; });
}

void guard_stream(php_stream* stream) noexcept {
    if (is_ours(stream)) {
        return;
    }
    const auto place = std::ranges::find_if(*operations, [&](const Operations& each) {
        return each.before == stream->ops || each.before == nullptr;
    });
    if (place == operations->end()) {
        return;
    }
    if (place->before == nullptr) {
        place->before = stream->ops;
        place->ours = *stream->ops;
        const auto replace = [](auto& operation, auto ours) { operation = operation != nullptr ? ours : nullptr; };
        replace(place->ours.read, read);
        replace(place->ours.write, write);
        replace(place->ours.seek, seek);
        replace(place->ours.stat, stat);
        replace(place->ours.flush, flush);
        replace(place->ours.close, close);
    }
    stream->ops = &place->ours;
}

// --- what it is opened by

void note_opened(zend_resource* opened, const zend_resource* session) {
    (*sessions)[opened->handle] = session;
    if (php_stream* stream = stream_of(opened)) {
        guard_stream(stream);
    }
}

const zend_resource* session_among(const zend_resource* resource) noexcept {
    const char* type =
        resource->type >= 0 ? zend_rsrc_list_get_rsrc_type(const_cast<zend_resource*>(resource)) : nullptr;
    return type != nullptr && std::strcmp(type, "SSH2 Session") == 0 ? resource : known_session(resource);
}

/// The URL names a resource by its number; if it has no host the context does.
const zend_resource* session_of_path(const char* path, php_stream_context* context) noexcept {
    constexpr std::string_view kBegin = "://";
    constexpr std::string_view kWords = "Resource id #";
    std::string_view host = path;
    const std::size_t begin = host.find(kBegin);
    if (begin == std::string_view::npos) {
        return nullptr;
    }
    host.remove_prefix(begin + kBegin.size());
    if (host.starts_with(kWords)) {
        host.remove_prefix(kWords.size());
    }
    zend_ulong number = 0;
    const zval* named = nullptr;
    if (std::from_chars(host.data(), host.data() + host.size(), number).ec == std::errc()) {
        named = zend_hash_index_find(&EG(regular_list), number);
    } else if (context != nullptr && (host.empty() || host.front() == '/')) {
        named = php_stream_context_get_option(context, "ssh2", "sftp");
        named = named != nullptr ? named : php_stream_context_get_option(context, "ssh2", "session");
    }
    return named != nullptr && Z_TYPE_P(named) == IS_RESOURCE ? session_among(Z_RES_P(named)) : nullptr;
}

// --- URLs

/// Begins with what PHP finds.
struct Wrapper {
    php_stream_wrapper ours = {};
    php_stream_wrapper_ops operations = {};
    php_stream_wrapper* before = nullptr;
};
constexpr std::array<std::string_view, 5> kUrls = {"ssh2.sftp", "ssh2.exec", "ssh2.shell", "ssh2.tunnel", "ssh2.scp"};
std::array<Wrapper, kUrls.size()> wrappers;

php_stream_wrapper* before(php_stream_wrapper* wrapper) noexcept { return reinterpret_cast<Wrapper*>(wrapper)->before; }

template <auto operation>
php_stream* open(
    php_stream_wrapper* wrapper,
    const char* path,
    const char* mode,
    int options,
    zend_string** opened_path,
    php_stream_context* context STREAMS_DC
) {
    const zend_resource* session = session_of_path(path, context);
    php_stream* stream = alone<php_stream*>(session, nullptr, [&] {
        return (before(wrapper)->wops->*operation)(
            before(wrapper), path, mode, options, opened_path, context STREAMS_REL_CC
        );
    });
    if (stream != nullptr && session != nullptr && stream->res != nullptr) {
        note_opened(stream->res, session);
    }
    return stream;
}

/// The others. Their first argument behind the wrapper is the URL, their last one the context.
template <auto operation, int refused, typename... Arguments>
int ask(php_stream_wrapper* wrapper, const char* path, Arguments... arguments) {
    auto* context = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    return alone(session_of_path(path, context), refused, [&] {
        return (before(wrapper)->wops->*operation)(before(wrapper), path, arguments...);
    });
}

void guard_url(std::string_view name, Wrapper& place) noexcept {
    using Ops = php_stream_wrapper_ops;
    HashTable* table = php_stream_get_url_stream_wrappers_hash_global();
    place.before = static_cast<php_stream_wrapper*>(zend_hash_str_find_ptr(table, name.data(), name.size()));
    if (place.before == nullptr) {
        return;
    }
    place.operations = *place.before->wops;
    place.ours = *place.before;
    place.ours.wops = &place.operations;
    const auto replace = [](auto& operation, auto ours) { operation = operation != nullptr ? ours : nullptr; };
    using Context = php_stream_context*;
    replace(place.operations.stream_opener, open<&Ops::stream_opener>);
    replace(place.operations.dir_opener, open<&Ops::dir_opener>);
    replace(place.operations.url_stat, ask<&Ops::url_stat, -1, int, php_stream_statbuf*, Context>);
    replace(place.operations.unlink, ask<&Ops::unlink, 0, int, Context>);
    replace(place.operations.rename, ask<&Ops::rename, 0, const char*, int, Context>);
    replace(place.operations.stream_mkdir, ask<&Ops::stream_mkdir, 0, int, int, Context>);
    replace(place.operations.stream_rmdir, ask<&Ops::stream_rmdir, 0, int, Context>);
    zend_hash_str_update_ptr(table, name.data(), name.size(), &place.ours);
}

// --- functions

/// ext/ssh2 knows its streams by their operations.
void show_own(zval* argument, bool is_own) noexcept {
    ZVAL_DEREF(argument);
    if (Z_TYPE_P(argument) == IS_ARRAY) {  // of ssh2_poll()
        zval* each = nullptr;
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(argument), each) { show_own(each, is_own); }
        ZEND_HASH_FOREACH_END();
        return;
    }
    php_stream* stream = Z_TYPE_P(argument) == IS_RESOURCE ? stream_of(Z_RES_P(argument)) : nullptr;
    if (stream == nullptr || known_session(stream->res) == nullptr) {
        return;
    }
    if (!is_own) {
        guard_stream(stream);
    } else if (is_ours(stream)) {
        stream->ops = &before(stream);
    }
}

}  // namespace

const void* session_of(const zend_resource* resource) noexcept {
    const zend_resource* session = known_session(resource);
    return session != nullptr ? session : resource;
}

void call_ssh(zif_handler function, INTERNAL_FUNCTION_PARAMETERS) noexcept {
    zval* first = ZEND_CALL_NUM_ARGS(execute_data) != 0 ? ZEND_CALL_ARG(execute_data, 1) : nullptr;
    const zend_resource* given = resource_of(execute_data);
    const zend_resource* session = given != nullptr ? session_among(given) : nullptr;
    if (first != nullptr) {
        show_own(first, true);
    }
    function(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (first != nullptr) {
        show_own(first, false);
    }
    if (session != nullptr && Z_TYPE_P(return_value) == IS_RESOURCE) {
        note_opened(Z_RES_P(return_value), session);
    }
}

void guard_ssh(const zend_module_entry* module) noexcept {
    ssh2 = module;
    for (std::size_t i = 0; i < kUrls.size(); ++i) {
        guard_url(kUrls[i], wrappers[i]);
    }
}

void ssh_request_end() noexcept { sessions->clear(); }

}  // namespace trueasync::php
