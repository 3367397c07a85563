#pragma once

/// A connection is also used by what is no call of a function: a statement that is freed, a `foreach` over a result, methods that only the
/// driver of a connection has.

namespace trueasync::php {

/// When all modules are there.
void guard_uses_aside();

}  // namespace trueasync::php
