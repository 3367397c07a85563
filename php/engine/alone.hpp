#pragma once

/// Functions of PHP that keep what they are in the middle of in variables that all share: the session, the parser of INI files, the line that
/// is being typed, the keys of a sort, the marks on what is being printed. One coroutine at a time is inside each kind; others wait for their turn.

namespace trueasync::php {

/// Each is replaced when all modules are there, before anything is compiled.
void alone_minit() noexcept;

}  // namespace trueasync::php
