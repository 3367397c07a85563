#pragma once

/// `Async\CpuSnapshot`, and the functions about processors.

namespace trueasync::php {

void register_cpu();

}  // namespace trueasync::php
