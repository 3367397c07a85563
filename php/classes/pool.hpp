#pragma once

/// `Async\Pool` and its circuit breaker.

#include "../zend.hpp"

namespace trueasync::php {

inline zend_class_entry* ce_pool_exception = nullptr;

void register_pool();

}  // namespace trueasync::php
