#include "thread.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../stubs/thread_arginfo.h"
#include "../transfer.hpp"
#include "awaitable.hpp"
#include "channel.hpp"
#include "exceptions.hpp"

#include <cstdint>

namespace trueasync::php {

namespace {

zend_class_entry* ce_thread_channel = nullptr;
zend_class_entry* ce_thread_channel_exception = nullptr;
zend_class_entry* ce_remote_exception = nullptr;

using ThreadChannelObject = ObjectOf<ChannelData>;

/// Null: it threw, since the constructor was not called or has failed.
ChannelOf<Value>* channel_of(zend_object* object) {
    ChannelData& self = ThreadChannelObject::of(object);
    if (UNEXPECTED(!self.is_made)) {
        zend_throw_error(nullptr, "The channel was not constructed");
        return nullptr;
    }
    return &self.channel;
}

/// After a wait in a channel; false: it threw.
bool has_passed(WaitResult result) {
    if (EXPECTED(result == WaitResult::Ready)) {
        return true;
    }
    const Ref<Error> error = Scheduler::take_wait_error();
    if (error->code() == ErrorCode::ChannelClosed) {
        zend_throw_exception(ce_thread_channel_exception, "ThreadChannel is closed", 0);
    } else {
        throw_in_php(*error);
    }
    return false;
}

void refuse(const char* what) {
    zend_throw_exception_ex(ce_async_exception, 0, "%s requires a Thread-Safe (ZTS) PHP build", what);
}

}  // namespace

bool is_shared_between_threads(const zend_object* object) noexcept { return object->ce == ce_thread_channel; }

void register_thread() {
    ce_remote_exception = register_class_Async_RemoteException(ce_async_exception);
    register_class_Async_ThreadTransferException(ce_async_exception);
    register_class_Async_Thread(ce_completable);
    ce_thread_channel_exception = register_class_Async_ThreadChannelException(ce_async_exception);
    ce_thread_channel = register_class_Async_ThreadChannel(ce_awaitable, zend_ce_countable);
    register_class_Async_ThreadPool();
    register_class_Async_ThreadPoolException(zend_ce_exception);
    ThreadChannelObject::register_class(ce_thread_channel);
    add_awaitable(ce_thread_channel, [](zend_object* object) -> Event* { return channel_of(object); });
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

#define TA_CHANNEL_SELF                                               \
    ChannelOf<Value>* const channel = channel_of(Z_OBJ_P(ZEND_THIS)); \
    if (channel == nullptr) {                                         \
        return;                                                       \
    }

ZEND_METHOD(Async_ThreadChannel, __construct) {
    zend_long capacity = 16;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(capacity)
    ZEND_PARSE_PARAMETERS_END();
    if (capacity < 1 || capacity > INT32_MAX) {
        zend_argument_value_error(1, "must be between 1 and %d", INT32_MAX);
        return;
    }
    ChannelData& self = ThreadChannelObject::of(ZEND_THIS);
    if (self.is_made) {
        zend_throw_error(nullptr, "The channel is constructed already");
        return;
    }
    ChannelSettings settings;
    settings.capacity = static_cast<std::uint32_t>(capacity);
    settings.has_owner = false;
    self.make(settings, ThreadChannelObject::kOffset);
}

ZEND_METHOD(Async_ThreadChannel, send) {
    zval* value = nullptr;
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    TA_CHANNEL_SELF
    WaitLimit limit;
    Value copy;
    if (may_suspend() && limit_of(token, limit) && transfer(value, copy)) {
        has_passed(channel->send(copy, limit));
    }
}

ZEND_METHOD(Async_ThreadChannel, recv) {
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    TA_CHANNEL_SELF
    WaitLimit limit;
    std::optional<Value> value;
    if (may_suspend() && limit_of(token, limit) && has_passed(channel->recv(value, limit))) {
        value->move_to(return_value);
    }
}

#define TA_TELLS(method, statement)            \
    ZEND_METHOD(Async_ThreadChannel, method) { \
        ZEND_PARSE_PARAMETERS_NONE();          \
        TA_CHANNEL_SELF                        \
        statement;                             \
    }
TA_TELLS(close, channel->close())
TA_TELLS(isClosed, RETURN_BOOL(channel->is_closed()))
TA_TELLS(capacity, RETURN_LONG(channel->capacity()))
TA_TELLS(count, RETURN_LONG(static_cast<zend_long>(channel->count())))
TA_TELLS(isEmpty, RETURN_BOOL(channel->is_empty()))
TA_TELLS(isFull, RETURN_BOOL(channel->is_full()))
#undef TA_TELLS

#define TA_READS(method, property)                                                                        \
    ZEND_METHOD(Async_RemoteException, method) {                                                          \
        ZEND_PARSE_PARAMETERS_NONE();                                                                     \
        zval room;                                                                                        \
        RETURN_COPY_DEREF(                                                                                \
            zend_read_property(ce_remote_exception, Z_OBJ_P(ZEND_THIS), ZEND_STRL(property), true, &room) \
        );                                                                                                \
    }
TA_READS(getRemoteException, "remoteException")
TA_READS(getRemoteClass, "remoteClass")
#undef TA_READS

// There is no object of these two without threads: only their constructors can be reached.
ZEND_METHOD(Async_ThreadPool, __construct) { refuse("ThreadPool"); }
#define TA_NONE(class, method) \
    ZEND_METHOD(Async_##class, method) { refuse(#class); }
TA_NONE(ThreadPool, submit)
TA_NONE(ThreadPool, map)
TA_NONE(ThreadPool, close)
TA_NONE(ThreadPool, cancel)
TA_NONE(ThreadPool, isClosed)
TA_NONE(ThreadPool, getPendingCount)
TA_NONE(ThreadPool, getRunningCount)
TA_NONE(ThreadPool, getCompletedCount)
TA_NONE(ThreadPool, getWorkerCount)
TA_NONE(ThreadPool, reload)
TA_NONE(Thread, __construct)
TA_NONE(Thread, isRunning)
TA_NONE(Thread, isCompleted)
TA_NONE(Thread, isCancelled)
TA_NONE(Thread, getResult)
TA_NONE(Thread, getException)
TA_NONE(Thread, cancel)
TA_NONE(Thread, finally)
#undef TA_NONE
