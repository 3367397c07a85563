#pragma once

/// Once the scheduler runs, cycles are collected by a coroutine of their own, and each destructor that the collector calls gets one too. A
/// destructor that suspends inside the engine's collector would leave it half done, with garbage that others can revive.

namespace trueasync::php {

/// While the collector works destructors are taken out of it. When it waits itself, for a stream that it closes perhaps, others call their functions
/// as usual.
class CollectorState {
public:
    void leave() noexcept;
    void enter() noexcept;

    /// The running coroutine is the collector, at work.
    static bool is_collecting() noexcept;

private:
    bool is_left_ = false;
};

void gc_minit();
void gc_mshutdown();
void gc_request_begin();

/// The scheduler runs no more: the engine collects by itself again.
void gc_runtime_end();

/// Main has failed and everything is about to be cancelled: a collection that was asked for is done first.
void gc_finish_pending();

}  // namespace trueasync::php
