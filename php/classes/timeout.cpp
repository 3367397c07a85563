#include "timeout.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../stubs/timeout_arginfo.h"
#include "awaitable.hpp"
#include "exceptions.hpp"

#include <trueasync/reactor/timer.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync::php {

namespace {

struct TimeoutData {
    Ref<Event> event;  // a timer, made when it is first used; after `cancel` a future that was cancelled
    zend_long milliseconds = 0;

    bool is_cancelled() const noexcept { return event != nullptr && event->type() == EventType::Future; }
    void show(Shown& shown) {
        if (is_cancelled() && event->ref_count() == 1) {
            shown.add(static_cast<FutureOf<Value>&>(*event).error());
        }
    }
};
using TimeoutObject = ObjectOf<TimeoutData>;

Event* event_of_timeout(zend_object* object) {
    TimeoutData& self = TimeoutObject::of(object);
    if (self.event == nullptr && start()) {
        self.event = TimerEvent::create_limit(request.runtime->reactor(), std::chrono::milliseconds(self.milliseconds));
    }
    return self.event.get();
}

}  // namespace

zend_object* make_timeout(zend_long milliseconds) {
    zend_object* object = TimeoutObject::create(ce_timeout);
    TimeoutObject::of(object).milliseconds = milliseconds;
    return object;
}

void register_timeout() {
    ce_timeout = register_class_Async_Timeout(ce_completable);
    TimeoutObject::register_class(ce_timeout);
    add_awaitable(ce_timeout, event_of_timeout);
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
    TimeoutData& self = TimeoutObject::of(ZEND_THIS);
    if (self.event != nullptr && self.event->is_closed()) {
        return;
    }
    const Ref<Event> timer = std::exchange(self.event, {});
    auto cancelled = make_ref<FutureOf<Value>>();
    const Ref<Error> error = make_cancellation(cancellation, "Timeout cancelled");
    cancelled->cancel(error);
    cancelled->ignore();
    self.event = cancelled;
    if (timer == nullptr) {
        return;
    }
    timer->set_notify_handler(nullptr);           // which would say that the time is over
    if (timer->is_in_loop() || timer->start()) {  // only an active timer fires, and not every subscriber starts it
        timer->notify(nullptr, error.get()).ignore();
    }
    timer->close();
}

ZEND_METHOD(Async_Timeout, isCompleted) {
    ZEND_PARSE_PARAMETERS_NONE();
    TimeoutData& self = TimeoutObject::of(ZEND_THIS);
    RETURN_BOOL(self.event != nullptr && self.event->is_closed());
}

ZEND_METHOD(Async_Timeout, isCancelled) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(TimeoutObject::of(ZEND_THIS).is_cancelled());
}
