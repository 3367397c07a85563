#pragma once

/// PHP keeps the answer of `gethostbyname()` in one buffer, which the next call frees: a second coroutine that asks while the first one waits
/// would take it away. So the wait comes before PHP's own function begins.

namespace trueasync::php {

/// Once all modules are there; does nothing the second time.
void guard_host_names();

}  // namespace trueasync::php
