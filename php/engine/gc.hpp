#pragma once

/// Once the scheduler runs, cycles are collected by a coroutine of their own, and each destructor that the collector calls gets one too. A
/// destructor that suspends inside the engine's collector would leave it half done, with garbage that others can revive.

namespace trueasync::php {

void gc_minit();
void gc_mshutdown();
void gc_request_begin();

}  // namespace trueasync::php
