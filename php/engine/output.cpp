#include "output.hpp"

#include "../classes/coroutine.hpp"
#include "request.hpp"

#include <SAPI.h>

#include <trueasync/runtime/wait.hpp>

namespace trueasync::php {

namespace {

decltype(sapi_module.ub_write) write_before = nullptr;

/// PHP takes a write that fails for a reader who has gone, and ends the script on the spot. A cancellation waits until all is written.
size_t write_whole(const char* text, size_t size) {
    if (request.runtime == nullptr || request.is_in_scheduler || request.is_dying) {
        return write_before(text, size);
    }
    PhpCoroutine& self = PhpCoroutine::running();
    const ProtectGuard protect;
    const bool was_printing = std::exchange(self.is_printing, true);
    const size_t written = write_before(text, size);
    self.is_printing = was_printing;
    return written;
}

}  // namespace

void begin_whole_output() noexcept {
    if (write_before == nullptr && sapi_module.ub_write != nullptr) {
        write_before = sapi_module.ub_write;
        sapi_module.ub_write = write_whole;
    }
}

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
