#include "uses_aside.hpp"

#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "connection.hpp"
#include "in_use.hpp"
#include "request.hpp"
#include "transparent.hpp"

extern "C" {
#if __has_include(<ext/pdo/php_pdo_driver.h>)
#include <ext/pdo/php_pdo_driver.h>
#define TA_HAS_PDO
#endif
}

namespace trueasync::php {

namespace {

using CreateObject = zend_object* (*)(zend_class_entry*);
using GetIterator = zend_object_iterator* (*)(zend_class_entry*, zval*, int);

/// `each` gets the class and those of other modules that extend it.
template <typename Each>
void for_family(const char* name, Each&& each) {
    auto* first = static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), name, std::strlen(name)));
    if (first == nullptr) {
        return;
    }
    each(*first);
    zval* value = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(class_table), value) {
        auto* ce = static_cast<zend_class_entry*>(Z_PTR_P(value));
        if (ce != first && instanceof_function(ce, first)) {
            each(*ce);
        }
    }
    ZEND_HASH_FOREACH_END();
}

// --- foreach

/// One for each of the classes, whose iterators have functions of their own.
template <int kind>
struct Iteration {
    static inline GetIterator get_before = nullptr;
    static inline const zend_object_iterator_funcs* before = nullptr;
    static inline zend_object_iterator_funcs funcs = {};

    template <typename Step>
    static void step(zend_object* object, Step&& step) {
        const void* connection = connection_of(object);
        if (refuse_aside(connection, object, "foreach")) {
            const UseAside use(connection);
            step();
        }
    }
    static void move_forward(zend_object_iterator* iterator) {
        step(Z_OBJ(iterator->data), [&] { before->move_forward(iterator); });
    }
    static void rewind(zend_object_iterator* iterator) {
        step(Z_OBJ(iterator->data), [&] { before->rewind(iterator); });
    }
    static zend_object_iterator* get(zend_class_entry* ce, zval* object, int by_reference) {
        zend_object_iterator* iterator = nullptr;
        step(Z_OBJ_P(object), [&] { iterator = get_before(ce, object, by_reference); });
        if (iterator == nullptr || iterator->funcs == nullptr || Z_TYPE(iterator->data) != IS_OBJECT) {
            return iterator;
        }
        if (before == nullptr) {
            funcs = *iterator->funcs;
            funcs.move_forward = move_forward;
            funcs.rewind = funcs.rewind != nullptr ? rewind : nullptr;
            before = iterator->funcs;
        }
        if (iterator->funcs == before) {
            iterator->funcs = &funcs;
        }
        return iterator;
    }
    static void guard(const char* name) {
        for_family(name, [](zend_class_entry& ce) {
            if (ce.get_iterator != nullptr && (get_before == nullptr || ce.get_iterator == get_before)) {
                get_before = ce.get_iterator;
                ce.get_iterator = get;
            }
        });
    }
};

// --- what is freed

/// Others are awaited first, if one may wait. False: one may not.
bool begin_freeing(const void* connection) noexcept {
    if (request.is_in_scheduler || request.is_dying) {
        return false;
    }
    await_unused(connection);
    if (!is_inside_own(connection)) {
        end_cut_off(PhpCoroutine::running());  // that was something else
    }
    return true;
}

void guard_creation(const char* name, CreateObject& before, CreateObject ours) {
    for_family(name, [&](zend_class_entry& ce) {
        if (before == nullptr || ce.create_object == before) {
            before = ce.create_object;
            ce.create_object = ours;
        }
    });
}

CreateObject create_channel_before = nullptr;
const zend_object_handlers* channel_before = nullptr;

/// The broker is told that the channel is closed, and answers.
void free_channel(zend_object* object) {
    const void* connection = request.runtime != nullptr ? connection_of(object) : object;
    const UseAside use(connection != object && begin_freeing(connection) ? connection : nullptr);
    channel_before->free_obj(object);
}

zend_object* create_channel(zend_class_entry* ce) {
    zend_object* object = create_channel_before(ce);
    static const zend_object_handlers handlers = [object] {
        channel_before = object->handlers;
        zend_object_handlers ours = *object->handlers;
        ours.free_obj = free_channel;
        return ours;
    }();
    object->handlers = &handlers;
    return object;
}

#ifdef TA_HAS_PDO

// --- what PDO frees, and what it looks up

zend_module_entry* pdo = nullptr;
CreateObject create_database_before = nullptr;
CreateObject create_statement_before = nullptr;
const zend_object_handlers* database_before = nullptr;
const zend_object_handlers* statement_before = nullptr;

/// The server is told, and answers. Nothing can be told in the middle of another's question.
void free_alone(zend_object* object, zend_object_free_obj_t free_before) {
    if (EXPECTED(request.runtime == nullptr)) {
        free_before(object);
        return;
    }
    const void* connection = connection_of(object);
    const bool may_wait = begin_freeing(connection);
    if (!may_wait && statement_before != nullptr && free_before == statement_before->free_obj &&
        is_used_by_others(connection)) {
        static const pdo_stmt_methods nothing = {};
        php_pdo_stmt_fetch_object(object)->methods = &nothing;  // lost: the connection's end is its end
    }
    const UseAside use(may_wait ? connection : nullptr);
    free_before(object);
}

void free_database(zend_object* object) { free_alone(object, database_before->free_obj); }
void free_statement(zend_object* object) { free_alone(object, statement_before->free_obj); }

/// The driver's own methods are in no class.
zend_function* get_method(zend_object** object, zend_string* name, const zval* key) {
    zend_function* found = database_before->get_method(object, name, key);
    if (found != nullptr && found->type == ZEND_INTERNAL_FUNCTION &&
        (found->common.fn_flags & ZEND_ACC_NEVER_CACHE) != 0 &&
        (found->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) == 0) {
        guard_method(found, pdo);
    }
    return found;
}

zend_object* create_database(zend_class_entry* ce) {
    zend_object* object = create_database_before(ce);
    static const zend_object_handlers handlers = [object] {
        database_before = object->handlers;
        zend_object_handlers ours = *object->handlers;
        ours.free_obj = free_database;
        ours.get_method = get_method;
        return ours;
    }();
    object->handlers = &handlers;
    return object;
}

zend_object* create_statement(zend_class_entry* ce) {
    zend_object* object = create_statement_before(ce);
    static const zend_object_handlers handlers = [object] {
        statement_before = object->handlers;
        zend_object_handlers ours = *object->handlers;
        ours.free_obj = free_statement;
        return ours;
    }();
    object->handlers = &handlers;
    return object;
}

#endif

}  // namespace

void guard_uses_aside() {
    Iteration<0>::guard("pdostatement");
    Iteration<1>::guard("mysqli_result");
    guard_creation("amqpchannel", create_channel_before, create_channel);
#ifdef TA_HAS_PDO
    pdo = static_cast<zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, "pdo", 3));
    guard_creation("pdo", create_database_before, create_database);
    guard_creation("pdostatement", create_statement_before, create_statement);
#endif
}

}  // namespace trueasync::php
