#pragma once

/// `Async\CpuSnapshot`, and the functions about processors.

#include "../zend.hpp"

namespace trueasync::php {

void register_cpu();

}  // namespace trueasync::php
