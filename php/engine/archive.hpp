#pragma once

/// All files of a Phar archive are read through one stream: `phar` seeks in it and then reads. Nobody else may run in between, or he reads at a
/// place that another has gone to.

#include "../zend.hpp"

namespace trueasync::php {

/// The running function is inside `phar`, or in one of its streams. An error handler, which is another function, may wait.
bool is_in_archive() noexcept;

/// Once all extensions are there.
void archive_startup() noexcept;
void archive_request_end() noexcept;

}  // namespace trueasync::php
