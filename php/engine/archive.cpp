#include "archive.hpp"

#include "../per_thread.hpp"

#include <php_streams.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <vector>

namespace trueasync::php {

namespace {

const zend_module_entry* phar = nullptr;

/// The functions that are in a stream of an archive; a fatal error leaves them behind.
TA_PHP_THREAD_LOCAL PerThread<std::vector<const zend_execute_data*>> insides;

class Inside {
public:
    Inside() : call_(EG(current_execute_data)) { insides->push_back(call_); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
        if (const auto own = std::ranges::find(*insides, call_); own != insides->end()) {
            insides->erase(own);
        }
    }

private:
    const zend_execute_data* call_;
};

/// What `phar` has set up: `php_stream_wrapper_ops` and `php_stream_ops`.
template <typename Ops>
Ops original{};

php_stream* watch(php_stream* stream) noexcept;

/// In place of one of those functions.
template <auto function>
struct Watched;
template <typename Ops, typename Result, typename... Arguments, Result (*Ops::*function)(Arguments...)>
struct Watched<function> {
    static Result call(Arguments... arguments) {
        const Inside inside;
        const Result result = (original<Ops>.*function)(arguments...);
        if constexpr (std::is_same_v<Result, php_stream*>) {
            return watch(result);
        } else {
            return result;
        }
    }
};

template <auto... functions, typename Ops>
Ops watched(const Ops& before) noexcept {
    original<Ops> = before;
    Ops after = before;
    const auto replace = [&]<auto function>() {
        if (before.*function != nullptr) {
            after.*function = &Watched<function>::call;
        }
    };
    (replace.template operator()<functions>(), ...);
    return after;
}

php_stream* watch(php_stream* stream) noexcept {
    if (stream != nullptr && std::string_view(stream->ops->label) == "phar stream") {
        static const php_stream_ops kOps = watched<
            &php_stream_ops::read, &php_stream_ops::write, &php_stream_ops::seek, &php_stream_ops::flush,
            &php_stream_ops::close>(*stream->ops);
        stream->ops = &kOps;
    }
    return stream;
}

}  // namespace

bool is_in_archive() noexcept {
    const zend_execute_data* call = EG(current_execute_data);
    if (UNEXPECTED(!insides->empty()) && std::ranges::find(*insides, call) != insides->end()) {
        return true;
    }
    return phar != nullptr && call != nullptr && call->func != nullptr && call->func->type == ZEND_INTERNAL_FUNCTION &&
           call->func->internal_function.module == phar;
}

void archive_startup() noexcept {
    constexpr std::string_view kName = "phar";
    phar = static_cast<const zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, kName.data(), kName.size()));
    zval* wrapper = zend_hash_str_find(php_stream_get_url_stream_wrappers_hash_global(), kName.data(), kName.size());
    if (phar == nullptr || wrapper == nullptr) {
        return;
    }
    using Ops = php_stream_wrapper_ops;
    static php_stream_wrapper own = *static_cast<const php_stream_wrapper*>(Z_PTR_P(wrapper));
    static const Ops kOps = watched<
        &Ops::stream_opener, &Ops::url_stat, &Ops::dir_opener, &Ops::unlink, &Ops::rename, &Ops::stream_mkdir,
        &Ops::stream_rmdir>(*own.wops);
    own.wops = &kOps;
    Z_PTR_P(wrapper) = &own;
}

void archive_request_end() noexcept { insides->clear(); }

}  // namespace trueasync::php
