/// The six `await_*` functions.

#include "classes/awaitable.hpp"
#include "classes/coroutine.hpp"
#include "classes/exceptions.hpp"
#include "classes/scope.hpp"
#include "engine/request.hpp"
#include "error.hpp"
#include "value.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <trueasync/sync/multi_wait.hpp>
#include <vector>

using namespace trueasync;
using namespace trueasync::php;

namespace {

struct Question {
    zval* triggers = nullptr;
    zend_object* token = nullptr;
    std::size_t enough = MultiWait::kAll;
    bool fails_fast = false;
    bool keeps_order = true;
    bool fills_null = false;
};

/// Null: it threw.
Event* event_of_trigger(zval* trigger) {
    ZVAL_DEREF(trigger);
    if (Z_TYPE_P(trigger) != IS_OBJECT || !instanceof_function(Z_OBJCE_P(trigger), ce_awaitable)) {
        zend_throw_exception_ex(
            ce_async_exception, 0, "Expected an item of type Async\\Awaitable, %s given", zend_zval_type_name(trigger)
        );
        return nullptr;
    }
    return event_of(Z_OBJ_P(trigger));
}

/// False: it threw.
bool is_iterable(const zval* triggers) {
    if (Z_TYPE_P(triggers) != IS_ARRAY &&
        (Z_TYPE_P(triggers) != IS_OBJECT || !instanceof_function(Z_OBJCE_P(triggers), zend_ce_traversable))) {
        zend_throw_exception(
            ce_async_exception, "Expected parameter 'iterable' to be an array or an object implementing Traversable", 0
        );
        return false;
    }
    return true;
}

/// A wait for what an iterable gives, with the keys it gave. Shared with the coroutine that walks a `Traversable`, which may last longer.
class Gathering {
public:
    Gathering(std::size_t enough, bool fails_fast) { wait_.emplace(enough, fails_fast); }

    bool is_over() const noexcept { return !wait_.has_value(); }
    void end() noexcept { wait_.reset(); }
    MultiWait& wait() noexcept { return *wait_; }
    Value& key(std::size_t number) noexcept { return keys_[number]; }

    /// Observes `trigger`. False: it threw.
    bool add(zval* trigger, Value key) {
        Event* event = event_of_trigger(trigger);
        if (event == nullptr || !check(wait_->add(*event))) {
            return false;
        }
        keys_.push_back(std::move(key));
        return true;
    }

private:
    std::optional<MultiWait> wait_;
    std::vector<Value> keys_;
};

/// Walks a `Traversable` in a coroutine of its own, so that its methods may suspend.
class Walk final : public HelperBody {
public:
    Walk(std::shared_ptr<Gathering> gathering, zval* iterable, Ref<ScopeEvent> scope)
        : gathering_(std::move(gathering)), iterable_(iterable), scope_(std::move(scope)) {}
    ~Walk() override {
        if (coroutine != nullptr && !has_begun_ && !gathering_->is_over()) {
            gathering_->wait().abort(Ref<Error>(coroutine->error()));
        }
    }

    bool is_called() const noexcept override { return true; }

    Ref<Error> run() override {
        has_begun_ = true;
        zend_object_iterator* iterator =
            Z_OBJCE_P(iterable_.get())->get_iterator(Z_OBJCE_P(iterable_.get()), iterable_.get(), 0);
        if (iterator != nullptr && EG(exception) == nullptr) {
            walk(*iterator);
        }
        if (iterator != nullptr) {
            const ExceptionPause pause;
            zend_iterator_dtor(iterator);
        }
        iterable_.reset();
        if (gathering_->is_over()) {
            zend_clear_exception();
        } else if (EG(exception) != nullptr) {
            Ref<Error> error = take_exception();
            scope_->cancel(make_cancellation(nullptr, "Scope was cancelled")
            );  // what it has produced does not begin any more
            gathering_->wait().abort(std::move(error));
        } else {
            gathering_->wait().seal();
        }
        return {};
    }

