#include "task_group.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../place.hpp"
#include "../stubs/task_group_arginfo.h"
#include "awaitable.hpp"
#include "coroutine.hpp"
#include "exceptions.hpp"
#include "finally.hpp"
#include "future.hpp"
#include "scope.hpp"

#include <cstdint>
#include <trueasync/structured/group.hpp>
#include <unordered_map>

namespace trueasync::php {

namespace {

zend_class_entry* ce_task_group = nullptr;
zend_class_entry* ce_task_set = nullptr;

void put(zval* array, const TaskKey& key, zval* value) {
    if (key.is_number()) {
        zend_hash_index_update(Z_ARRVAL_P(array), static_cast<zend_ulong>(key.number()), value);
    } else {
        zend_symtable_str_update(Z_ARRVAL_P(array), key.text().data(), key.text().size(), value);
    }
}

/// The core's group; all results become one PHP array.
class PhpGroup final : public GroupOf<Value> {
public:
    using GroupOf<Value>::GroupOf;

    Ref<PhpFuture> ask_for_all(bool ignores_errors) {
        auto future = make_ref<PhpFuture>();
        ask_all(future, ignores_errors);
        return future;
    }
    Status ask_for_first(Ref<PhpFuture>& future, const char* refusal) {
        future = make_ref<PhpFuture>();
        Status status = ask_first(future, refusal);
        if (!status) {
            future->ignore();
        }
        return status;
    }
    Status ask_for_success(Ref<PhpFuture>& future, const char* refusal) {
        future = make_ref<PhpFuture>();
        Status status = ask_success(future, refusal);
        if (!status) {
            future->ignore();
        }
        return status;
    }

protected:
    void give_all(FutureEvent& future, std::uint64_t end) noexcept override {
        Value results;
        array_init_size(results.get(), static_cast<std::uint32_t>(count()));
        entries().each(end, [&](std::uint64_t number, const TaskEntry& entry, void* /*value*/) {
            if (entry.has_succeeded()) {
                zval value;
                take(number).move_to(&value);
                put(results.get(), key_at(number), &value);
            }
        });
        static_cast<FutureOf<Value>&>(future).complete(std::move(results)).ignore();
    }
};

struct GroupData {
    Ref<PhpGroup> group;
    Value scope;  // of the user: lives as long as the group
    Value file;

    ~GroupData() {
        if (group != nullptr && scope.is_set()) {
            forget_group(*group);
        }
    }
    void dropped() {
        if (const Ref<PhpGroup> held = group) {
            held->handle_dropped();
        }
    }
    void show(Shown& shown) {
        shown.add(scope);
        if (group == nullptr || group->ref_count() != 1) {
            return;
        }
        std::unordered_map<const Error*, std::uint32_t> errors;  // one cancellation is the error of many
        ++errors[group->cancellation()];
        group->each_settled([&](const TaskKey&, Error* error, void* value) {
            if (value != nullptr) {
                shown.add(*static_cast<Value*>(value));
            }
            ++errors[error];
        });
        for (const auto& [error, times] : errors) {
            shown.add(error, times);
        }
        group->finally_list().each([&](FinallyHandler& handler) {
            shown.add(static_cast<PhpFinally&>(handler).callable);
            shown.add(static_cast<PhpFinally&>(handler).argument);
        });
    }
};
using GroupObject = ObjectOf<GroupData>;

/// Null: it threw, since the constructor was not called or has failed.
PhpGroup* group_of(zend_object* object) {
    PhpGroup* group = GroupObject::of(object).group.get();
    if (UNEXPECTED(group == nullptr)) {
        zend_throw_error(nullptr, "The %s was not constructed", object->ce == ce_task_set ? "task set" : "task group");
    }
    return group;
}

// --- foreach

struct GroupWalk {
    GroupEvent::Cursor cursor;
    TaskKey task;

