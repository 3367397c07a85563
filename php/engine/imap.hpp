#pragma once

/// ext/imap and the library below it keep in variables that all share what they are in the middle of: who logs in, and what the server says. Without
/// this a coroutine would log in with the name and password of another. One at a time is inside the extension, others wait for their turn.

namespace trueasync::php {

/// Its functions are replaced when all modules are there, before anything is compiled.
void imap_minit() noexcept;

}  // namespace trueasync::php
