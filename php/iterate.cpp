/// `Async\iterate`.

#include "classes/scope.hpp"
#include "engine/request.hpp"
#include "error.hpp"
#include "value.hpp"

#include <trueasync/structured/iterate.hpp>

#include <cstdint>

using namespace trueasync;
using namespace trueasync::php;

namespace {

/// Calls the callback with one element.
class Item final : public IterationItem {
public:
    Item(Callable& callable, Value value, Value key)
        : callable_(callable), value_(std::move(value)), key_(std::move(key)) {}

    bool call(Ref<Error>& error) override {
        zval arguments[2];
        ZVAL_COPY_VALUE(&arguments[0], value_.get());
        ZVAL_COPY_VALUE(&arguments[1], key_.get());
        Value result;
        if (!callable_.call(result.get(), 2, arguments)) {
            error = take_exception();
            return false;
        }
        return Z_TYPE_P(result.get()) != IS_FALSE;
    }

private:
    Callable callable_;
    Value value_;
    Value key_;
};

class ArrayIteration final : public Iteration {
public:
    ArrayIteration(zval* array, Callable callable) : array_(array), callable_(std::move(callable)) {
        zend_hash_internal_pointer_reset_ex(Z_ARRVAL_P(array_.get()), &position_);
    }

    std::unique_ptr<IterationItem> next(Ref<Error>& /*error*/) override {
        HashTable* table = Z_ARRVAL_P(array_.get());
        zval* value = zend_hash_get_current_data_ex(table, &position_);
        if (value == nullptr) {
            return nullptr;
        }
        Value key;
        zend_hash_get_current_key_zval_ex(table, key.get(), &position_);
        zend_hash_move_forward_ex(table, &position_);
        return std::make_unique<Item>(callable_, Value(value), std::move(key));
    }

private:
    Value array_;
    Callable callable_;
    HashPosition position_ = 0;
};

class TraversableIteration final : public Iteration {
public:
    TraversableIteration(zend_object_iterator* iterator, Callable callable)
        : iterator_(iterator), callable_(std::move(callable)) {}
    ~TraversableIteration() override {
        const ExceptionPause pause;
        zend_iterator_dtor(iterator_);
    }

    std::unique_ptr<IterationItem> next(Ref<Error>& error) override {
        std::unique_ptr<IterationItem> item = advance();
        if (EG(exception) != nullptr) {
            error = take_exception();
            return nullptr;
        }
        return item;
    }

private:
    std::unique_ptr<IterationItem> advance() {
        if (iterator_->index++ == 0) {
            if (iterator_->funcs->rewind != nullptr) {
                iterator_->funcs->rewind(iterator_);
            }
        } else {
            iterator_->funcs->move_forward(iterator_);
        }
        if (EG(exception) != nullptr || iterator_->funcs->valid(iterator_) != SUCCESS || EG(exception) != nullptr) {
            return nullptr;
        }
        zval* value = iterator_->funcs->get_current_data(iterator_);
        if (value == nullptr || EG(exception) != nullptr) {
            return nullptr;
        }
        Value held(value);
        Value key;
        if (iterator_->funcs->get_current_key != nullptr) {
            iterator_->funcs->get_current_key(iterator_, key.get());
        } else {
            ZVAL_LONG(key.get(), static_cast<zend_long>(iterator_->index - 1));
        }
        return std::make_unique<Item>(callable_, std::move(held), std::move(key));
    }

    zend_object_iterator* iterator_;
    Callable callable_;
};

}  // namespace

ZEND_FUNCTION(Async_iterate) {
    zval* iterable = nullptr;
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zend_long concurrency = 0;
    bool cancels_pending = true;
    ZEND_PARSE_PARAMETERS_START(2, 4)
    Z_PARAM_ITERABLE(iterable)
    Z_PARAM_FUNC(call, cache)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(concurrency)
    Z_PARAM_BOOL(cancels_pending)
    ZEND_PARSE_PARAMETERS_END();
    if (concurrency < 0 || concurrency > INT32_MAX) {
        zend_argument_value_error(3, "must be between 0 and %d", INT32_MAX);
        return;
    }
    if (!may_suspend()) {
        return;
    }
    std::unique_ptr<Iteration> iteration;
    if (Z_TYPE_P(iterable) == IS_ARRAY) {
        iteration = std::make_unique<ArrayIteration>(iterable, Callable(call, cache));
    } else {
        zend_object_iterator* iterator = Z_OBJCE_P(iterable)->get_iterator(Z_OBJCE_P(iterable), iterable, 0);
        if (iterator == nullptr || EG(exception) != nullptr) {
            if (iterator != nullptr) {
                zend_iterator_dtor(iterator);
            }
            return;
        }
        iterator->index = 0;
        iteration = std::make_unique<TraversableIteration>(iterator, Callable(call, cache));
    }
    IterateSettings settings;
    settings.concurrency = static_cast<std::uint32_t>(concurrency);
    settings.cancels_pending = cancels_pending;
    has_arrived(iterate(*iteration, settings, current_scope()));
}
