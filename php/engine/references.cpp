#include "references.hpp"

#include "replace.hpp"
#include "request.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace trueasync::php {

namespace {

/// What a function finds: what the caller has there, an empty array, or nothing, if it makes an array itself before it waits. One that is still
/// nothing at the end is not assigned.
enum class Start : std::uint8_t { Copy, Empty, Nothing };

/// An argument by reference, exchanged for the length of a call.
class OwnReference {
public:
    /// Does nothing if there is no such argument.
    OwnReference(zend_execute_data* call, std::uint32_t number, Start start) noexcept
        : argument_(number != 0 && ZEND_CALL_NUM_ARGS(call) >= number ? ZEND_CALL_ARG(call, number) : nullptr) {
        if (argument_ == nullptr || Z_TYPE_P(argument_) != IS_REFERENCE || request.runtime == nullptr) {
            argument_ = nullptr;
            return;
        }
        callers_ = Z_REF_P(argument_);
        was_nothing_ = start == Start::Nothing;
        zval own;
        ZVAL_NULL(&own);
        if (start == Start::Empty) {
            array_init(&own);
        } else if (start == Start::Copy) {
            ZVAL_COPY(&own, &callers_->val);
        }
        ZVAL_NEW_REF(argument_, &own);
    }
    OwnReference(const OwnReference&) = delete;
    OwnReference& operator=(const OwnReference&) = delete;
    ~OwnReference() { zval_ptr_dtor(&result_); }

    /// After the call: the caller's variable is in its place again. What came is `result`; false: nothing is to be assigned.
    bool end() noexcept {
        if (argument_ == nullptr) {
            return false;
        }
        ZVAL_COPY(&result_, Z_REFVAL_P(argument_));
        zval_ptr_dtor(argument_);
        ZVAL_REF(argument_, callers_);
        return EG(exception) == nullptr && !(was_nothing_ && Z_TYPE(result_) == IS_NULL);
    }
    void assign() noexcept {
        if (end()) {
            ZEND_TRY_ASSIGN_REF_TMP(argument_, &result_);
            ZVAL_UNDEF(&result_);
        }
    }
    /// Its elements come behind those that are there now.
    void append() noexcept {
        if (!end()) {
            return;
        }
        zval* array = Z_REFVAL_P(argument_);
        if (Z_TYPE_P(array) != IS_ARRAY) {
            ZEND_TRY_ASSIGN_REF_TMP(argument_, &result_);
            ZVAL_UNDEF(&result_);
            return;
        }
        SEPARATE_ARRAY(array);
        zval* each = nullptr;
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL(result_), each) {
            Z_TRY_ADDREF_P(each);
            add_next_index_zval(array, each);
        }
        ZEND_HASH_FOREACH_END();
    }

private:
    zval* argument_;
    zend_reference* callers_ = nullptr;
    zval result_ = {};
    bool was_nothing_ = false;
};

zif_handler exec_before = nullptr;

ZEND_NAMED_FUNCTION(exec_appending) {
    OwnReference lines(execute_data, 2, Start::Empty);
    exec_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    lines.append();
}

struct Filling {
    const char* of;  // the class of a method
    const char* name;
    Start start;
    std::array<std::uint32_t, 3> arguments;
};
constexpr std::array kFilling = {
    Filling{nullptr, "socket_select", Start::Copy, {1, 2, 3}},
    Filling{nullptr, "mysqli_poll", Start::Copy, {1, 2, 3}},
    Filling{"mysqli", "poll", Start::Copy, {1, 2, 3}},
    Filling{nullptr, "ssh2_poll", Start::Copy, {1}},
    Filling{nullptr, "pcntl_wait", Start::Nothing, {3}},
    Filling{nullptr, "pcntl_waitpid", Start::Nothing, {4}},
    Filling{nullptr, "getmxrr", Start::Nothing, {2, 3}},
    Filling{nullptr, "dns_get_mx", Start::Nothing, {2, 3}},
    Filling{nullptr, "dns_get_record", Start::Nothing, {3, 4}},
    Filling{nullptr, "getimagesize", Start::Nothing, {2}},
    Filling{nullptr, "odbc_fetch_into", Start::Nothing, {2}},
    Filling{"soapclient", "__soapcall", Start::Nothing, {5}},
};

std::array<zif_handler, kFilling.size()> filling_before = {};

template <std::size_t index>
ZEND_NAMED_FUNCTION(fill_own) {
    constexpr Filling kThis = kFilling[index];
    std::array own = {
        OwnReference(execute_data, kThis.arguments[0], kThis.start),
        OwnReference(execute_data, kThis.arguments[1], kThis.start),
        OwnReference(execute_data, kThis.arguments[2], kThis.start)};
    filling_before[index](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    for (OwnReference& each : own) {
        each.assign();
    }
}

HashTable* table_of(const Filling& filling) noexcept {
    if (filling.of == nullptr) {
        return CG(function_table);
    }
    auto* ce =
        static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), filling.of, std::strlen(filling.of)));
    return ce != nullptr ? &ce->function_table : nullptr;
}

template <std::size_t... index>
void guard_filling(std::index_sequence<index...> /*all*/) noexcept {
    const auto one = [](std::size_t at, zif_handler handler) {
        if (HashTable* table = table_of(kFilling[at])) {
            filling_before[at] = replace_handler(table, kFilling[at].name, handler);
        }
    };
    (one(index, fill_own<index>), ...);
}

zif_handler register_before = nullptr;

ZEND_NAMED_FUNCTION(register_wrapper) {
    request.has_rare_state |= Request::kWrappers;
    register_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

}  // namespace

void guard_references() noexcept {
    register_before = replace_handler(CG(function_table), "stream_wrapper_register", register_wrapper);
    exec_before = replace_handler(CG(function_table), "exec", exec_appending);
    guard_filling(std::make_index_sequence<kFilling.size()>());
}

}  // namespace trueasync::php
