#pragma once

/// A fork copies every coroutine into the child, where nobody expects them: each would go on twice. `pcntl_fork` is refused while there are
/// others than the main one.

namespace trueasync::php {

/// Once all modules are there; does nothing the second time.
void guard_fork();

}  // namespace trueasync::php
