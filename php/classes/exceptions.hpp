#pragma once

/// The exception tree of the extension.

#include "../zend.hpp"
#include "cancellation.hpp"

namespace trueasync::php {

inline zend_class_entry* ce_async_cancellation = nullptr;
inline zend_class_entry* ce_operation_canceled = nullptr;
inline zend_class_entry* ce_async_exception = nullptr;
inline zend_class_entry* ce_io_exception = nullptr;
inline zend_class_entry* ce_dns_exception = nullptr;
inline zend_class_entry* ce_timeout_exception = nullptr;
inline zend_class_entry* ce_poll_exception = nullptr;
inline zend_class_entry* ce_deadlock_error = nullptr;
inline zend_class_entry* ce_service_unavailable = nullptr;
inline zend_class_entry* ce_composite_exception = nullptr;
inline zend_class_entry* ce_context_exception = nullptr;

void register_exceptions();

/// A new exception of class `ce` as if thrown where PHP code is now.
zend_object* make_exception(zend_class_entry* ce, const char* message, zend_object* previous = nullptr) noexcept;

/// Adds to a `CompositeException`; takes over the reference.
void add_to_composite(zend_object* composite, zend_object* exception) noexcept;

}  // namespace trueasync::php
