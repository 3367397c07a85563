#include "channel.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../place.hpp"
#include "../stubs/channel_arginfo.h"
#include "awaitable.hpp"
#include "coroutine.hpp"
#include "exceptions.hpp"
#include "future.hpp"

#include <ext/spl/spl_exceptions.h>

#include <cstdint>

namespace trueasync::php {

namespace {

using ChannelObject = ObjectOf<ChannelData>;

/// Null: it threw, since the constructor was never called.
ChannelOf<Value>* channel_of(zend_object* object) {
    ChannelData& self = ChannelObject::of(object);
    if (UNEXPECTED(!self.is_made)) {
        zend_throw_error(nullptr, "The channel was not constructed");
        return nullptr;
    }
    return &self.channel;
}

/// Waits until a value is there that is only for us.
TA_INLINE WaitResult claim(ChannelOf<Value>& channel, const WaitLimit& limit = {}) noexcept {
    const WaitWindow window;
    return EXPECTED(limit.is_none()) ? channel.claim(std::source_location())
                                     : channel.claim(limit, std::source_location());
}

WaitResult send(ChannelOf<Value>& channel, Value& value, const WaitLimit& limit) noexcept {
    const WaitWindow window;
    return channel.send(value, limit, std::source_location());
}

// --- foreach

struct ChannelWalk {
    bool next(zend_object* source, Value& element) {
        ChannelOf<Value>* channel = channel_of(source);
        if (channel == nullptr || !may_suspend()) {
            return false;
        }
        if (channel->has_free_value()) {
            element = channel->take_free();
            return true;
        }
        const WaitResult result = claim(*channel);
        if (EXPECTED(result == WaitResult::Ready)) {
            element = channel->take_claimed();
            return true;
        }
        if (result == WaitResult::Failed && channel->is_closed() &&
            channel->close_reason() == ChannelCloseReason::Explicit) {
            Scheduler::take_wait_error();
        } else {
            has_arrived(result);
        }
        return false;
    }
};

zend_object_iterator* get_iterator(zend_class_entry* /*ce*/, zval* object, int by_reference) {
    if (by_reference != 0) {
        zend_throw_error(nullptr, "Cannot iterate channel by reference");
        return nullptr;
    }
    return IteratorOf<ChannelWalk>::create(object);
}

/// Of one that a chain waits in, where the channel's end may call PHP code: that must not come when the collector frees what the code uses.
zend_object_handlers chained_handlers;

void end_chains(zend_object* object) {
    ChannelOf<Value>& channel = ChannelObject::of(object).channel;
    bool has_chains = false;
    channel.each_kept([&](FutureOf<Value>&) { has_chains = true; });
    if (has_chains) {
        const ExceptionPause pause;
        channel.close(ChannelCloseReason::Disposed);
    }
}

}  // namespace

void set_close_reason(zend_object* exception, int reason) noexcept {
    static constexpr const char* kCases[] = {"EXPLICIT",     "DISPOSED", "NO_PRODUCERS",
                                             "NO_CONSUMERS", "DEADLOCK", "SCOPE_DISPOSED"};
    zval value;
    ZVAL_OBJ_COPY(&value, zend_enum_get_case_cstr(ce_channel_close_reason, kCases[reason]));
    zend_update_property(ce_channel_exception, exception, ZEND_STRL("reason"), &value);
    zval_ptr_dtor(&value);
}

void register_channel() {
    ce_channel_close_reason = register_class_Async_ChannelCloseReason();
    ce_channel_exception = register_class_Async_ChannelException(ce_async_exception);
    ce_channel = register_class_Async_Channel(ce_awaitable, zend_ce_aggregate, zend_ce_countable);
    ce_channel->get_iterator = get_iterator;
    ChannelObject::register_class(ce_channel);
    chained_handlers = ChannelObject::handlers();
    chained_handlers.dtor_obj = end_chains;
    add_awaitable(ce_channel, [](zend_object* object) -> Event* { return channel_of(object); });
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

#define TA_CHANNEL_SELF                                               \
    ChannelOf<Value>* const channel = channel_of(Z_OBJ_P(ZEND_THIS)); \
    if (channel == nullptr) {                                         \
        return;                                                       \
    }

ZEND_METHOD(Async_Channel, __construct) {
    zend_long capacity = 0;
    zend_long no_producer = 0;
    zend_long no_consumer = 0;
    bool hard = false;
    ZEND_PARSE_PARAMETERS_START(0, 4)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(capacity)
    Z_PARAM_LONG(no_producer)
    Z_PARAM_LONG(no_consumer)
    Z_PARAM_BOOL(hard)
    ZEND_PARSE_PARAMETERS_END();
    const zend_long limits[] = {capacity, no_producer, no_consumer};
    for (int i = 0; i < 3; ++i) {
        if (limits[i] < 0 || limits[i] > INT32_MAX) {
            zend_argument_value_error(i + 1, "must be between 0 and %d", INT32_MAX);
            return;
        }
    }
    ChannelData& self = ChannelObject::of(ZEND_THIS);
    if (self.is_made) {
        zend_throw_error(nullptr, "The channel is constructed already");
        return;
    }
    ChannelSettings settings;
    settings.capacity = static_cast<std::uint32_t>(capacity);
    settings.no_producer_timeout = std::chrono::milliseconds(no_producer);
    settings.no_consumer_timeout = std::chrono::milliseconds(no_consumer);
    settings.hard_timeouts = hard;
    self.make(settings, ChannelObject::kOffset);
}

ZEND_METHOD(Async_Channel, send) {
    zval* value = nullptr;
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    TA_CHANNEL_SELF
    if (!may_suspend()) {
        return;
    }
    if (EXPECTED(token == nullptr && channel->is_sending_easy())) {
        channel->send(Value(value), std::source_location());
        return;
    }
    WaitLimit limit;
    if (!limit_of(token, limit)) {
        return;
    }
    Value sent(value);
    has_arrived(send(*channel, sent, limit));
}

ZEND_METHOD(Async_Channel, sendAsync) {
    zval* value = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    TA_CHANNEL_SELF
    RETURN_BOOL(channel->try_send(Value(value)));
}

ZEND_METHOD(Async_Channel, recv) {
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    TA_CHANNEL_SELF
    if (!may_suspend()) {
        return;
    }
    if (token == nullptr && channel->has_free_value()) {
        channel->take_free().move_to(return_value);
        return;
    }
    WaitLimit limit;
    if (EXPECTED(token == nullptr) ? has_arrived(claim(*channel))
                                   : limit_of(token, limit) && has_arrived(claim(*channel, limit))) {
        channel->take_claimed().move_to(return_value);
    }
}

ZEND_METHOD(Async_Channel, recvAsync) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_CHANNEL_SELF
    if (ChannelObject::of(ZEND_THIS).has_timeouts && !channel->has_free_value() && !channel->is_closed() && !start()) {
        return;  // no time passes without a scheduler
    }
    Value file;
    const Place place = place_here(file);
    Ref<FutureOf<Value>> future = channel->recv_async(place);
    if (!future->is_completed()) {
        Z_OBJ_P(ZEND_THIS)->handlers = &chained_handlers;
    }
    RETURN_OBJ(make_future(std::move(future), std::move(file)));
}

ZEND_METHOD(Async_Channel, close) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_CHANNEL_SELF
    channel->close();
}

#define TA_CHANNEL_TELLS(method, statement) \
    ZEND_METHOD(Async_Channel, method) {    \
        ZEND_PARSE_PARAMETERS_NONE();       \
        TA_CHANNEL_SELF                     \
        statement;                          \
    }
TA_CHANNEL_TELLS(isClosed, RETURN_BOOL(channel->is_closed()))
TA_CHANNEL_TELLS(capacity, RETURN_LONG(channel->capacity()))
TA_CHANNEL_TELLS(count, RETURN_LONG(static_cast<zend_long>(channel->count())))
TA_CHANNEL_TELLS(isEmpty, RETURN_BOOL(channel->is_empty()))
TA_CHANNEL_TELLS(isFull, RETURN_BOOL(channel->is_full()))
#undef TA_CHANNEL_TELLS

ZEND_METHOD(Async_Channel, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    return_iterator(ZEND_THIS, return_value);
}
