#include "connection.hpp"

#include <sys/socket.h>

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
[[maybe_unused]] zend_object* object_in(const zval& value) noexcept { return Z_OBJ(value); }
[[maybe_unused]] zend_object* object_in(zend_object* object) noexcept { return object; }

const void* connection_of_statement(zend_object* object) noexcept {
    auto* statement = reinterpret_cast<pdo_stmt_t*>(reinterpret_cast<char*>(object) - XtOffsetOf(pdo_stmt_t, std));
    return statement->dbh != nullptr ? object_in(statement->database_object_handle) : object;
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
    if (name == "PDOStatement") {
        return connection_of_statement(object);
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
    if (name == "SysvSemaphore" || name == "SysvMessageQueue") {
        return nullptr;
    }
    return object;
}

}  // namespace trueasync::php
