#include "awaitable.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../stubs/awaitable_arginfo.h"
#include "coroutine.hpp"
#include "exceptions.hpp"

#include <trueasync/reactor/timer.hpp>
#include <vector>

namespace trueasync::php {

namespace {

struct AwaitableClass {
    zend_class_entry* ce;
    EventOf event_of;
};
std::vector<AwaitableClass> classes;

TA_INLINE WaitResult wait_here(Event& event, const WaitLimit& limit) noexcept {
    const WaitWindow window;
    return wait_for(event, limit, std::source_location());
}

TA_INLINE WaitResult join_here(PhpCoroutine& coroutine) noexcept {
    const WaitWindow window;
    return join(coroutine, std::source_location());
}

}  // namespace

void add_awaitable(zend_class_entry* ce, EventOf event_of) { classes.push_back({ce, event_of}); }

Event* event_of(zend_object* object) noexcept {
    for (const AwaitableClass& one : classes) {
        if (one.ce == object->ce) {
            return one.event_of(object);
        }
    }
    zend_throw_exception_ex(
        ce_async_exception, 0, "%s cannot be waited for: only the classes of Async can", ZSTR_VAL(object->ce->name)
    );
    return nullptr;
}

bool limit_of(zend_object* token, WaitLimit& limit) noexcept {
    if (token == nullptr) {
        return true;
    }
    Event* event = event_of(token);
    if (event == nullptr) {
        return false;
    }
    event->mark_result_used();
    limit = WaitLimit(*event, WakeRole::Cancel);
    return true;
}

bool return_outcome(Event& event, zval* return_value) noexcept {
    void* result = nullptr;
    Ref<Error> error;
    if (!event.replay(nullptr, &result, &error)) {
        return false;
    }
    if (error != nullptr) {
        event.mark_exception_handled();
        throw_in_php(*error);
    } else if (result != nullptr && Z_TYPE_P(static_cast<zval*>(result)) != IS_UNDEF) {
        ZVAL_COPY(return_value, static_cast<zval*>(result));
    }
    return true;
}

void await_event(Event& event, zend_object* token, zval* return_value) noexcept {
    WaitLimit limit;
    if (!may_suspend() || !limit_of(token, limit)) {
        return;
    }
    event.mark_result_used();
    const Ref<Event> held(&event);
    const WaitResult result = wait_here(event, limit);
    if (result == WaitResult::Ready || result == WaitResult::Failed) {
        const Ref<Error> error = Scheduler::take_wait_error();
        if (!return_outcome(event, return_value) && error != nullptr) {  // a timeout that was cancelled
            throw_in_php(*error);
        }
    } else {
        has_arrived(result);
    }
}

bool await_coroutine(PhpCoroutine& coroutine, zval* return_value) noexcept {
    if (coroutine.id() == 0 || coroutine.error() != nullptr || !may_suspend()) {
        return false;
    }
    coroutine.mark_result_used();
    WaitResult result = WaitResult::Ready;
    if (coroutine.is_finished()) {
        Coroutine* self = nullptr;
        result = Scheduler::departing(self);
        Scheduler::count_fast_return();
    } else if (result = join_here(coroutine); EXPECTED(result == WaitResult::Ready)) {
        GC_DELREF(coroutine.object());  // the runtime's, and not the last one: the caller has one too
    }
    if (EXPECTED(result == WaitResult::Ready)) {
        if (EXPECTED(coroutine.value.is_set())) {
            ZVAL_COPY(return_value, coroutine.value.get());
        }
    } else if (result == WaitResult::Failed) {
        Scheduler::take_wait_error();
        return_outcome(coroutine, return_value);
    } else {
        has_arrived(result);
    }
    return true;
}

void register_awaitables() {
    ce_awaitable = register_class_Async_Awaitable();
    ce_completable = register_class_Async_Completable(ce_awaitable);
    ce_signal = register_class_Async_Signal();
}

}  // namespace trueasync::php