    bool next(zend_object* source, Value& element) {
        const Ref<PhpGroup> group(group_of(source));
        std::optional<std::uint64_t> slot;
        if (group == nullptr || !may_suspend() || !has_arrived(group->next(cursor, slot)) || !slot.has_value()) {
            return false;
        }
        task = group->key_at(*slot);
        array_init_size(element.get(), 2);
        if (Error* error = group->error_at(*slot)) {
            add_next_index_null(element.get());
            add_next_index_object(element.get(), to_exception(*error));
        } else {
            zval value;
            group->take(*slot).move_to(&value);
            add_next_index_zval(element.get(), &value);
            add_next_index_null(element.get());
        }
        if (group->kind() == GroupKind::Set) {
            group->remove(*slot);
        }
        return true;
    }
    void key(zval* key) const {
        if (task.is_number()) {
            ZVAL_LONG(key, task.number());
        } else {
            ZVAL_STRINGL(key, task.text().data(), task.text().size());
        }
    }
};

zend_object_iterator* get_iterator(zend_class_entry* ce, zval* object, int by_reference) {
    if (by_reference != 0) {
        zend_throw_error(nullptr, "Cannot iterate %s by reference", ZSTR_VAL(ce->name));
        return nullptr;
    }
    return IteratorOf<GroupWalk>::create(object);
}

bool in_range(zend_long value, std::uint32_t number) {
    if (value >= 0 && value <= UINT32_MAX) {
        return true;
    }
    zend_argument_value_error(number, "must be between 0 and %u", UINT32_MAX);
    return false;
}

void construct(INTERNAL_FUNCTION_PARAMETERS, GroupKind kind) {
    zend_long concurrency = 0;
    zend_long queue_limit = 0;
    bool is_unlimited = true;
    bool is_default_queue = true;
    zend_object* scope = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 3)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(concurrency, is_unlimited)
    Z_PARAM_LONG_OR_NULL(queue_limit, is_default_queue)
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(scope, ce_scope)
    ZEND_PARSE_PARAMETERS_END();
    if ((!is_unlimited && !in_range(concurrency, 1)) || (!is_default_queue && !in_range(queue_limit, 2))) {
        return;
    }
    GroupLimits limits;
    limits.concurrency = is_unlimited ? 0 : static_cast<std::uint32_t>(concurrency);
    if (!is_default_queue) {
        limits.queue_limit = static_cast<std::uint32_t>(queue_limit);
    }
    GroupData& self = GroupObject::of(ZEND_THIS);
    ScopeEvent* parent = scope != nullptr ? scope_of(scope) : &scope_here();
    if (parent == nullptr || self.group != nullptr) {
        return;
    }
    if (scope != nullptr) {
        GC_ADDREF(scope);
        self.scope = Value::adopt(scope);
    }
    const Place place = place_here(self.file);
    self.group = make_ref<PhpGroup>(kind, limits, parent, place);
    if (scope != nullptr) {
        note_group(*self.group);
    }
}

void spawn_task(zval* self, const Task& given, std::optional<TaskKey> key) {
    const Ref<PhpGroup> group(group_of(Z_OBJ_P(self)));
    if (group == nullptr || !may_suspend()) {
        return;
    }
    PhpCoroutine* task = make_coroutine(given);
    task->keeps_value = true;
    has_arrived(group->spawn(Ref<Coroutine>::adopt(task), std::move(key)));
}

void return_future(Ref<PhpFuture> future, PhpGroup& group, zval* return_value) {
    ZVAL_OBJ(return_value, make_future(std::move(future), group));
}

#define TA_GROUP_SELF                                     \
    PhpGroup* const group = group_of(Z_OBJ_P(ZEND_THIS)); \
    if (group == nullptr) {                               \
        return;                                           \
    }

/// `all` and `joinAll`.
void ask_all(INTERNAL_FUNCTION_PARAMETERS) {
    bool ignores_errors = false;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(ignores_errors)
    ZEND_PARSE_PARAMETERS_END();
    TA_GROUP_SELF
    return_future(group->ask_for_all(ignores_errors), *group, return_value);
}

void ask_first(INTERNAL_FUNCTION_PARAMETERS, const char* refusal) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    Ref<PhpFuture> future;
    if (check(group->ask_for_first(future, refusal))) {
        return_future(std::move(future), *group, return_value);
    }
}

void ask_success(INTERNAL_FUNCTION_PARAMETERS, const char* refusal) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    Ref<PhpFuture> future;
    if (check(group->ask_for_success(future, refusal))) {
        return_future(std::move(future), *group, return_value);
    }
}

void refuse_iterator(zend_class_entry* ce) {
    zend_throw_error(
        nullptr, "An object of class %s is not a traversable object in an invalid state", ZSTR_VAL(ce->name)
    );
}

void prepare_class(zend_class_entry* ce) {
    GroupObject::register_class(ce);
    ce->get_iterator = get_iterator;
    add_awaitable(ce, [](zend_object* object) -> Event* { return group_of(object); });
}

}  // namespace

void register_task_group() {
    ce_task_group = register_class_Async_TaskGroup(ce_awaitable, zend_ce_countable, zend_ce_aggregate);
    ce_task_set = register_class_Async_TaskSet(ce_awaitable, zend_ce_countable, zend_ce_aggregate);
    prepare_class(ce_task_group);
    prepare_class(ce_task_set);
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

ZEND_METHOD(Async_TaskGroup, __construct) { construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, GroupKind::Group); }
ZEND_METHOD(Async_TaskSet, __construct) { construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, GroupKind::Set); }

