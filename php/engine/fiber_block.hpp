#pragma once

/// Native fibers may not switch while a destructor or a signal handler runs, by a count that the engine keeps for all. Without this one
/// that suspends would forbid it to the other coroutines, which get a FiberError.

#include "../zend.hpp"

#include <zend_fibers.h>

#include <cstdint>

namespace trueasync::php {

class FiberBlock {
public:
    void leave(bool has_seen_fiber) noexcept {
        if (UNEXPECTED(has_seen_fiber)) {
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
