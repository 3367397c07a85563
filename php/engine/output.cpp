#include "output.hpp"

#include "../per_thread.hpp"
#include "request.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace trueasync::php {

namespace {

struct Common {
    php_output_handler* handler;
    void (*dtor)(void* opaque);  // its own
    char mark;                   // stands for what it knows, if it knows nothing
};

constexpr int kMost = 4;
TA_PHP_THREAD_LOCAL PerThread<std::array<Common, kMost>> commons;
TA_PHP_THREAD_LOCAL int common_count = 0;

/// The running coroutine is inside `ob_flush()` of the common buffer, which PHP takes out of the stack meanwhile.
TA_PHP_THREAD_LOCAL bool is_flushing_common = false;

/// What headers are sent for.
TA_PHP_THREAD_LOCAL char* memory_behind_headers = nullptr;

php_output_handler** handlers_of(const zend_stack& stack) noexcept {
    return static_cast<php_output_handler**>(zend_stack_base(&stack));
}

bool is_common(const php_output_handler* handler) noexcept {
    return std::any_of(commons->begin(), commons->begin() + common_count, [=](const Common& one) {
        return one.handler == handler;
    });
}

/// How many of them lie at the bottom.
int count_common(const zend_stack& stack) noexcept {
    int count = 0;
    while (count < std::min(common_count, zend_stack_count(&stack)) &&
           handlers_of(stack)[count] == (*commons)[count].handler) {
        ++count;
    }
    return count;
}

void set_common_count(int count) noexcept {
    common_count = count;
    OutputState::common = count != 0 ? (*commons)[count - 1].handler : nullptr;
}

/// One of them goes, and with it those above.
void forget_common(void* opaque) {
    for (int i = 0; i < common_count; ++i) {
        if ((*commons)[i].handler->opaq == opaque) {
            set_common_count(i);
            if (opaque != &(*commons)[i].mark && (*commons)[i].dtor != nullptr) {
                (*commons)[i].dtor(opaque);
            }
            return;
        }
    }
}

/// Those above the first `count` are about to go: what others print goes past them.
void release_common(int count) noexcept {
    for (int i = count; i < common_count; ++i) {
        php_output_handler& handler = *(*commons)[i].handler;
        handler.dtor = (*commons)[i].dtor;
        handler.opaq = handler.opaq == &(*commons)[i].mark ? nullptr : handler.opaq;
    }
    set_common_count(count);
}

/// Inside it somebody could wait.
bool runs_code(const php_output_handler& handler) noexcept {
    return (handler.flags & PHP_OUTPUT_HANDLER_USER) != 0 &&
           handler.func.user->fcc.function_handler->type == ZEND_USER_FUNCTION;
}

/// PHP asks those at the bottom whether they are.
void number(const zend_stack& stack) noexcept {
    for (int i = 0; i < zend_stack_count(&stack); ++i) {
        handlers_of(stack)[i]->level = i;
    }
}

}  // namespace

void OutputState::save() noexcept {
    handlers_ = OG(handlers);
    active_ = OG(active);
    running_ = OG(running);
    is_saved_ = true;
    is_flushing_common_ = std::exchange(is_flushing_common, false);
    common_count_ = count_common(handlers_);
    is_active_common_ = is_common(active_);
    if (UNEXPECTED(common_count_ < common_count && !is_flushing_common_)) {
        release_common(common_count_);
    }
    zend_stack_init(&OG(handlers), sizeof(php_output_handler*));
    for (int i = 0; i < common_count; ++i) {
        zend_stack_push(&OG(handlers), &(*commons)[i].handler);
    }
    OG(active) = common;
    OG(running) = nullptr;
}

void OutputState::restore() noexcept {
    zend_stack_destroy(&OG(handlers));
    if (UNEXPECTED(common_count_ > common_count)) {  // another has ended it
        php_output_handler** first = handlers_of(handlers_);
        std::copy(first + common_count_, first + handlers_.top, first + common_count);
        handlers_.top -= common_count_ - common_count;
        number(handlers_);
        if (is_active_common_ && !is_common(active_)) {
            active_ = handlers_.top != 0 ? handlers_of(handlers_)[handlers_.top - 1] : nullptr;
        }
    }
    OG(handlers) = handlers_;
    OG(active) = active_;
    OG(running) = running_;
    is_flushing_common = is_flushing_common_;
    is_saved_ = false;
}

void OutputState::end() noexcept {
    while (has_buffers()) {
        OG(active)->flags |= PHP_OUTPUT_HANDLER_REMOVABLE;  // it may have been opened as one that stays to the end
        if (php_output_end() != SUCCESS) {
            break;
        }
    }
}

void OutputState::abandon() noexcept {
    if (EXPECTED(!is_in_use())) {
        return;
    }
    if (OG(running) == nullptr) {
        zend_try { end(); }
        zend_end_try();
    }
    // Those that could not be flushed: a callback has failed.
    while (zend_stack_count(&OG(handlers)) > count_common(OG(handlers))) {
        php_output_handler_free(static_cast<php_output_handler**>(zend_stack_top(&OG(handlers))));
        zend_stack_del_top(&OG(handlers));
    }
    for (int i = count_common(OG(handlers)); i < common_count; ++i) {  // it was in the middle of flushing one
        zend_stack_push(&OG(handlers), &(*commons)[i].handler);
    }
    OG(active) = common;
    OG(running) = nullptr;
    is_flushing_common = false;
}

void TextOnItsWay::begin(const char* text) noexcept {
    if (request.runtime == nullptr) {
        return;
    }
    for (int i = 0; i < common_count; ++i) {
        php_output_buffer& buffer = (*commons)[i].handler->buffer;
        if (buffer.data != nullptr && buffer.used == 0 &&
            (text != nullptr ? buffer.data == text : memory_behind_headers == nullptr)) {
            (text != nullptr ? memory_ : memory_behind_headers) = buffer.data;
            buffer.data = static_cast<char*>(emalloc(buffer.size));
        }
    }
    if (text != nullptr && text == memory_behind_headers) {
        memory_ = std::exchange(memory_behind_headers, nullptr);
    }
    if (OG(active) == OutputState::common && count_common(OG(handlers)) != common_count) {
        flushed_ = std::exchange(OG(active), nullptr);
        is_flushing_common = true;
    }
}

void TextOnItsWay::end() noexcept {
    if (memory_ != nullptr) {
        efree(memory_);
    }
    if (flushed_ == nullptr) {
        return;
    }
    is_flushing_common = false;
    if (OutputState::common == flushed_) {
        OG(active) = flushed_;
    } else {  // another has ended it; PHP puts back what is active
        php_output_start_default();
        zend_stack_del_top(&OG(handlers));
    }
}

void output_request_begin() noexcept {
    const int count = std::min(zend_stack_count(&OG(handlers)), kMost);
    int i = 0;
    for (; i < count && !runs_code(*handlers_of(OG(handlers))[i]); ++i) {
        php_output_handler& handler = *handlers_of(OG(handlers))[i];
        (*commons)[i] = {&handler, handler.dtor, '\0'};
        handler.dtor = forget_common;
        if (handler.opaq == nullptr) {  // else nobody would be told
            handler.opaq = &(*commons)[i].mark;
        }
    }
    set_common_count(i);
    is_flushing_common = false;
}

void output_request_end() noexcept {
    if (char* memory = std::exchange(memory_behind_headers, nullptr)) {
        efree(memory);
    }
}

}  // namespace trueasync::php
