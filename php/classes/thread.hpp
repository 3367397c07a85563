#pragma once

/// `Async\ThreadChannel`, and the names of everything else that needs threads. On a build without threads the channel connects coroutines,
/// with values copied as between threads.

#include "../zend.hpp"

namespace trueasync::php {

/// A handle that means the same on every thread.
bool is_shared_between_threads(const zend_object* object) noexcept;

void register_thread();

}  // namespace trueasync::php
