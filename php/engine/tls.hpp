#pragma once

/// PHP makes the descriptor of a TLS stream non-blocking for the length of a call and calls the stream so. Another coroutine that came meanwhile
/// would believe it: its `fwrite` would stop in the middle, its `fread` would find nothing.

namespace trueasync::php {

class PhpCoroutine;

/// The coroutine, which runs, waits inside a call: to others the stream is what it was before.
void begin_tls_wait(PhpCoroutine& coroutine) noexcept;
/// It goes on.
void end_tls_wait(PhpCoroutine& coroutine) noexcept;

}  // namespace trueasync::php
