#include "pool.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../stubs/pool_arginfo.h"
#include "exceptions.hpp"

#include <chrono>
#include <optional>
#include <trueasync/sync/pool.hpp>

namespace trueasync::php {

namespace {

zend_class_entry* ce_pool = nullptr;
zend_class_entry* ce_breaker_state = nullptr;
zend_class_entry* ce_breaker = nullptr;
zend_class_entry* ce_breaker_strategy = nullptr;

/// The callables that PHP code gave. A pool that is being freed calls them too.
class PhpHooks final : public PoolHooks<Value> {
public:
    Callable factory;
    Callable destructor;
    Callable healthcheck;
    Callable before_acquire;
    Callable before_release;

    Ref<Error> create(std::optional<Value>& slot) override {
        Value made;
        const ExceptionPause pause;
        if (!factory.call(made.get())) {
            return take_exception();
        }
        slot.emplace(std::move(made));
        return {};
    }

    Ref<Error> destroy(Value& resource) override {
        if (!destructor.is_set()) {
            return {};
        }
        Value ignored;
        const ExceptionPause pause;
        return destructor.call(ignored.get(), 1, resource.get()) ? Ref<Error>() : take_exception();
    }

    Ref<Error> check(PoolCheck question, Value& resource, bool& answer) override {
        Callable& callable = question == PoolCheck::Health          ? healthcheck
                             : question == PoolCheck::BeforeAcquire ? before_acquire
                                                                    : before_release;
        answer = true;
        Value verdict;
        const ExceptionPause pause;
        if (!callable.call(verdict.get(), 1, resource.get())) {
            return take_exception();
        }
        answer = zend_is_true(verdict.get()) != 0;
        return {};
    }

    template <typename Visit>
    void each(Visit&& visit) {
        for (Callable* callable : {&factory, &destructor, &healthcheck, &before_acquire, &before_release}) {
            visit(*callable);
        }
    }
};

/// A strategy that PHP code has written.
class PhpStrategy final : public CircuitBreakerStrategy {
public:
    PhpStrategy(zend_object* strategy, zend_object* pool) : pool_(pool) {
        GC_ADDREF(strategy);
        object = Value::adopt(strategy);
    }

    Ref<Error> report_success(PoolEvent& /*source*/) override {
        zval source;
        ZVAL_OBJ(&source, pool_);
        return call("reportSuccess", 1, &source, nullptr, nullptr);
    }
    Ref<Error> report_failure(PoolEvent& /*source*/, Error& error) override {
        zval source;
        ZVAL_OBJ(&source, pool_);
        zend_object* thrown = PhpError::thrown_by(&error);
        if (thrown != nullptr) {
            GC_ADDREF(thrown);
        } else {
            thrown = make_exception(zend_ce_exception, error.message().c_str());
        }
        zval exception;
        ZVAL_OBJ(&exception, thrown);
        Ref<Error> failure = call("reportFailure", 2, &source, &exception, nullptr);
        zval_ptr_dtor(&exception);
        return failure;
    }
    Ref<Error> should_recover(bool& answer) override {
        Value verdict;
        Ref<Error> failure = call("shouldRecover", 0, nullptr, nullptr, &verdict);
        answer = failure == nullptr && zend_is_true(verdict.get()) != 0;
        return failure;
    }

    Value object;  // shown to the cycle collector

private:
    Ref<Error> call(const char* method, int count, zval* first, zval* second, Value* result) {
        Value ignored;
        zend_object* strategy = Z_OBJ_P(object.get());
        const ExceptionPause pause;
        zend_call_method(
            strategy, strategy->ce, nullptr, method, strlen(method), (result != nullptr ? result : &ignored)->get(),
            count, first, second
        );
        return EG(exception) == nullptr ? Ref<Error>() : take_exception();
    }

    zend_object* pool_;  // the pool's object has the pool, which has this
};

struct PoolData {
    Ref<PoolOf<Value>> pool;

