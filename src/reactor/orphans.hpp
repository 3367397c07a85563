#pragma once

#include <sys/types.h>
#include <cstddef>

namespace trueasync::detail {

/// A child that nobody waits for any more, and whose loop has gone: collected when somebody comes by.
void adopt_orphan(pid_t pid) noexcept;

/// Collects those that have ended. Called whenever a child is started or ends.
void collect_orphans() noexcept;

/// How many there are, ended or not.
std::size_t orphan_count() noexcept;

}  // namespace trueasync::detail
