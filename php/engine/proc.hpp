#pragma once

/// Stock `proc_close()` cannot tell a child that was killed from one that has ended with that number, and knows nothing of one that
/// `proc_get_status()` has seen ending. In a coroutine it answers with the code, or with the signal as a negative number.

#include <sys/types.h>

namespace trueasync::php {

void proc_minit();
void proc_request_end() noexcept;

/// A coroutine has waited for a child.
void note_child(pid_t child, int status) noexcept;

}  // namespace trueasync::php
