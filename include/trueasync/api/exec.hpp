#pragma once

/// @file trueasync/api/exec.hpp
/// Shell commands.

#include <source_location>
#include <string>
#include <trueasync/api/await.hpp>
#include <trueasync/reactor/exec.hpp>

namespace trueasync {

/// Runs a shell command and waits for its end. May suspend.
///
/// Throws `TimeoutError` at the `timeout` of the options or at the limit, `Cancellation`, and `AsyncError` (`System`) when no process
/// could be made. The exit code is in the result, also that of a command which was not found (127).
/// Cancel safety: the command is killed with its process group whenever this ends before it does.
///
/// @snippet unit/api/exec_test.cpp  execute
TA_API ExecResult
execute(ExecOptions options, const Limit& limit = {}, std::source_location where = std::source_location::current());

/// The output of a shell command, as it is. May suspend. Throws like `execute`.
TA_API std::string shell_exec(
    std::string command, const Limit& limit = {}, std::source_location where = std::source_location::current()
);

}  // namespace trueasync
