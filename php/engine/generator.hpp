#pragma once

/// At the end of a script the engine destroys all objects, also generators whose code stands still in the middle of a coroutine. Without
/// this such a generator would be resumed where it runs already, which is a fatal error.

namespace trueasync::php {

void generator_minit();

}  // namespace trueasync::php
