#pragma once

/// `Async\TaskGroup` and `Async\TaskSet`.

#include "../zend.hpp"

namespace trueasync::php {

void register_task_group();

}  // namespace trueasync::php
