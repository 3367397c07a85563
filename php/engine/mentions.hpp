#pragma once

/// Whether the program uses `Async\` at all. A fiber of one that does is a coroutine from the beginning, as is told of it; without this either
/// such a fiber would stay PHP's own for good, or the fibers of programs that know nothing of coroutines would become some.

namespace trueasync::php {

/// Looks through the code that has been compiled so far, once for each file that came since.
bool mentions_async() noexcept;

void mentions_request_begin() noexcept;

}  // namespace trueasync::php
