#pragma once

/// Blocking functions of PHP, of its extensions and of the libraries below them suspend only the coroutine that calls them.

namespace trueasync::php {

class PhpCoroutine;

/// With each runtime, and in the child of a fork that goes on with the one it has. Says so once if it cannot be done.
void begin_transparent_io() noexcept;

/// Nothing of the coroutine is inside a library any more.
void end_cut_off(PhpCoroutine& coroutine) noexcept;

/// The running coroutine, if it was cancelled inside a library that has not returned to PHP code yet.
PhpCoroutine* cut_off_coroutine() noexcept;

/// That cancellation is not in flight for a while, so that another exception can be thrown. When one is, it is back with that as its previous.
void begin_cut_off_aside(PhpCoroutine& coroutine) noexcept;
/// Nothing was thrown after all.
void end_cut_off_aside(PhpCoroutine& coroutine) noexcept;

/// The cancellation that has cut the running coroutine off takes the place of what is in flight, which becomes its previous if it has none: what
/// it has may belong to others, too.
void throw_cut_off(PhpCoroutine& coroutine) noexcept;

}  // namespace trueasync::php
