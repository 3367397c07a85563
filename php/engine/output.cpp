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

void OutputState::abandon() noexcept {
    if (EXPECTED(!is_in_use())) {
        return;
    }
    if (OG(running) == nullptr) {
        zend_try { php_output_end_all(); }
        zend_end_try();
    }
    // Those that could not be flushed: a callback has failed.
    while (auto** handler = static_cast<php_output_handler**>(zend_stack_top(&OG(handlers)))) {
        php_output_handler_free(handler);
        zend_stack_del_top(&OG(handlers));
    }
    OG(active) = nullptr;
    OG(running) = nullptr;
}

}  // namespace trueasync::php
