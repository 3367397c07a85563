#pragma once

/// Each coroutine has its own stack of output buffers. Without this what one coroutine prints would land in a buffer that another has
/// opened, and `ob_get_clean` would take what is not its own.
///
/// What PHP itself has opened at the start of the request (`output_buffering`) is the page, to which all coroutines print: it is common, and lies
/// below the own ones of each. Without this what a coroutine prints would overtake the page, and send its headers.

#include "../zend.hpp"

#include <trueasync/base/export.hpp>

namespace trueasync::php {

/// The output layer of a coroutine that does not run; empty for most.
class OutputState {
public:
    static bool is_in_use() noexcept { return OG(active) != common || OG(running) != nullptr; }
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
    static void end() noexcept;
    /// A fatal error has ended it.
    static void abandon() noexcept;
    /// Of its own.
    static bool has_buffers() noexcept { return OG(active) != nullptr && OG(active) != common; }

    /// The topmost that all coroutines have, null if there is none.
    static inline TA_PHP_THREAD_LOCAL php_output_handler* common = nullptr;

private:
    void save() noexcept;
    void restore() noexcept;

    zend_stack handlers_;
    php_output_handler* active_;
    php_output_handler* running_;
    int common_count_;  // at the bottom of `handlers_`
    bool is_active_common_;
    bool is_flushing_common_;
    bool is_saved_ = false;
};

/// Around what the server is given, in which the running coroutine may wait: others go on to fill the common buffer from whose memory the text comes,
/// and may end it.
class TextOnItsWay {
public:
    explicit TextOnItsWay(const char* text) noexcept {
        if (UNEXPECTED(OutputState::common != nullptr)) {
            begin(text);
        }
    }
    TextOnItsWay(const TextOnItsWay&) = delete;
    TextOnItsWay& operator=(const TextOnItsWay&) = delete;
    ~TextOnItsWay() {
        if (UNEXPECTED(memory_ != nullptr || flushed_ != nullptr)) {
            end();
        }
    }

private:
    TA_COLD void begin(const char* text) noexcept;
    TA_COLD void end() noexcept;

    char* memory_ = nullptr;
    php_output_handler* flushed_ = nullptr;
};

void output_request_begin() noexcept;
void output_request_end() noexcept;

}  // namespace trueasync::php
