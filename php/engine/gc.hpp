#pragma once

/// Once the scheduler runs, cycles are collected by a coroutine of their own, and each destructor that the collector calls gets one too. A
/// destructor that suspends inside the engine's collector would leave it half done, with garbage that others can revive.

namespace trueasync::php {

void gc_minit();
void gc_mshutdown();
void gc_request_begin();

/// The scheduler runs no more: the engine collects by itself again.
void gc_runtime_end();

/// Main has failed and everything is about to be cancelled: a collection that was asked for is done first.
void gc_finish_pending();

}  // namespace trueasync::php
