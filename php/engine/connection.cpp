#include "connection.hpp"

#include <dlfcn.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

extern "C" {
#if __has_include(<ext/pdo/php_pdo_driver.h>)
#include <ext/pdo/php_pdo_driver.h>
#define TA_HAS_PDO
#endif
#if __has_include(<ext/mysqli/php_mysqli_structs.h>)
#include <ext/mysqli/php_mysqli_structs.h>
#define TA_HAS_MYSQLI
#endif
}

namespace trueasync::php {

namespace {

std::string_view internal_name(const zend_object& object) noexcept {
    const zend_class_entry* ce = object.ce;
    while (ce->parent != nullptr) {
        ce = ce->parent;
    }
    return {ZSTR_VAL(ce->name), ZSTR_LEN(ce->name)};
}

#ifdef TA_HAS_PDO
/// The handle, not the object: persistent ones share it.
const void* connection_of_pdo(zend_object* object, bool is_statement) noexcept {
    const void* connection = is_statement ? php_pdo_stmt_fetch_object(object)->dbh : php_pdo_dbh_fetch_inner(object);
    return connection != nullptr ? connection : object;
}

/// Under which name PDO keeps what this call of the constructor opens; empty if it does not.
std::string kept_name(zend_execute_data* call) {
    constexpr std::uint32_t kOptions = 4;
    const zval* options = ZEND_CALL_NUM_ARGS(call) >= kOptions ? ZEND_CALL_ARG(call, kOptions) : nullptr;
    if (options == nullptr || Z_TYPE_P(options) != IS_ARRAY) {
        return {};
    }
    zval* choice = zend_hash_index_find_deref(Z_ARRVAL_P(options), PDO_ATTR_PERSISTENT);
    const bool has_key = choice != nullptr && Z_TYPE_P(choice) == IS_STRING && Z_STRLEN_P(choice) != 0 &&
                         is_numeric_string(Z_STRVAL_P(choice), Z_STRLEN_P(choice), nullptr, nullptr, false) == 0;
    if (choice == nullptr || (!has_key && !zend_is_true(choice))) {
        return {};
    }
    std::string name = "PDO:DBH:DSN=";
    for (std::uint32_t i = 1; i < kOptions; ++i) {
        const zval* part = ZEND_CALL_ARG(call, i);
        name += i > 1 ? ":" : "";
        name += Z_TYPE_P(part) == IS_STRING ? Z_STRVAL_P(part) : "";
    }
    return has_key ? name + ':' + Z_STRVAL_P(choice) : name;
}
#endif

#ifdef TA_HAS_MYSQLI
template <typename T>
T* inner(zend_object* object) noexcept {
    auto* own = reinterpret_cast<mysqli_object*>(reinterpret_cast<char*>(object) - XtOffsetOf(mysqli_object, zo));
    auto* resource = static_cast<MYSQLI_RESOURCE*>(own->ptr);
    return resource != nullptr ? static_cast<T*>(resource->ptr) : nullptr;
}

const void* connection_of_mysqli(zend_object* object, std::string_view name) noexcept {
    const void* connection = nullptr;
    if (name == "mysqli") {
        const auto* own = inner<MY_MYSQL>(object);
        connection = own != nullptr && own->mysql != nullptr ? own->mysql->data : nullptr;
    } else if (name == "mysqli_stmt") {
        const auto* own = inner<MY_STMT>(object);
        connection =
            own != nullptr && own->stmt != nullptr && own->stmt->data != nullptr ? own->stmt->data->conn : nullptr;
    } else if (name == "mysqli_result") {
        const auto* own = inner<MYSQL_RES>(object);
        connection = own != nullptr ? own->conn : nullptr;
    }
    return connection != nullptr ? connection : object;
}
#endif

/// Their structures are not in PHP's headers. In every version a result begins with the connection's structure, and a statement has it after
/// its own handle.
const void* connection_of_sqlite(zend_object* object, std::string_view name) noexcept {
    void** own = reinterpret_cast<void**>(reinterpret_cast<char*>(object) - object->handlers->offset);
    if (name == "SQLite3") {
        return own;
    }
    const void* connection = name == "SQLite3Stmt" ? own[1] : own[0];
    return connection != nullptr ? connection : object;
}

/// Connections and large objects both begin with libpq's handle; their structures are not in PHP's headers.
const void* connection_of_pgsql(zend_object* object) noexcept {
    const void* connection = *reinterpret_cast<void**>(reinterpret_cast<char*>(object) - object->handlers->offset);
    return connection != nullptr ? connection : object;
}

/// What such an object has begins with a pointer to what its persistent ones share: a stream, a handle of libmemcached.
const void* connection_of_shared(zend_object* object, bool is_redis) noexcept {
    void** shared = *reinterpret_cast<void***>(reinterpret_cast<char*>(object) - object->handlers->offset);
    if (is_redis && shared != nullptr && *shared != nullptr) {
        return *shared;  // the stream, while there is one
    }
    return shared != nullptr ? static_cast<const void*>(shared) : object;
}

/// Channels, queues and exchanges have theirs in a private property, which their constructor sets. Itself before that.
const void* connection_of_amqp(zend_object* object) noexcept {
    const zend_class_entry* ce = object->ce;
    while (ce->parent != nullptr) {
        ce = ce->parent;
    }
    constexpr std::string_view kProperty = "connection";
    const auto* info = static_cast<const zend_property_info*>(
        zend_hash_str_find_ptr(&ce->properties_info, kProperty.data(), kProperty.size())
    );
    if (info == nullptr || (info->flags & ZEND_ACC_STATIC) != 0) {
        return object;
    }
    const zval* connection = OBJ_PROP(object, info->offset);
    ZVAL_DEREF(connection);
    const bool is_set = Z_TYPE_P(connection) == IS_OBJECT && internal_name(*Z_OBJ_P(connection)) == "AMQPConnection";
    return is_set ? Z_OBJ_P(connection) : object;
}

/// It begins with the descriptor of its control connection; the structure is not in PHP's headers.
int ftp_control(zend_object* object) noexcept {
    const int* connection = *reinterpret_cast<int**>(reinterpret_cast<char*>(object) - object->handlers->offset);
    return connection != nullptr ? *connection : -1;
}

}  // namespace

void shut_beside(zend_execute_data* call) noexcept {
    const zval* subject = ZEND_CALL_NUM_ARGS(call) != 0 ? ZEND_CALL_ARG(call, 1) : nullptr;
    if (subject != nullptr && Z_TYPE_P(subject) == IS_OBJECT && internal_name(*Z_OBJ_P(subject)) == "FTP\\Connection") {
        ::shutdown(ftp_control(Z_OBJ_P(subject)), SHUT_RDWR);
    }
}

const void* connection_of(zend_object* object) noexcept {
    const std::string_view name = internal_name(*object);
#ifdef TA_HAS_PDO
    if (name == "PDO" || name == "PDOStatement") {
        return connection_of_pdo(object, name != "PDO");
    }
#endif
#ifdef TA_HAS_MYSQLI
    if (name.starts_with("mysqli")) {
        return connection_of_mysqli(object, name);
    }
#endif
    if (name == "PgSql\\Connection" || name == "PgSql\\Lob") {
        return connection_of_pgsql(object);
    }
    if (name == "SQLite3" || name == "SQLite3Stmt" || name == "SQLite3Result") {
        return connection_of_sqlite(object, name);
    }
    if (name == "Redis" || name == "RedisSentinel" || name == "Memcached") {
        return connection_of_shared(object, name != "Memcached");
    }
    if (name == "AMQPChannel" || name == "AMQPQueue" || name == "AMQPExchange") {
        return connection_of_amqp(object);
    }
    if (name == "SysvSemaphore" || name == "SysvMessageQueue") {
        return nullptr;
    }
    return object;
}

bool opens_kept(zend_execute_data* call) noexcept {
#ifdef TA_HAS_PDO
    if (Z_TYPE(call->This) == IS_OBJECT && internal_name(*Z_OBJ(call->This)) == "PDO") {
        return !kept_name(call).empty();
    }
#endif
    return true;
}

std::vector<const void*> kept_for(zend_execute_data* call) noexcept {
    std::vector<const void*> found;
#ifdef TA_HAS_PDO
    if (Z_TYPE(call->This) == IS_OBJECT) {
        const std::string name = kept_name(call);
        if (const auto* entry =
                static_cast<zend_resource*>(zend_hash_str_find_ptr(&EG(persistent_list), name.data(), name.size()))) {
            found.push_back(entry->ptr);
        }
        return found;
    }
#endif
    const zval* info = ZEND_CALL_NUM_ARGS(call) != 0 ? ZEND_CALL_ARG(call, 1) : nullptr;
    if (info == nullptr || Z_TYPE_P(info) != IS_STRING) {
        return found;
    }
    zend_string* key = nullptr;
    void* value = nullptr;
    ZEND_HASH_FOREACH_STR_KEY_PTR(&EG(persistent_list), key, value) {
        const std::string_view name = key != nullptr ? std::string_view(ZSTR_VAL(key), ZSTR_LEN(key)) : "";
        if (name.starts_with("pgsql") && name.find(Z_STRVAL_P(info)) != std::string_view::npos) {
            found.push_back(static_cast<zend_resource*>(value)->ptr);
        }
    }
    ZEND_HASH_FOREACH_END();
    return found;
}

const void* connection_of(const php_stream* stream) noexcept {
    const auto* large_object = static_cast<const zval*>(stream->abstract);  // it begins with the database object
    return Z_TYPE_P(large_object) == IS_OBJECT ? connection_of(Z_OBJ_P(large_object)) : nullptr;
}

bool is_pgsql_link(const zval* value) noexcept {
    return Z_TYPE_P(value) == IS_OBJECT && internal_name(*Z_OBJ_P(value)) == "PgSql\\Connection";
}

void notice_shut_link(zend_execute_data* call) noexcept {
    static const auto consume_input = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "PQconsumeInput"));
    static const auto status = reinterpret_cast<int (*)(const void*)>(dlsym(RTLD_DEFAULT, "PQstatus"));
    constexpr int kOk = 0;
    constexpr int kMost = 10'000;  // what had come before is read first
    const zval* subject = ZEND_CALL_NUM_ARGS(call) != 0 ? ZEND_CALL_ARG(call, 1) : nullptr;
    if (subject == nullptr || !is_pgsql_link(subject) || consume_input == nullptr || status == nullptr) {
        return;
    }
    void* link = const_cast<void*>(connection_of_pgsql(Z_OBJ_P(subject)));
    for (int i = 0; i < kMost && link != Z_OBJ_P(subject) && status(link) == kOk && consume_input(link) != 0; ++i) {}
}

}  // namespace trueasync::php
