#pragma once

/// What PHP's cURL functions do differently in coroutines. `curl_exec` and a `curl_multi_select` that finds nothing let the others run. A
/// callback that throws ends its transfer, and the exception comes out when the call on the handle ends. What is written to a pipe or a socket
/// suspends, and fails when the other end has gone. Others that close the file of a transfer wait until it is over.

#include "../per_thread.hpp"
#include "../zend.hpp"

#include <vector>

namespace trueasync::php {

class PhpCoroutine;

/// A stream that a handle reads from or writes to, while a call on the handle runs.
struct CurlTarget {
    zend_resource* resource;  // counted
    PhpCoroutine* who;
};
extern TA_PHP_THREAD_LOCAL PerThread<std::vector<CurlTarget>> curl_targets;

inline bool has_targets() noexcept { return !curl_targets->empty(); }

/// The other coroutine that transfers something from or to this stream; null if none does.
PhpCoroutine* user_of_target(const zend_resource* resource) noexcept;

/// When all modules are there.
void curl_startup() noexcept;
/// When blocking calls are replaced: some of those of the extension are too, if it is an object of its own.
void hook_curl() noexcept;
void curl_request_end() noexcept;

}  // namespace trueasync::php
