#pragma once

/// Places in PHP source.

#include "value.hpp"

#include <trueasync/base/place.hpp>

namespace trueasync::php {

/// The innermost frame from `frame` on that has source; null when none has.
inline const zend_execute_data* user_frame(const zend_execute_data* frame) noexcept {
    while (frame != nullptr && (frame->func == nullptr || !ZEND_USER_CODE(frame->func->type))) {
        frame = frame->prev_execute_data;
    }
    return frame;
}

/// Where `frame` stands: the innermost one from there on that has a source line.
Place place_of(const zend_execute_data* frame) noexcept;

/// Where PHP code is now; `file` keeps the text alive.
Place place_here(Value& file) noexcept;

/// `[file, line]`, or `[null, 0]`.
void return_place(const Place& place, zval* return_value) noexcept;

/// `"file:line"`, or `"unknown"`.
void return_location(const Place& place, zval* return_value) noexcept;

}  // namespace trueasync::php
