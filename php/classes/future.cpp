#include "future.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../place.hpp"
#include "../stubs/future_arginfo.h"
#include "awaitable.hpp"
#include "exceptions.hpp"

#include <cstdint>
#include <memory>

namespace trueasync::php {

namespace {

/// Keeps the source of a derived future as long as that is pending. Held by the object that PHP code has, not by the future, which its
/// source holds.
struct Origin {
    Value source;  // an object
};

void suspect_chain(FutureOf<Value>& future);

/// Both classes look the same inside.
struct FutureData {
    Ref<FutureOf<Value>> future;  // null for a reader of a state, which has it
    Value state;
    Value file;
    GroupEvent* asked = nullptr;     // lives as long as its answer is pending
    std::shared_ptr<Origin> origin;  // of a derived one
    enum class Owner : std::uint8_t { This, Other, Received } owner = Owner::This;  // which thread completes a state

    ~FutureData();
    FutureOf<Value>* completion() noexcept;
    void show(Shown& shown) {
        shown.add(state);
        if (origin != nullptr) {
            shown.add(origin->source);
        }
        if (future != nullptr) {
            show_future(*future, 1, shown);
        }
    }
};
using FutureObject = ObjectOf<FutureData>;

FutureData::~FutureData() {
    if (future != nullptr && !future->is_completed() && future->callback_count() != 0) {
        suspect_chain(*future);
    }
    if (origin != nullptr) {
        static_cast<PhpFuture&>(*future).has_object = false;
    }
    if (asked != nullptr && future != nullptr && !future->is_completed()) {
        asked->forget(*future);
    }
}

FutureOf<Value>* FutureData::completion() noexcept {
    return state.is_set() ? FutureObject::of(state.get()).future.get() : future.get();
}

/// One link of a chain, run in a coroutine of its own.
class PhpLink final : public Continuation {
public:
    enum class Kind : std::uint8_t { Map, Catch, Finally };

    PhpLink(Kind kind, Callable callable, Ref<PhpFuture> target, std::weak_ptr<Origin> origin)
        : kind_(kind), callable_(std::move(callable)), target_(std::move(target)), origin_(std::move(origin)) {}

    bool applies(const Error* error) const noexcept override {
        return kind_ == Kind::Finally || (kind_ == Kind::Map) == (error == nullptr);
    }
    bool takes_error() const noexcept override { return kind_ != Kind::Finally; }

    void pass(FutureEvent& source) noexcept override {
        let_origin_go();
        if (!target_->completed_at().is_known()) {
            target_->completing_at(source.completed_at());
        }
        if (source.error() != nullptr) {
            target_->fail(Ref<Error>(source.error())).ignore();
        } else {
            target_->complete(Value(static_cast<Value*>(source.value())->get())).ignore();
        }
    }

    Ref<Error> run() override {
        FutureEvent& source = *this->source();
        let_origin_go();
        Value argument;
        if (kind_ == Kind::Map) {
            argument = *static_cast<Value*>(source.value());
        } else if (kind_ == Kind::Catch) {
            argument = Value::adopt(to_exception(*source.error()));
        }
        Value result;
        target_->completing_at(place_of_callback(source));
        const bool is_well = callable_.call(result.get(), kind_ == Kind::Finally ? 0 : 1, argument.get());
        callable_.reset();
        if (!is_well) {
            if (kind_ == Kind::Finally && source.error() != nullptr && !zend_is_unwind_exit(EG(exception))) {
                zend_exception_set_previous(EG(exception), to_exception(*source.error()));
            }
            target_->fail(take_exception()).ignore();
        } else if (kind_ == Kind::Finally) {
            pass(source);
        } else {
            target_->complete(std::move(result)).ignore();
        }
        return {};
    }

    void suspect() noexcept {
        if (Z_REFCOUNTED_P(callable_.function().get())) {
            gc_check_possible_root(Z_COUNTED_P(callable_.function().get()));
        }
    }
    void show(Shown& shown) {
        shown.add(callable_);
        show_future(*target_, target_->has_object ? 2 : 1, shown);
    }

private:
    /// Where the callback stands; of one that is not PHP code: where its argument came from.
    Place place_of_callback(const FutureEvent& source) const noexcept {
        const zend_function* code = callable_.code();
        if (code == nullptr || !ZEND_USER_CODE(code->type)) {
            return source.completed_at();
        }
        const zend_string* file = code->op_array.filename;
        return {std::string_view(ZSTR_VAL(file), ZSTR_LEN(file)), code->op_array.line_start};
    }
    void let_origin_go() noexcept {
        if (const std::shared_ptr<Origin> origin = origin_.lock()) {
            origin->source.reset();
        }
    }

