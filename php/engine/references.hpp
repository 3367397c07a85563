#pragma once

/// Some functions look up an array that was given by reference, wait, and then write where it was. Another coroutine that has changed the variable
/// meanwhile has freed that. They get a variable of their own, which is assigned at the end.

namespace trueasync::php {

/// Before anything is compiled, when all modules are there.
void guard_references() noexcept;

}  // namespace trueasync::php
