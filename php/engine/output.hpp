#pragma once

/// Each coroutine has its own stack of output buffers. Without this what one coroutine prints would land in a buffer that another has
/// opened, and `ob_get_clean` would take what is not its own.

#include "../zend.hpp"

namespace trueasync::php {

/// The output layer of a coroutine that does not run; empty for most.
class OutputState {
public:
    static bool is_in_use() noexcept { return OG(handlers).top != 0 || OG(running) != nullptr; }
    /// The coroutine leaves: its buffers go with it.
    void leave() noexcept {
        if (is_in_use()) {
            save();
        }
    }
    /// It is back.
    void enter() noexcept {
        if (is_saved_) {
            restore();
        }
    }
    /// It has ended: flushes what is left.
    static void end() noexcept { php_output_end_all(); }
    /// A fatal error has ended it.
    static void abandon() noexcept;
    static bool has_buffers() noexcept { return OG(handlers).top != 0; }

private:
    void save() noexcept;
    void restore() noexcept;

    zend_stack handlers_;
    php_output_handler* active_;
    php_output_handler* running_;
    bool is_saved_ = false;
};

}  // namespace trueasync::php
