#pragma once

/// What PDO does with its parameters while it waits, and with the error of a call that was cancelled.

namespace trueasync::php {

/// Before whatever else replaces handlers when all modules are there.
void pdo_minit() noexcept;

}  // namespace trueasync::php