    void dropped() {
        if (const Ref<PoolOf<Value>> held = pool; held != nullptr && !held->is_shut()) {
            check(held->close());
        }
    }
    void show(Shown& shown) {
        if (pool == nullptr || pool->ref_count() != 1) {
            return;
        }
        pool->each_value([&](Value& value) { shown.add(value); });
        static_cast<PhpHooks&>(pool->hooks()).each([&](Callable& callable) { shown.add(callable); });
        if (pool->strategy() != nullptr) {
            shown.add(static_cast<PhpStrategy&>(*pool->strategy()).object);
        }
    }
};
using PoolObject = ObjectOf<PoolData>;

/// Null: it threw, since the constructor was not called or has failed.
PoolOf<Value>* pool_of(zval* object) {
    PoolOf<Value>* pool = PoolObject::of(object).pool.get();
    if (UNEXPECTED(pool == nullptr)) {
        zend_throw_exception(ce_pool_exception, "The pool was not constructed", 0);
    }
    return pool;
}

}  // namespace

void register_pool() {
    ce_pool_exception = register_class_Async_PoolException(ce_async_exception);
    ce_breaker_state = register_class_Async_CircuitBreakerState();
    ce_breaker = register_class_Async_CircuitBreaker();
    ce_breaker_strategy = register_class_Async_CircuitBreakerStrategy();
    ce_pool = register_class_Async_Pool(zend_ce_countable, ce_breaker);
    PoolObject::register_class(ce_pool);
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

#define TA_POOL_SELF                                \
    PoolOf<Value>* const pool = pool_of(ZEND_THIS); \
    if (pool == nullptr) {                          \
        return;                                     \
    }

ZEND_METHOD(Async_Pool, __construct) {
    zend_fcall_info calls[5] = {
        empty_fcall_info, empty_fcall_info, empty_fcall_info, empty_fcall_info, empty_fcall_info};
    zend_fcall_info_cache caches[5] = {
        empty_fcall_info_cache, empty_fcall_info_cache, empty_fcall_info_cache, empty_fcall_info_cache,
        empty_fcall_info_cache};
    zend_long min = 0;
    zend_long max = 10;
    zend_long interval = 0;
    ZEND_PARSE_PARAMETERS_START(1, 8)
    Z_PARAM_FUNC(calls[0], caches[0])
    Z_PARAM_OPTIONAL
    Z_PARAM_FUNC_OR_NULL(calls[1], caches[1])
    Z_PARAM_FUNC_OR_NULL(calls[2], caches[2])
    Z_PARAM_FUNC_OR_NULL(calls[3], caches[3])
    Z_PARAM_FUNC_OR_NULL(calls[4], caches[4])
    Z_PARAM_LONG(min)
    Z_PARAM_LONG(max)
    Z_PARAM_LONG(interval)
    ZEND_PARSE_PARAMETERS_END();
    if (min < 0) {
        zend_argument_value_error(6, "must be >= 0");
        return;
    }
    if (max < 1) {
        zend_argument_value_error(7, "must be >= 1");
        return;
    }
    if (min > max) {
        zend_argument_value_error(6, "must be <= max");
        return;
    }
    if (interval < 0) {
        zend_argument_value_error(8, "must be >= 0");
        return;
    }
    auto hooks = std::make_unique<PhpHooks>();
    Callable* const callables[] = {
        &hooks->factory, &hooks->destructor, &hooks->healthcheck, &hooks->before_acquire, &hooks->before_release};
    for (int i = 0; i < 5; ++i) {
        if (ZEND_FCI_INITIALIZED(calls[i])) {
            *callables[i] = Callable(calls[i], caches[i]);
        }
    }
    PoolSettings settings;
    settings.min = static_cast<std::size_t>(min);
    settings.max = static_cast<std::size_t>(max);
    settings.has_healthcheck = hooks->healthcheck.is_set();
    settings.has_before_acquire = hooks->before_acquire.is_set();
    settings.has_before_release = hooks->before_release.is_set();
    if (settings.has_healthcheck && interval > 0) {
        settings.healthcheck_interval = std::chrono::milliseconds(interval);
        if (!start()) {
            return;
        }
    }
    PoolData& self = PoolObject::of(ZEND_THIS);
    if (self.pool == nullptr) {
        self.pool = make_ref<PoolOf<Value>>(settings, std::move(hooks));
        const Ref<PoolOf<Value>> held = self.pool;
        check(held->open());
    }
}

ZEND_METHOD(Async_Pool, acquire) {
    zend_long timeout = 0;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(timeout)
    ZEND_PARSE_PARAMETERS_END();
    TA_POOL_SELF
    if (!may_suspend()) {
        return;
    }
    const Ref<PoolOf<Value>> held(pool);
    std::optional<Value> resource;
    const WaitLimit limit = timeout > 0 ? WaitLimit(Deadline::after(std::chrono::milliseconds(timeout))) : WaitLimit();
    const WaitResult result = held->acquire(resource, limit);
    if (result == WaitResult::TimedOut) {
        zend_throw_exception_ex(
            ce_timeout_exception, 0, "No resource of the pool became free in %lld milliseconds",
            static_cast<long long>(timeout)
        );
    } else if (has_arrived(result)) {
        resource->move_to(return_value);
    }
}

ZEND_METHOD(Async_Pool, tryAcquire) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_POOL_SELF
    const Ref<PoolOf<Value>> held(pool);
    std::optional<Value> resource;
    if (check(held->try_acquire(resource)) && resource.has_value()) {
        resource->move_to(return_value);
    }
}

ZEND_METHOD(Async_Pool, release) {
    zval* resource = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(resource)
    ZEND_PARSE_PARAMETERS_END();
    TA_POOL_SELF
    const Ref<PoolOf<Value>> held(pool);
    check(held->give_back(Value(resource)));
}

ZEND_METHOD(Async_Pool, close) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_POOL_SELF
    const Ref<PoolOf<Value>> held(pool);
    check(held->close());
}

ZEND_METHOD(Async_Pool, setCircuitBreakerStrategy) {
    zend_object* strategy = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(strategy, ce_breaker_strategy)
    ZEND_PARSE_PARAMETERS_END();
    TA_POOL_SELF
    pool->set_strategy(strategy != nullptr ? std::make_shared<PhpStrategy>(strategy, Z_OBJ_P(ZEND_THIS)) : nullptr);
}

ZEND_METHOD(Async_Pool, getState) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_POOL_SELF
    static constexpr const char* kCases[] = {"ACTIVE", "INACTIVE", "RECOVERING"};
    RETURN_OBJ_COPY(zend_enum_get_case_cstr(ce_breaker_state, kCases[static_cast<int>(pool->breaker_state())]));
}

#define TA_POOL_TELLS(method, statement) \
    ZEND_METHOD(Async_Pool, method) {    \
        ZEND_PARSE_PARAMETERS_NONE();    \
        TA_POOL_SELF                     \
        statement;                       \
    }
TA_POOL_TELLS(isClosed, RETURN_BOOL(pool->is_shut()))
TA_POOL_TELLS(count, RETURN_LONG(static_cast<zend_long>(pool->count())))
TA_POOL_TELLS(idleCount, RETURN_LONG(static_cast<zend_long>(pool->idle_count())))
TA_POOL_TELLS(activeCount, RETURN_LONG(static_cast<zend_long>(pool->active_count())))
TA_POOL_TELLS(activate, pool->activate())
TA_POOL_TELLS(deactivate, pool->deactivate())
TA_POOL_TELLS(recover, pool->recover())
#undef TA_POOL_TELLS
