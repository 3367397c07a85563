#pragma once

/// While the scheduler runs a `Fiber` is a coroutine: starting and resuming it queues it and lets the caller wait. A native fiber would
/// switch at once, and what it drives could not be interleaved with other coroutines. Before the first asynchronous operation fibers are the
/// engine's own.

#include <trueasync/runtime/scheduler.hpp>

namespace trueasync::php {

/// Fibers that nobody will resume are closed at the end, silently, as PHP does; they are no deadlock.
class FiberRelief final : public StuckHandler {
public:
    bool relieve() noexcept override;
};

void fiber_minit();
void fiber_request_end();

}  // namespace trueasync::php
