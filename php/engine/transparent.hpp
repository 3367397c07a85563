#pragma once

/// Blocking functions of PHP, of its extensions and of the libraries below them suspend only the coroutine that calls them.

namespace trueasync::php {

class PhpCoroutine;

/// With each runtime, and in the child of a fork that goes on with the one it has. Says so once if it cannot be done.
void begin_transparent_io() noexcept;

/// Nothing of the coroutine is inside a library any more.
void end_cut_off(PhpCoroutine& coroutine) noexcept;

}  // namespace trueasync::php