    const Coroutine* coroutine = nullptr;

private:
    void walk(zend_object_iterator& iterator) {
        iterator.index = 0;
        if (iterator.funcs->rewind != nullptr) {
            iterator.funcs->rewind(&iterator);
        }
        while (EG(exception) == nullptr && !gathering_->is_over() && iterator.funcs->valid(&iterator) == SUCCESS) {
            zval* trigger = EG(exception) == nullptr ? iterator.funcs->get_current_data(&iterator) : nullptr;
            if (trigger == nullptr || EG(exception) != nullptr) {
                return;
            }
            const Value held(trigger);
            Value key;
            if (iterator.funcs->get_current_key != nullptr) {
                iterator.funcs->get_current_key(&iterator, key.get());
            } else {
                ZVAL_LONG(key.get(), static_cast<zend_long>(iterator.index));
            }
            if (EG(exception) != nullptr || gathering_->is_over()) {
                return;
            }
            const auto type = Z_TYPE_P(key.get());
            if (type != IS_LONG && type != IS_STRING && type != IS_NULL && type != IS_UNDEF) {
                zend_throw_exception(ce_async_exception, "Invalid key type: must be string, long or null", 0);
                return;
            }
            if (!gathering_->add(const_cast<zval*>(held.get()), std::move(key))) {
                return;
            }
            ++iterator.index;
            iterator.funcs->move_forward(&iterator);
        }
    }

    std::shared_ptr<Gathering> gathering_;
    Value iterable_;
    Ref<ScopeEvent> scope_;  // of what the iterator spawns
    bool has_begun_ = false;
};

void put(zval* array, Value& key, Value value) {
    zval plain;
    value.move_to(&plain);
    switch (Z_TYPE_P(key.get())) {
        case IS_STRING:
            zend_symtable_update(Z_ARRVAL_P(array), Z_STR_P(key.get()), &plain);
            break;
        case IS_LONG:
            zend_hash_index_update(Z_ARRVAL_P(array), static_cast<zend_ulong>(Z_LVAL_P(key.get())), &plain);
            break;
        default:
            zend_hash_next_index_insert(Z_ARRVAL_P(array), &plain);
    }
}

Value value_of(Event& event) {
    void* result = nullptr;
    event.replay(nullptr, &result, nullptr);
    return result != nullptr && Z_TYPE_P(static_cast<zval*>(result)) != IS_UNDEF ? Value(static_cast<zval*>(result))
                                                                                 : Value::null();
}

/// Waits as asked. Null: it threw. What it returns is to be ended.
std::shared_ptr<Gathering> gather(const Question& question) {
    const bool is_array = Z_TYPE_P(question.triggers) == IS_ARRAY;
    if (!is_iterable(question.triggers) || !may_suspend()) {
        return nullptr;
    }
    WaitLimit limit;
    if (!limit_of(question.token, limit)) {
        return nullptr;
    }
    auto gathering = std::make_shared<Gathering>(question.enough, question.fails_fast);
    Ref<Coroutine> walker;
    if (is_array) {
        zend_ulong index = 0;
        zend_string* name = nullptr;
        zval* trigger = nullptr;
        ZEND_HASH_FOREACH_KEY_VAL(Z_ARRVAL_P(question.triggers), index, name, trigger) {
            Value key;
            if (name != nullptr) {
                ZVAL_STR_COPY(key.get(), name);
            } else {
                ZVAL_LONG(key.get(), static_cast<zend_long>(index));
            }
            if (!gathering->add(trigger, std::move(key))) {
                return nullptr;
            }
        }
        ZEND_HASH_FOREACH_END();
    } else {
        gathering->wait().keep_open();
        const Ref<ScopeEvent> scope = ScopeEvent::create(current_scope());
        auto body = std::make_unique<Walk>(gathering, question.triggers, scope);
        Walk& walk = *body;
        if (!check(request.runtime->scheduler().spawn_helper(
                std::move(body), Place(), Priority::Normal, scope.get(), &walker
            ))) {
            return nullptr;
        }
        walk.coroutine = walker.get();
    }
    const bool has_come = has_arrived(gathering->wait().wait(limit));
    if (walker != nullptr && !walker->is_finished()) {
        request.runtime->scheduler().cancel(*walker, {});
    }
    if (!has_come) {
        gathering->end();
        return nullptr;
    }
    return gathering;
}

/// Results and errors of a gathering that is over, by key.
void collect(Gathering& gathering, const Question& question, zval* results, zval* errors) {
    MultiWait& wait = gathering.wait();
    std::vector<std::size_t> order = wait.order();
    if (question.keeps_order) {
        std::sort(order.begin(), order.end());
    }
    for (const std::size_t number : order) {
        Error* error = wait.error(number);
        if (error == nullptr) {
            put(results, gathering.key(number), value_of(wait.event(number)));
            continue;
        }
        if (question.fills_null) {
            put(results, gathering.key(number), Value::null());
        }
        if (errors != nullptr) {
            put(errors, gathering.key(number), Value::adopt(to_exception(*error)));
        }
    }
}

/// `[results, errors]`, or the results alone when the first error is thrown.
void answer(const Question& question, zval* return_value) {
    const std::shared_ptr<Gathering> gathering = gather(question);
    if (gathering == nullptr) {
        return;
    }
    if (question.fails_fast) {
        if (Error* error = gathering->wait().first_error()) {
            throw_in_php(*error);
        } else {
            array_init(return_value);
            collect(*gathering, question, return_value, nullptr);
        }
    } else {
        zval results;
        zval errors;
        array_init(&results);
        array_init(&errors);
        collect(*gathering, question, &results, &errors);
        array_init_size(return_value, 2);
        add_next_index_zval(return_value, &results);
        add_next_index_zval(return_value, &errors);
    }
    gathering->end();
}

/// For none of them nobody waits, but they have been given to somebody. False: it threw.
bool use_without_waiting(const Question& question) {
    WaitLimit limit;
    if (!is_iterable(question.triggers) || !limit_of(question.token, limit)) {
        return false;
    }
    if (Z_TYPE_P(question.triggers) == IS_ARRAY) {
        zval* trigger = nullptr;
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(question.triggers), trigger) {
            Event* event = event_of_trigger(trigger);
            if (event == nullptr) {
                return false;
            }
            event->mark_result_used();
        }
        ZEND_HASH_FOREACH_END();
    }
    return true;
}

}  // namespace

