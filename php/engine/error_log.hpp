#pragma once

/// While PHP writes a line to its log it drops whatever else is to be logged, so that a failure does not log itself. Without this the lines of
/// other coroutines would be lost while one waits for the reader of a pipe.

#include "request.hpp"

#include <cstdint>
#include <utility>

namespace trueasync::php {

/// The running coroutine may be about to wait: if it is logging, the others are not.
TA_INLINE void note_logging() noexcept {
    if (UNEXPECTED(PG(in_error_log))) {
        request.has_rare_state |= Request::kLogging;
    }
}

class ErrorLogState {
public:
    void leave() noexcept {
        if ((request.has_rare_state & Request::kLogging) != 0) {
            request.has_rare_state &= static_cast<std::uint8_t>(~Request::kLogging);
            is_logging_ = std::exchange(PG(in_error_log), false);
        }
    }
    void enter() noexcept {
        if (UNEXPECTED(is_logging_)) {
            PG(in_error_log) = std::exchange(is_logging_, false);
        }
    }

private:
    bool is_logging_ = false;
};

}  // namespace trueasync::php
