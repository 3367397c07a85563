#pragma once

/// `Async\Channel`: the core's channel and the PHP object are one piece of memory.

#include "../zend.hpp"

namespace trueasync::php {

inline zend_class_entry* ce_channel = nullptr;
inline zend_class_entry* ce_channel_exception = nullptr;
inline zend_class_entry* ce_channel_close_reason = nullptr;

/// Gives a `ChannelException` its reason.
void set_close_reason(zend_object* exception, int reason) noexcept;

void register_channel();

}  // namespace trueasync::php
