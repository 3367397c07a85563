#pragma once

/// `\Cancellation`: a root of throwables beside Exception and Error.

#include "../zend.hpp"

namespace trueasync::php {

inline zend_class_entry* ce_cancellation = nullptr;

void register_cancellation();
void unregister_cancellation() noexcept;

}  // namespace trueasync::php
