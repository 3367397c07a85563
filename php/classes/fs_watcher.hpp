#pragma once

/// `Async\FileSystemWatcher` and `Async\FileSystemEvent`.

#include "../zend.hpp"

namespace trueasync::php {

void register_fs_watcher();

}  // namespace trueasync::php
