#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <trueasync/base/status.hpp>

namespace trueasync::detail {

/// Starts a detached thread with every signal blocked that is not its own fault. `body` must not throw.
[[nodiscard]] Status start_thread(const std::string& name, std::function<void()> body);

/// Those of `start_thread` that have not ended yet, in the whole process.
std::size_t live_threads() noexcept;

/// Waits until there are none. False when that took too long.
bool wait_for_threads(std::chrono::nanoseconds patience);

}  // namespace trueasync::detail