    Kind kind_;
    Callable callable_;
    Ref<PhpFuture> target_;
    std::weak_ptr<Origin> origin_;
};

/// An object that held the future goes: what is left may be a cycle, which the collector does not notice by itself.
void suspect_chain(FutureOf<Value>& future) {
    future.each_continuation([](Continuation& link) { static_cast<PhpLink&>(link).suspect(); });
}

/// Null: it threw, since the constructor was not called or has failed.
FutureOf<Value>* future_of(zend_object* object) {
    FutureOf<Value>* future = FutureObject::of(object).completion();
    if (UNEXPECTED(future == nullptr)) {
        zend_throw_error(nullptr, "The future%s was not constructed", object->ce == ce_future_state ? " state" : "");
    }
    return future;
}

void completing_here(FutureOf<Value>& future) {
    if (auto* own = dynamic_cast<PhpFuture*>(&future)) {
        own->completing_here();
    }
}

/// Whoever waits in a chain needs a running scheduler.
bool prepare_completion(FutureOf<Value>& future) { return future.callback_count() == 0 || start(); }

/// What a state completes, with the present place as that of the completion. Null: it threw.
FutureOf<Value>* completing(zval* state) {
    FutureOf<Value>* const completion = future_of(Z_OBJ_P(state));
    if (completion == nullptr) {
        return nullptr;
    }
    FutureOf<Value>& future = *completion;
    const FutureData::Owner owner = FutureObject::of(state).owner;
    const char* refusal = nullptr;
    if (UNEXPECTED(owner == FutureData::Owner::Other)) {
        refusal = "FutureState ownership was transferred to another thread";
    } else if (UNEXPECTED(owner == FutureData::Owner::Received && future.is_completed())) {
        refusal = "FutureState is already completed";
    }
    if (UNEXPECTED(refusal != nullptr)) {
        zend_throw_exception(ce_async_exception, refusal, 0);
        return nullptr;
    }
    if (!future.is_completed()) {
        if (!prepare_completion(future)) {
            return nullptr;
        }
        completing_here(future);
    }
    return &future;
}

#define TA_FUTURE_SELF                                             \
    FutureOf<Value>* const future = future_of(Z_OBJ_P(ZEND_THIS)); \
    if (future == nullptr) {                                       \
        return;                                                    \
    }

void chain(INTERNAL_FUNCTION_PARAMETERS, PhpLink::Kind kind) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    TA_FUTURE_SELF
    if (future->is_completed() && !start()) {
        return;  // else whoever completes it
    }
    auto origin = std::make_shared<Origin>(Origin{Value(ZEND_THIS)});
    auto target = make_ref<PhpFuture>();
    target->has_object = true;
    future->then(std::make_unique<PhpLink>(kind, Callable(call, cache), target, origin));
    zend_object* derived = make_future(std::move(target));
    FutureObject::of(derived).origin = std::move(origin);
    RETURN_OBJ(derived);
}

}  // namespace

void show_future(FutureOf<Value>& future, std::uint32_t holders, Shown& shown) {
    if (future.ref_count() != holders) {
        return;
    }
    future.each_value([&](Value& value) { shown.add(value); });
    shown.add(future.error());
    if (!future.is_completed()) {
        future.each_continuation([&](Continuation& link) { static_cast<PhpLink&>(link).show(shown); });
    }
}

PhpFuture::PhpFuture() : FutureOf<Value>(Place()) { created_ = place_here(created_file_); }

void PhpFuture::completing_here() noexcept { completed_ = place_here(completed_file_); }

void PhpFuture::completing_at(const Place& place) noexcept {
    if (!place.is_known()) {
        completed_ = {};
        return;
    }
    Value file;
    ZVAL_STRINGL(file.get(), place.file.data(), place.file.size());
    completed_file_ = std::move(file);
    completed_ = {std::string_view(Z_STRVAL_P(completed_file_.get()), Z_STRLEN_P(completed_file_.get())), place.line};
}

zend_object* make_future(Ref<FutureOf<Value>> future, Value file) noexcept {
    zend_object* object = FutureObject::create(ce_future);
    FutureObject::of(object).file = std::move(file);
    FutureObject::of(object).future = std::move(future);
    return object;
}

zend_object* make_future(Ref<PhpFuture> future, GroupEvent& asked) noexcept {
    zend_object* object = make_future(std::move(future));
    FutureObject::of(object).asked = &asked;
    return object;
}

zend_object* give_future_state(zend_object* state) noexcept {
    FutureData& from = FutureObject::of(state);
    if (from.owner != FutureData::Owner::This) {
        zend_throw_exception(ce_async_exception, "FutureState cannot be transferred to multiple threads", 0);
        return nullptr;
    }
    from.owner = FutureData::Owner::Other;
    zend_object* given = FutureObject::create(ce_future_state);
    FutureObject::of(given).future = from.future;
    FutureObject::of(given).owner = FutureData::Owner::Received;
    return given;
}

void take_back_future_state(zend_object* state) noexcept { FutureObject::of(state).owner = FutureData::Owner::This; }

