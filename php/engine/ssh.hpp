#pragma once

/// What a session of SSH has opened talks through the session: streams, also those of its URLs, and the resource of SFTP. libssh2 reads for all of
/// them, and one that reads takes what another waits for.

#include "../zend.hpp"

#include <trueasync/base/export.hpp>

namespace trueasync::php {

inline const zend_module_entry* ssh2 = nullptr;

/// Before anything is compiled, when all modules are there.
void guard_ssh(const zend_module_entry* module) noexcept;

/// What a resource that is given to a function of ssh2 talks through: itself, if nothing better is known.
const void* session_of(const zend_resource* resource) noexcept;

/// A call of a function of ssh2: what it opens belongs to the session that it is given.
TA_COLD void call_ssh(zif_handler function, INTERNAL_FUNCTION_PARAMETERS) noexcept;

void ssh_request_end() noexcept;

}  // namespace trueasync::php
