#pragma once

/// Living together with pcntl's signal handlers.

namespace trueasync::php {

/// From here on a signal reaches both who waits for it and the handler that `pcntl_signal` has set, before or after.
void share_signals_with_pcntl() noexcept;

/// If a signal has come for a handler of PHP code and nobody runs who would notice, a coroutine runs it.
void deliver_interrupt() noexcept;

}  // namespace trueasync::php