void register_future() {
    ce_future_state = register_class_Async_FutureState();
    ce_future = register_class_Async_Future(ce_completable);
    FutureObject::register_class(ce_future_state);
    FutureObject::register_class(ce_future);
    add_awaitable(ce_future, [](zend_object* object) -> Event* { return future_of(object); });
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

ZEND_METHOD(Async_FutureState, __construct) {
    ZEND_PARSE_PARAMETERS_NONE();
    FutureData& self = FutureObject::of(ZEND_THIS);
    if (self.future != nullptr) {
        zend_throw_error(nullptr, "The future state is constructed already");
        return;
    }
    self.future = make_ref<PhpFuture>();
}

ZEND_METHOD(Async_FutureState, complete) {
    zval* value = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    if (FutureOf<Value>* future = completing(ZEND_THIS)) {
        check(future->complete(Value(value)));
    }
}

ZEND_METHOD(Async_FutureState, error) {
    zend_object* throwable = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(throwable, zend_ce_throwable)
    ZEND_PARSE_PARAMETERS_END();
    if (FutureOf<Value>* future = completing(ZEND_THIS)) {
        check(future->fail(PhpError::share(throwable)));
    }
}

ZEND_METHOD(Async_FutureState, ignore) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_FUTURE_SELF
    future->ignore();
}

ZEND_METHOD(Async_Future, __construct) {
    zend_object* state = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(state, ce_future_state)
    ZEND_PARSE_PARAMETERS_END();
    FutureData& self = FutureObject::of(ZEND_THIS);
    if (self.completion() != nullptr) {
        zend_throw_error(nullptr, "The future is constructed already");
        return;
    }
    if (future_of(state) == nullptr) {
        return;
    }
    GC_ADDREF(state);
    self.state = Value::adopt(state);
}

ZEND_METHOD(Async_Future, completed) {
    zval* value = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    auto future = make_ref<PhpFuture>();
    future->completing_here();
    future->complete(value != nullptr ? Value(value) : Value::null()).ignore();
    RETURN_OBJ(make_future(std::move(future)));
}

ZEND_METHOD(Async_Future, failed) {
    zend_object* throwable = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(throwable, zend_ce_throwable)
    ZEND_PARSE_PARAMETERS_END();
    auto future = make_ref<PhpFuture>();
    future->completing_here();
    future->fail(PhpError::share(throwable)).ignore();
    RETURN_OBJ(make_future(std::move(future)));
}

ZEND_METHOD(Async_Future, isCancelled) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_FUTURE_SELF
    RETURN_BOOL(future->is_cancelled());
}

ZEND_METHOD(Async_Future, cancel) {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    TA_FUTURE_SELF
    if (!future->is_completed() && prepare_completion(*future)) {
        completing_here(*future);
        future->cancel(make_cancellation(cancellation, "Future has been cancelled"));
    }
}

ZEND_METHOD(Async_Future, ignore) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_FUTURE_SELF
    future->ignore();
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

ZEND_METHOD(Async_Future, map) { chain(INTERNAL_FUNCTION_PARAM_PASSTHRU, PhpLink::Kind::Map); }
ZEND_METHOD(Async_Future, catch) { chain(INTERNAL_FUNCTION_PARAM_PASSTHRU, PhpLink::Kind::Catch); }
ZEND_METHOD(Async_Future, finally) { chain(INTERNAL_FUNCTION_PARAM_PASSTHRU, PhpLink::Kind::Finally); }

ZEND_METHOD(Async_Future, await) {
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    TA_FUTURE_SELF
    if (start()) {
        await_event(*future, token != Z_OBJ_P(ZEND_THIS) ? token : nullptr, return_value);
    }
}

// What both classes answer alike.
#define TA_FUTURE_BOTH(method, statement)    \
    ZEND_METHOD(Async_FutureState, method) { \
        ZEND_PARSE_PARAMETERS_NONE();        \
        TA_FUTURE_SELF                       \
        statement;                           \
    }                                        \
    ZEND_METHOD(Async_Future, method) {      \
        ZEND_PARSE_PARAMETERS_NONE();        \
        TA_FUTURE_SELF                       \
        statement;                           \
    }
TA_FUTURE_BOTH(isCompleted, RETURN_BOOL(future->is_completed()))
TA_FUTURE_BOTH(getAwaitingInfo, {
    array_init_size(return_value, 1);
    add_next_index_string(return_value, future->info().c_str());
})
TA_FUTURE_BOTH(getCreatedFileAndLine, return_place(future->created_at(), return_value))
TA_FUTURE_BOTH(getCreatedLocation, return_location(future->created_at(), return_value))
TA_FUTURE_BOTH(getCompletedFileAndLine, return_place(future->completed_at(), return_value))
TA_FUTURE_BOTH(getCompletedLocation, return_location(future->completed_at(), return_value))
#undef TA_FUTURE_BOTH
