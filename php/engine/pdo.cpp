#include "pdo.hpp"

#include "../classes/coroutine.hpp"
#include "replace.hpp"
#include "request.hpp"
#include "transparent.hpp"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <vector>

extern "C" {
#if __has_include(<ext/pdo/php_pdo_driver.h>)
#include <ext/pdo/php_pdo_driver.h>
#define TA_HAS_PDO
#endif
}

namespace trueasync::php {

#ifdef TA_HAS_PDO

namespace {

bool is_same(const zval& one, const zval& other) noexcept {
    return Z_TYPE(one) == Z_TYPE(other) &&
           (Z_TYPE(one) <= IS_TRUE || std::memcmp(&one.value, &other.value, sizeof(one.value)) == 0);
}

/// Drivers keep the addresses of strings in variables that were bound, and wait. Another coroutine that assigns to such a variable meanwhile
/// frees them. For the length of a call a statement has variables of its own.
class OwnParameters {
public:
    explicit OwnParameters(pdo_stmt_t& statement) noexcept : statement_(statement) {
        if (statement.bound_params == nullptr) {
            return;
        }
        zend_string* name = nullptr;
        zend_ulong number = 0;
        void* each = nullptr;
        ZEND_HASH_FOREACH_KEY_PTR(statement.bound_params, number, name, each) {
            zval& parameter = static_cast<pdo_bound_param_data*>(each)->parameter;
            if (Z_ISREF(parameter)) {
                exchanged_.push_back(exchange(name, number, parameter));
            }
        }
        ZEND_HASH_FOREACH_END();
    }
    OwnParameters(const OwnParameters&) = delete;
    OwnParameters& operator=(const OwnParameters&) = delete;
    ~OwnParameters() {
        for (Exchanged& one : exchanged_) {
            put_back(one);
            zval theirs;
            ZVAL_REF(&theirs, one.theirs);
            zval_ptr_dtor(&theirs);
            zval_ptr_dtor(&one.before);
            if (one.name != nullptr) {
                zend_string_release(one.name);
            }
        }
    }

private:
    struct Exchanged {
        zend_string* name;
        zend_ulong number;
        zend_reference* theirs;
        zend_reference* own;
        zval before;
    };

    static Exchanged exchange(zend_string* name, zend_ulong number, zval& parameter) noexcept {
        Exchanged one = {name != nullptr ? zend_string_copy(name) : nullptr, number, Z_REF(parameter), nullptr, {}};
        ZVAL_COPY(&one.before, &one.theirs->val);
        zval own;
        ZVAL_COPY(&own, &one.theirs->val);
        ZVAL_NEW_REF(&parameter, &own);
        one.own = Z_REF(parameter);
        return one;
    }

    pdo_bound_param_data* find(const Exchanged& one) const noexcept {
        HashTable* all = statement_.bound_params;
        void* found = all == nullptr        ? nullptr
                      : one.name != nullptr ? zend_hash_find_ptr(all, one.name)
                                            : zend_hash_index_find_ptr(all, one.number);
        return static_cast<pdo_bound_param_data*>(found);
    }

    /// Drivers turn what is bound as a string into one where it is, and fill parameters for output.
    void put_back(Exchanged& one) noexcept {
        pdo_bound_param_data* parameter = find(one);
        if (parameter == nullptr || !Z_ISREF(parameter->parameter) || Z_REF(parameter->parameter) != one.own) {
            return;
        }
        zval after;
        ZVAL_COPY(&after, &one.own->val);
        zval_ptr_dtor(&parameter->parameter);
        ZVAL_REF(&parameter->parameter, one.theirs);
        GC_ADDREF(one.theirs);
        const bool is_output = (parameter->param_type & PDO_PARAM_INPUT_OUTPUT) != 0;
        const bool has_changed = !is_same(after, one.before) && (is_output || is_same(one.theirs->val, one.before));
        if (has_changed && EG(exception) == nullptr) {
            ZEND_TRY_ASSIGN_REF_TMP(&parameter->parameter, &after);
        } else {
            zval_ptr_dtor(&after);
        }
    }

    pdo_stmt_t& statement_;
    std::vector<Exchanged> exchanged_;
};

/// PDO makes no exception while another one is in flight: what a cancelled call has failed with would be known to nobody.
void keep_error(PhpCoroutine& coroutine, pdo_dbh_t* connection, pdo_stmt_t* statement) noexcept {
    using HandleError = void (*)(pdo_dbh_t*, pdo_stmt_t*);
    static const auto handle_error = reinterpret_cast<HandleError>(dlsym(RTLD_DEFAULT, "pdo_handle_error"));
    if (handle_error == nullptr || connection == nullptr || connection->error_mode != PDO_ERRMODE_EXCEPTION) {
        return;
    }
    if (statement == nullptr) {
        statement = connection->query_stmt;
    }
    const std::string_view code = statement != nullptr ? statement->error_code : connection->error_code;
    if (!code.empty() && code != PDO_ERR_NONE && previous_of(coroutine.cut_off()) == nullptr &&
        !coroutine.is_cut_off_aside()) {
        begin_cut_off_aside(coroutine);
        handle_error(connection, statement);
        end_cut_off_aside(coroutine);
    }
}

constexpr std::array<const char*, 6> kMethods = {"query", "exec", "prepare", "begintransaction", "commit", "rollback"};
constexpr std::array<const char*, 6> kOfStatements = {"execute",     "fetch",       "fetchall",
                                                      "fetchcolumn", "fetchobject", "nextrowset"};
std::array<zif_handler, kMethods.size()> before = {};
std::array<zif_handler, kOfStatements.size()> before_of_statement = {};

template <std::size_t index>
ZEND_NAMED_FUNCTION(call_connection) {
    before[index](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (PhpCoroutine* coroutine = cut_off_coroutine(); UNEXPECTED(coroutine != nullptr)) {
        keep_error(*coroutine, Z_PDO_DBH_P(ZEND_THIS), nullptr);
    }
}

template <std::size_t index>
ZEND_NAMED_FUNCTION(call_statement) {
    pdo_stmt_t* statement = Z_PDO_STMT_P(ZEND_THIS);
    constexpr bool kIsExecute = index == 0;
    if (kIsExecute && request.runtime != nullptr && statement->bound_params != nullptr && ZEND_NUM_ARGS() == 0) {
        const OwnParameters own(*statement);
        before_of_statement[index](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else {
        before_of_statement[index](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
    if (PhpCoroutine* coroutine = cut_off_coroutine(); UNEXPECTED(coroutine != nullptr)) {
        keep_error(*coroutine, statement->dbh, statement);
    }
}

template <std::size_t... index>
void guard(zend_class_entry* connection, zend_class_entry* statement, std::index_sequence<index...> /*all*/) noexcept {
    ((before[index] = replace_handler(&connection->function_table, kMethods[index], call_connection<index>)), ...);
    ((before_of_statement[index] =
          replace_handler(&statement->function_table, kOfStatements[index], call_statement<index>)),
     ...);
}

zend_result (*post_startup_before)() = nullptr;

zend_result guard_pdo() {
    const auto find = [](const char* name) {
        return static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), name, std::strlen(name)));
    };
    zend_class_entry* connection = find("pdo");
    zend_class_entry* statement = find("pdostatement");
    if (connection != nullptr && statement != nullptr) {
        guard(connection, statement, std::make_index_sequence<kMethods.size()>());
    }
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

void pdo_minit() noexcept { post_startup_before = std::exchange(zend_post_startup_cb, guard_pdo); }

#else

void pdo_minit() noexcept {}

#endif

}  // namespace trueasync::php
