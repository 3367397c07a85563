#include "soap.hpp"

#include "../classes/coroutine.hpp"
#include "replace.hpp"
#include "request.hpp"
#include "transparent.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

extern "C" {
/// Weak: PHP may be without it.
__attribute__((weak)) void php_libxml_switch_context(const zval* context, zval* former);
}

namespace trueasync::php {

namespace {

/// Its variables have no name outside of it. A setting of it leads there: to the last one in front of those that belong to a call.
const zend_ini_entry* setting = nullptr;

/// Behind that setting: the cache, the encoding, the class map, the features. And, as long as they are known to lie there, another cache, the last
/// number that was given to a reference, and the references.
constexpr std::size_t kBehind = PHP_VERSION_ID < 80400 ? 5 + 7 + 2 : 5;

std::span<std::uintptr_t> variables() noexcept {
#ifdef ZTS
    void* begin = TSRMG_BULK(*static_cast<ts_rsrc_id*>(setting->mh_arg2), void*);
#else
    void* begin = setting->mh_arg2;
#endif
    const std::size_t in_front = reinterpret_cast<std::uintptr_t>(setting->mh_arg1) / sizeof(std::uintptr_t);
    return {static_cast<std::uintptr_t*>(begin), in_front + kBehind};
}

}  // namespace

SoapCall::SoapCall() noexcept {
    request.has_rare_state |= Request::kSoap;
    running = this;
    std::ranges::copy(variables(), words_.begin());
    ZVAL_UNDEF(&libxml_context_);
    if (php_libxml_switch_context != nullptr) {
        php_libxml_switch_context(nullptr, &libxml_context_);
    }
}

void SoapCall::leave() noexcept {
    const std::span<std::uintptr_t> now = variables();
    for (std::size_t i = 0; i < now.size(); ++i) {
        changed_[i] = now[i] != words_[i];
        if (changed_[i]) {
            std::swap(now[i], words_[i]);
        }
    }
    exchange_context([this](const zval& mine) {
        return changed_[kContext] = Z_TYPE(mine) != Z_TYPE(libxml_context_) || Z_PTR(mine) != Z_PTR(libxml_context_);
    });
}

void SoapCall::enter() noexcept {
    const std::span<std::uintptr_t> now = variables();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (changed_[i]) {
            std::swap(now[i], words_[i]);
        } else {
            words_[i] = now[i];  // a setting may have been changed meanwhile
        }
    }
    exchange_context([this](const zval& /*others*/) { return changed_[kContext]; });
}

/// `is_mine` says whether the call has set one of its own.
template <typename IsMine>
void SoapCall::exchange_context(IsMine is_mine) noexcept {
    if (php_libxml_switch_context != nullptr) {
        zval now;
        php_libxml_switch_context(nullptr, &now);
        if (is_mine(now)) {
            php_libxml_switch_context(&libxml_context_, nullptr);
        }
        ZVAL_COPY_VALUE(&libxml_context_, &now);
    }
}

namespace {

struct Method {
    std::string_view of;
    const char* name;
};
constexpr std::array kMethods = {Method{"soapclient", "__construct"}, Method{"soapclient", "__call"},
                                 Method{"soapclient", "__soapcall"},  Method{"soapclient", "__dorequest"},
                                 Method{"soapserver", "__construct"}, Method{"soapserver", "handle"},
                                 Method{"soapserver", "fault"}};

std::array<zif_handler, kMethods.size()> before = {};

const zend_object* cut_off_here() noexcept {
    const auto* coroutine = static_cast<const PhpCoroutine*>(Scheduler::current_coroutine());
    return coroutine != nullptr ? coroutine->cut_off() : nullptr;
}

/// A constructor that was cancelled while it loaded a description has told of its failure in a way that made the engine forget what it had
/// thrown before.
void restore_cancellation(const zend_execute_data* call, const zend_object* earlier) noexcept {
    const zend_object* fault = EG(exception);
    const zend_object* lost = cut_off_here();
    const bool is_lost = fault != nullptr && lost != nullptr && lost != earlier && lost != fault &&
                         !zend_is_unwind_exit(fault) && (call->func->common.fn_flags & ZEND_ACC_CTOR) != 0;
    if (is_lost) {
        throw_cut_off(*static_cast<PhpCoroutine*>(Scheduler::current_coroutine()));
    }
}

template <std::size_t index>
ZEND_NAMED_FUNCTION(call_soap) {
    if (SoapCall::running != nullptr) {
        before[index](INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    const zend_object* earlier = cut_off_here();
    const SoapCall call;
    zend_try { before[index](INTERNAL_FUNCTION_PARAM_PASSTHRU); }
    zend_catch {
        SoapCall::running = nullptr;
        zend_bailout();
    }
    zend_end_try();
    restore_cancellation(execute_data, earlier);
}

template <std::size_t... index>
void guard(std::index_sequence<index...> /*all*/) noexcept {
    const auto one = [](std::size_t at, zif_handler handler) {
        const Method& method = kMethods[at];
        if (auto* ce = static_cast<zend_class_entry*>(
                zend_hash_str_find_ptr(CG(class_table), method.of.data(), method.of.size())
            )) {
            before[at] = replace_handler(&ce->function_table, method.name, handler);
        }
    };
    (one(index, call_soap<index>), ...);
}

zend_result (*post_startup_before)() = nullptr;

zend_result guard_soap() {
    constexpr std::string_view kSetting = "soap.wsdl_cache_limit";
    setting =
        static_cast<zend_ini_entry*>(zend_hash_str_find_ptr(EG(ini_directives), kSetting.data(), kSetting.size()));
    if (setting != nullptr && setting->mh_arg2 != nullptr && variables().size() <= SoapCall::kMostWords) {
        guard(std::make_index_sequence<kMethods.size()>());
    }
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

void soap_minit() noexcept { post_startup_before = std::exchange(zend_post_startup_cb, guard_soap); }

}  // namespace trueasync::php
