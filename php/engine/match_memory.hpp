#pragma once

/// PHP matches regular expressions in one piece of memory, unless its note says that this is in use, which each call puts back as it found it.
/// Without this a `preg_replace_callback()` that ends while another one waits in its callback would note that the memory is free, and the next
/// match would overwrite what the other goes on with.

namespace trueasync::php {

void match_memory_minit() noexcept;

}  // namespace trueasync::php
