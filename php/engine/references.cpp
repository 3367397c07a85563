#include "references.hpp"

#include "replace.hpp"
#include "request.hpp"

#include <array>

namespace trueasync::php {

namespace {

/// An argument by reference, exchanged for the length of a call.
class OwnReference {
public:
    /// Does nothing if there is no such argument.
    OwnReference(zend_execute_data* call, std::uint32_t number, bool is_empty) noexcept
        : argument_(ZEND_CALL_NUM_ARGS(call) >= number ? ZEND_CALL_ARG(call, number) : nullptr) {
        if (argument_ == nullptr || Z_TYPE_P(argument_) != IS_REFERENCE || request.runtime == nullptr) {
            argument_ = nullptr;
            return;
        }
        callers_ = Z_REF_P(argument_);
        zval own;
        if (is_empty) {
            array_init(&own);
        } else {
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
        return EG(exception) == nullptr;
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
};

zif_handler exec_before = nullptr;
zif_handler select_before = nullptr;
zif_handler wait_before = nullptr;
zif_handler waitpid_before = nullptr;

ZEND_NAMED_FUNCTION(exec_appending) {
    OwnReference lines(execute_data, 2, true);
    exec_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    lines.append();
}

ZEND_NAMED_FUNCTION(select_assigning) {
    std::array sets = {
        OwnReference(execute_data, 1, false), OwnReference(execute_data, 2, false),
        OwnReference(execute_data, 3, false)};
    select_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    for (OwnReference& set : sets) {
        set.assign();
    }
}

ZEND_NAMED_FUNCTION(wait_assigning) {
    OwnReference usage(execute_data, 3, false);
    wait_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    usage.assign();
}

ZEND_NAMED_FUNCTION(waitpid_assigning) {
    OwnReference usage(execute_data, 4, false);
    waitpid_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    usage.assign();
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
    select_before = replace_handler(CG(function_table), "socket_select", select_assigning);
    wait_before = replace_handler(CG(function_table), "pcntl_wait", wait_assigning);
    waitpid_before = replace_handler(CG(function_table), "pcntl_waitpid", waitpid_assigning);
}

}  // namespace trueasync::php
