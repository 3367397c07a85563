#pragma once

/// Blocking functions of PHP, of its extensions and of the libraries below them suspend only the coroutine that calls them.

namespace trueasync::php {

/// Before the first coroutine of the process; later calls cost nothing. Says so once if it cannot be done.
void begin_transparent_io() noexcept;

}  // namespace trueasync::php
