#pragma once

/// Tells others in the process (Xdebug, tracers) of coroutines, as the engine tells them of its fibers. When nobody can hear it, it costs a test.
///
/// To them the scheduler is the main fiber: every switch goes from a coroutine to it, or from it to a coroutine.

#include "../value.hpp"

#include <cstdint>

namespace trueasync::php {

inline bool is_observed = false;  // set when the first runtime of the process begins

/// Looks who is there.
void find_observers() noexcept;

/// The coroutine with this context begins, spawned in `line` of `file` (which may be unset).
TA_COLD void observe_start_slow(zend_fiber_context& fiber, const Value& file, std::uint32_t line) noexcept;
inline void observe_start(zend_fiber_context& fiber, const Value& file, std::uint32_t line) noexcept {
    if (UNEXPECTED(is_observed)) {
        observe_start_slow(fiber, file, line);
    }
}

/// It has ended, and its frames are still there.
void observe_end(zend_fiber_context& fiber) noexcept;

/// It will never run again, and has not ended.
void observe_abandoned(zend_fiber_context& fiber) noexcept;

/// By reference: looked at only when somebody can hear it.
inline void observe_switch(zend_fiber_context* const& from, zend_fiber_context* const& to) noexcept {
    if (UNEXPECTED(is_observed) && from != to) {
        zend_observer_fiber_switch_notify(from, to);
    }
}

}  // namespace trueasync::php
