#pragma once

/// The compiler's state is one for all, and an error handler may run in the middle of a file. Without this one that waits would let another
/// coroutine compile meanwhile, and two scripts would get mixed up; so the other waits until the first is out.

#include "../zend.hpp"

namespace trueasync::php {

/// Nobody else compiles from here on, but what the running coroutine compiles inside. May suspend. False: it threw.
bool begin_compiling() noexcept;
void end_compiling() noexcept;

/// The running function reads a file of code. `include_once` has noted its name by then, and who includes it next goes on as if everything in it
/// were declared: nobody else may run meanwhile. An error handler, which is another function, may wait.
bool is_reading_script() noexcept;

/// What code of PHP or a server has to bring is read before: it may take long, and they may have to compile something for it. May suspend.
/// False: there is nothing, as has been said.
bool read_ahead(zend_file_handle* handle, int type) noexcept;

}  // namespace trueasync::php
