#include "output.hpp"

namespace trueasync::php {

void OutputState::save() noexcept {
    handlers_ = OG(handlers);
    active_ = OG(active);
    running_ = OG(running);
    is_saved_ = true;
    zend_stack_init(&OG(handlers), sizeof(php_output_handler*));
    OG(active) = nullptr;
    OG(running) = nullptr;
}

void OutputState::restore() noexcept {
    zend_stack_destroy(&OG(handlers));
    OG(handlers) = handlers_;
    OG(active) = active_;
    OG(running) = running_;
    is_saved_ = false;
}

}  // namespace trueasync::php
