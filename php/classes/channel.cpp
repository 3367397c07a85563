#include "channel.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../place.hpp"
#include "../stubs/channel_arginfo.h"
#include "../value.hpp"
#include "awaitable.hpp"
#include "exceptions.hpp"
#include "future.hpp"

#include <ext/spl/spl_exceptions.h>
#include <optional>
#include <trueasync/sync/channel.hpp>

namespace trueasync::php {

namespace {

zend_object_handlers handlers;

/// The object exists before its constructor has run, the channel from then on.
struct ChannelObject {
    union {
        ChannelOf<Value> channel;
    };
    bool is_made;
    zend_object std;

    ChannelObject() = delete;

    static ChannelObject& of(zend_object* object) noexcept {
        return *reinterpret_cast<ChannelObject*>(reinterpret_cast<std::byte*>(object) - offsetof(ChannelObject, std));
    }
};

zend_object* create(zend_class_entry* ce) {
    auto* self = static_cast<ChannelObject*>(zend_object_alloc(sizeof(ChannelObject), ce));
    self->is_made = false;
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

void free_object(zend_object* object) {
    ChannelObject& self = ChannelObject::of(object);
    if (std::exchange(self.is_made, false)) {
        self.channel.host_free();
    }
    zend_object_std_dtor(object);
}

HashTable* show_to_collector(zend_object* object, zval** table, int* count) {
    zend_get_gc_buffer* buffer = zend_get_gc_buffer_create();
    ChannelObject& self = ChannelObject::of(object);
    if (self.is_made) {
        self.channel.each_value([&](Value& value) { zend_get_gc_buffer_add_zval(buffer, value.get()); });
    }
    zend_get_gc_buffer_use(buffer, table, count);
    return nullptr;
}

/// Null: it threw, since the constructor was never called.
ChannelOf<Value>* channel_of(zend_object* object) {
    ChannelObject& self = ChannelObject::of(object);
    if (UNEXPECTED(!self.is_made)) {
        zend_throw_error(nullptr, "The channel was not constructed");
        return nullptr;
    }
    return &self.channel;
}

// --- foreach

struct ChannelIterator {
    zend_object_iterator base;
    Value current;
    zend_ulong index;
    bool is_over;
};

ChannelIterator& iterator_of(zend_object_iterator* iterator) { return *reinterpret_cast<ChannelIterator*>(iterator); }

void advance(ChannelIterator& iterator) {
    iterator.current.reset();
    ChannelOf<Value>* channel = channel_of(Z_OBJ(iterator.base.data));
    if (channel == nullptr || !may_suspend()) {
        iterator.is_over = true;
        return;
    }
    std::optional<Value> value;
    const WaitResult result = channel->recv(value);
    if (EXPECTED(result == WaitResult::Ready)) {
        iterator.current = std::move(*value);
        return;
    }
    iterator.is_over = true;
    if (result == WaitResult::Failed && channel->is_closed() &&
        channel->close_reason() == ChannelCloseReason::Explicit) {
        Scheduler::take_wait_error();
    } else {
        has_arrived(result);
    }
}

const zend_object_iterator_funcs iterator_functions = {
    [](zend_object_iterator* iterator) {  // dtor
        std::destroy_at(&iterator_of(iterator).current);
        zval_ptr_dtor(&iterator->data);
    },
    [](zend_object_iterator* iterator) -> int { return iterator_of(iterator).is_over ? FAILURE : SUCCESS; },
    [](zend_object_iterator* iterator) -> zval* { return iterator_of(iterator).current.get(); },
    [](zend_object_iterator* iterator, zval* key) { ZVAL_LONG(key, iterator_of(iterator).index); },
    [](zend_object_iterator* iterator) {
        ++iterator_of(iterator).index;
        advance(iterator_of(iterator));
    },
    [](zend_object_iterator* iterator) { advance(iterator_of(iterator)); },
    nullptr,
    nullptr,
};

zend_object_iterator* get_iterator(zend_class_entry* /*ce*/, zval* object, int by_reference) {
    if (by_reference != 0) {
        zend_throw_error(nullptr, "Cannot iterate channel by reference");
        return nullptr;
    }
    auto* iterator = static_cast<ChannelIterator*>(emalloc(sizeof(ChannelIterator)));
    zend_iterator_init(&iterator->base);
    iterator->base.funcs = &iterator_functions;
    ZVAL_OBJ_COPY(&iterator->base.data, Z_OBJ_P(object));
    new (&iterator->current) Value();
    iterator->index = 0;
    iterator->is_over = false;
    return &iterator->base;
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
    ce_channel->create_object = create;
    ce_channel->get_iterator = get_iterator;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(ChannelObject, std);
    handlers.free_obj = free_object;
    handlers.clone_obj = nullptr;
    handlers.get_gc = show_to_collector;
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
    ChannelObject& self = ChannelObject::of(Z_OBJ_P(ZEND_THIS));
    if (self.is_made) {
        zend_throw_error(nullptr, "The channel is constructed already");
        return;
    }
    ChannelSettings settings;
    settings.capacity = static_cast<std::uint32_t>(capacity);
    settings.no_producer_timeout = std::chrono::milliseconds(no_producer);
    settings.no_consumer_timeout = std::chrono::milliseconds(no_consumer);
    settings.hard_timeouts = hard;
    new (&self.channel) ChannelOf<Value>(settings);
    self.channel.become_host_object(offsetof(ChannelObject, std));
    self.is_made = true;
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
    WaitLimit limit;
    if (may_suspend() && limit_of(token, limit)) {
        Value sent(value);
        has_arrived(channel->send(sent, limit));
    }
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
    WaitLimit limit;
    if (!may_suspend() || !limit_of(token, limit)) {
        return;
    }
    std::optional<Value> value;
    if (has_arrived(channel->recv(value, limit))) {
        value->move_to(return_value);
    }
}

ZEND_METHOD(Async_Channel, recvAsync) {
    ZEND_PARSE_PARAMETERS_NONE();
    TA_CHANNEL_SELF
    Value file;
    const Place place = place_here(file);
    RETURN_OBJ(make_future(channel->recv_async(place), std::move(file)));
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
    zend_create_internal_iterator_zval(return_value, ZEND_THIS);
}
