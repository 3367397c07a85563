#pragma once

/// The tracing JIT crashes when a destructor throws while its function is being left, if the frame has something special to give back: more
/// arguments than parameters, or a page of the VM stack. The last is rare in the engine, whose pages are large, and common in coroutines.

namespace trueasync::php {

/// Before any code of the request runs. Does nothing without opcache.
void guard_jit();

}  // namespace trueasync::php