ZEND_METHOD(Async_TaskGroup, all) { ask_all(INTERNAL_FUNCTION_PARAM_PASSTHRU); }
ZEND_METHOD(Async_TaskSet, joinAll) { ask_all(INTERNAL_FUNCTION_PARAM_PASSTHRU); }
ZEND_METHOD(Async_TaskGroup, race) { ask_first(INTERNAL_FUNCTION_PARAM_PASSTHRU, "Cannot race on an empty TaskGroup"); }
ZEND_METHOD(Async_TaskSet, joinNext) {
    ask_first(INTERNAL_FUNCTION_PARAM_PASSTHRU, "Cannot call joinNext() on an empty TaskSet");
}
ZEND_METHOD(Async_TaskGroup, any) {
    ask_success(INTERNAL_FUNCTION_PARAM_PASSTHRU, "Cannot call any() on an empty TaskGroup");
}
ZEND_METHOD(Async_TaskSet, joinAny) {
    ask_success(INTERNAL_FUNCTION_PARAM_PASSTHRU, "Cannot call joinAny() on an empty TaskSet");
}

ZEND_METHOD(Async_TaskGroup, getResults) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    array_init(return_value);
    group->each_settled([&](const TaskKey& key, Error*, void* value) {
        if (value != nullptr) {
            zval copy;
            ZVAL_COPY(&copy, static_cast<Value*>(value)->get());
            put(return_value, key, &copy);
        }
    });
}

ZEND_METHOD(Async_TaskGroup, getErrors) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    array_init(return_value);
    group->each_settled([&](const TaskKey& key, Error* error, void*) {
        if (error != nullptr) {
            zval exception;
            ZVAL_OBJ(&exception, to_exception(*error));
            put(return_value, key, &exception);
        }
    });
}

ZEND_METHOD(Async_TaskGroup, suppressErrors) { ZEND_PARSE_PARAMETERS_NONE(); }

// What both classes do alike.
#define TA_GROUP_BOTH(method, body)                                              \
    ZEND_METHOD(Async_TaskGroup, method) body ZEND_METHOD(Async_TaskSet, method) \
    body

TA_GROUP_BOTH(spawn, {
    Task task;
    ZEND_PARSE_PARAMETERS_START(1, -1)
    TA_PARAM_TASK(task)
    ZEND_PARSE_PARAMETERS_END();
    spawn_task(ZEND_THIS, task, {});
})

TA_GROUP_BOTH(spawnWithKey, {
    zend_string* name = nullptr;
    zend_long number = 0;
    Task task;
    ZEND_PARSE_PARAMETERS_START(2, -1)
    Z_PARAM_STR_OR_LONG(name, number)
    TA_PARAM_TASK(task)
    ZEND_PARSE_PARAMETERS_END();
    zend_ulong index = 0;
    if (name != nullptr && ZEND_HANDLE_NUMERIC(name, index)) {  // as in an array, where the results go
        number = static_cast<zend_long>(index);
        name = nullptr;
    }
    spawn_task(
        ZEND_THIS, task, name != nullptr ? TaskKey(std::string_view(ZSTR_VAL(name), ZSTR_LEN(name))) : TaskKey(number)
    );
})

TA_GROUP_BOTH(cancel, {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    TA_GROUP_SELF
    group->cancel(make_cancellation(cancellation, "TaskGroup cancelled"));
})

TA_GROUP_BOTH(close, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    group->shut();
})

TA_GROUP_BOTH(dispose, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    group->dispose_scope();
})

TA_GROUP_BOTH(isFinished, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    RETURN_BOOL(group->is_finished());
})

TA_GROUP_BOTH(isClosed, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    RETURN_BOOL(group->is_shut());
})

TA_GROUP_BOTH(count, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    RETURN_LONG(static_cast<zend_long>(group->count()));
})

TA_GROUP_BOTH(awaitCompletion, {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_GROUP_SELF
    if (may_suspend()) {
        const Ref<PhpGroup> held(group);
        has_arrived(held->await_completion());
    }
})

TA_GROUP_BOTH(finally, {
    zval* closure = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(closure, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    TA_GROUP_SELF
    std::unique_ptr<FinallyHandler> handler = make_finally(closure, Z_OBJ_P(ZEND_THIS));
    if (!group->add_finally(handler)) {
        call_finally_now(*handler);
    }
})

TA_GROUP_BOTH(getIterator, {
    ZEND_PARSE_PARAMETERS_NONE();
    refuse_iterator(Z_OBJCE_P(ZEND_THIS));
})
#undef TA_GROUP_BOTH
