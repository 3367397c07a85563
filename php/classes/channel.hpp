#pragma once

/// `Async\Channel`: the core's channel and the PHP object are one piece of memory.

#include "../object.hpp"

#include "future.hpp"

#include <trueasync/sync/channel.hpp>

namespace trueasync::php {

inline zend_class_entry* ce_channel = nullptr;
inline zend_class_entry* ce_channel_exception = nullptr;
inline zend_class_entry* ce_channel_close_reason = nullptr;

/// The object exists before its constructor has run, the channel from then on.
struct ChannelData {
    union {
        ChannelOf<Value> channel;
    };
    bool is_made = false;
    bool has_timeouts = false;

    ChannelData() noexcept {}
    ~ChannelData() {
        if (is_made) {
            channel.host_free();
        }
    }
    void make(const ChannelSettings& settings, std::size_t offset) {
        new (&channel) ChannelOf<Value>(settings);
        channel.become_host_object(offset);
        is_made = true;
        has_timeouts = settings.no_producer_timeout + settings.no_consumer_timeout > Duration::zero();
    }
    void show(Shown& shown) {
        if (is_made) {
            channel.each_value([&](Value& value) { shown.add(value); });
            channel.each_kept([&](FutureOf<Value>& future) { show_future(future, 1, shown); });
        }
    }
};
/// Gives a `ChannelException` its reason.
void set_close_reason(zend_object* exception, int reason) noexcept;

void register_channel();

}  // namespace trueasync::php
