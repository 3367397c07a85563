#pragma once

/// One connection, several objects: a statement talks through what its database object talks through.

#include "../zend.hpp"

#include <vector>

namespace trueasync::php {

/// What the object or resource talks through, to be compared with others: itself, if nothing better is known. Null: several
/// may be inside at once.
const void* connection_of(zend_object* object) noexcept;

/// What a stream of a large object of PDO talks through.
const void* connection_of(const php_stream* stream) noexcept;

/// Whether this call of a function that opens connections wants one that outlives the request, and those that are there already which it may
/// take: it asks them whether they are alive.
bool opens_kept(zend_execute_data* call) noexcept;
std::vector<const void*> kept_for(zend_execute_data* call) noexcept;

bool is_pgsql_link(const zval* value) noexcept;

/// libpq notices that the connection of `call`, one of pgsql, has been shut: else a copy that was cut off goes on for ever.
void notice_shut_link(zend_execute_data* call) noexcept;

/// A connection that has more descriptors than the one that `call` waits for: what comes over the others is cut off too.
void shut_beside(zend_execute_data* call) noexcept;

}  // namespace trueasync::php