ZEND_FUNCTION(Async_await_any_or_fail) {
    Question question;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    ZEND_PARSE_PARAMETERS_END();
    question.enough = 1;
    question.fails_fast = true;
    const std::shared_ptr<Gathering> gathering = gather(question);
    if (gathering == nullptr) {
        return;
    }
    MultiWait& wait = gathering->wait();
    if (!wait.order().empty()) {
        const std::size_t first = wait.order().front();
        if (Error* error = wait.error(first)) {
            throw_in_php(*error);
        } else {
            value_of(wait.event(first)).move_to(return_value);
        }
    }
    gathering->end();
}

ZEND_FUNCTION(Async_await_first_success) {
    Question question;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    ZEND_PARSE_PARAMETERS_END();
    question.enough = 1;
    const std::shared_ptr<Gathering> gathering = gather(question);
    if (gathering == nullptr) {
        return;
    }
    MultiWait& wait = gathering->wait();
    Value winner = Value::null();
    zval errors;
    array_init(&errors);
    for (const std::size_t number : wait.order()) {
        if (Error* error = wait.error(number)) {
            put(&errors, gathering->key(number), Value::adopt(to_exception(*error)));
        } else {
            winner = value_of(wait.event(number));
            break;
        }
    }
    array_init_size(return_value, 2);
    zval value;
    winner.move_to(&value);
    add_next_index_zval(return_value, &value);
    add_next_index_zval(return_value, &errors);
    gathering->end();
}

ZEND_FUNCTION(Async_await_all_or_fail) {
    Question question;
    question.fails_fast = true;
    ZEND_PARSE_PARAMETERS_START(1, 3)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    Z_PARAM_BOOL(question.keeps_order)
    ZEND_PARSE_PARAMETERS_END();
    answer(question, return_value);
}

ZEND_FUNCTION(Async_await_all) {
    Question question;
    ZEND_PARSE_PARAMETERS_START(1, 4)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    Z_PARAM_BOOL(question.keeps_order)
    Z_PARAM_BOOL(question.fills_null)
    ZEND_PARSE_PARAMETERS_END();
    answer(question, return_value);
}

ZEND_FUNCTION(Async_await_any_of_or_fail) {
    Question question;
    zend_long count = 0;
    question.fails_fast = true;
    ZEND_PARSE_PARAMETERS_START(2, 4)
    Z_PARAM_LONG(count)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    Z_PARAM_BOOL(question.keeps_order)
    ZEND_PARSE_PARAMETERS_END();
    if (count <= 0) {
        if (use_without_waiting(question)) {
            RETVAL_EMPTY_ARRAY();
        }
        return;
    }
    question.enough = static_cast<std::size_t>(count);
    answer(question, return_value);
}

ZEND_FUNCTION(Async_await_any_of) {
    Question question;
    zend_long count = 0;
    ZEND_PARSE_PARAMETERS_START(2, 5)
    Z_PARAM_LONG(count)
    Z_PARAM_ZVAL(question.triggers)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(question.token, ce_awaitable)
    Z_PARAM_BOOL(question.keeps_order)
    Z_PARAM_BOOL(question.fills_null)
    ZEND_PARSE_PARAMETERS_END();
    question.enough = static_cast<std::size_t>(count > 0 ? count : 0);
    answer(question, return_value);
}
