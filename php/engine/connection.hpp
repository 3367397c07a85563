#pragma once

/// One connection, several objects: a statement talks through what its database object talks through.

#include "../zend.hpp"

namespace trueasync::php {

/// What the object or resource talks through, to be compared with others: itself, if nothing better is known. Null: several
/// may be inside at once.
const void* connection_of(zend_object* object) noexcept;

/// A connection that has more descriptors than the one that `call` waits for: what comes over the others is cut off too.
void shut_beside(zend_execute_data* call) noexcept;

}  // namespace trueasync::php
