#pragma once

/// While a coroutine waits inside a function of an extension, what the function works on is in the middle of something: another coroutine
/// that used it would mix up a protocol or a buffer. A connection refuses the other, reads of a stream take turns, and who closes one lets the
/// others leave first.

#include "../zend.hpp"

namespace trueasync::php {

class PhpCoroutine;

/// `coroutine`, which runs, is about to suspend, perhaps inside such a function.
void note_use(PhpCoroutine& coroutine) noexcept;

/// It is over.
void end_use(PhpCoroutine& coroutine) noexcept;

/// The stream that is the first argument of a function; null if it is none.
php_stream* stream_of(zend_execute_data* call) noexcept;

void in_use_minit();

}  // namespace trueasync::php
