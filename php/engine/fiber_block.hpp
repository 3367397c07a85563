#pragma once

/// Native fibers may not switch while a destructor or a signal handler runs, by a count that the engine keeps for all. Without this one
/// that suspends would forbid it to the other coroutines, which get a FiberError.

#include "request.hpp"

#include <zend_fibers.h>

#include <cstdint>

namespace trueasync::php {

/// A coroutine's part of that count. Only where there can be native fibers: each look at the count is a call into the engine.
class FiberBlock {
public:
    void leave() noexcept {
        if (UNEXPECTED(request.has_native_fibers)) {
            for (; zend_fiber_switch_blocked(); ++count_) {
                zend_fiber_switch_unblock();
            }
        }
    }
    void enter() noexcept {
        for (; UNEXPECTED(count_ > 0); --count_) {
            zend_fiber_switch_block();
        }
    }

private:
    std::uint32_t count_ = 0;
};

}  // namespace trueasync::php
