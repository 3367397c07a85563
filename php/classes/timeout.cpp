#include "timeout.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../stubs/timeout_arginfo.h"
#include "../value.hpp"
#include "awaitable.hpp"
#include "exceptions.hpp"

#include <trueasync/reactor/timer.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync::php {

namespace {

zend_object_handlers handlers;

struct TimeoutObject {
    Ref<Event> event;  // a timer, made when it is first used; after `cancel` a future that was cancelled
    zend_long milliseconds = 0;
    zend_object std;

    static TimeoutObject& of(zend_object* object) noexcept {
        return *reinterpret_cast<TimeoutObject*>(reinterpret_cast<std::byte*>(object) - offsetof(TimeoutObject, std));
    }
    bool is_cancelled() const noexcept { return event != nullptr && event->type() == EventType::Future; }
};

Event* event_of_timeout(zend_object* object) {
    TimeoutObject& self = TimeoutObject::of(object);
    if (self.event == nullptr && start()) {
        self.event = TimerEvent::create_limit(request.runtime->reactor(), std::chrono::milliseconds(self.milliseconds));
    }
    return self.event.get();
}

zend_object* create(zend_class_entry* ce) {
    auto* self = static_cast<TimeoutObject*>(zend_object_alloc(sizeof(TimeoutObject), ce));
    new (&self->event) Ref<Event>();  // not the whole: an object without properties is shorter than its type
    self->milliseconds = 0;
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

void free_object(zend_object* object) {
    TimeoutObject& self = TimeoutObject::of(object);
    zend_object_std_dtor(object);
    std::destroy_at(&self.event);
}

}  // namespace

zend_object* make_timeout(zend_long milliseconds) {
    zend_object* object = create(ce_timeout);
    TimeoutObject::of(object).milliseconds = milliseconds;
    return object;
}

void register_timeout() {
    ce_timeout = register_class_Async_Timeout(ce_completable);
    ce_timeout->create_object = create;
    add_awaitable(ce_timeout, event_of_timeout);
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(TimeoutObject, std);
    handlers.free_obj = free_object;
    handlers.clone_obj = nullptr;
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

ZEND_METHOD(Async_Timeout, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Async_Timeout, cancel) {
    zend_object* cancellation = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(cancellation, ce_async_cancellation)
    ZEND_PARSE_PARAMETERS_END();
    TimeoutObject& self = TimeoutObject::of(Z_OBJ_P(ZEND_THIS));
    if (self.event != nullptr && self.event->is_closed()) {
        return;
    }
    const Ref<Event> timer = std::exchange(self.event, {});
    auto cancelled = make_ref<FutureOf<Value>>();
    cancelled->cancel(make_cancellation(cancellation, "Timeout cancelled"));
    cancelled->ignore();
    self.event = cancelled;
    if (timer != nullptr) {
        timer->close();
    }
}

ZEND_METHOD(Async_Timeout, isCompleted) {
    ZEND_PARSE_PARAMETERS_NONE();
    TimeoutObject& self = TimeoutObject::of(Z_OBJ_P(ZEND_THIS));
    RETURN_BOOL(self.event != nullptr && self.event->is_closed());
}

ZEND_METHOD(Async_Timeout, isCancelled) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(TimeoutObject::of(Z_OBJ_P(ZEND_THIS)).is_cancelled());
}
