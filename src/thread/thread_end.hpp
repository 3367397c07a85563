#pragma once

namespace trueasync::detail {

/// A thread of ours ends: the thread channels that were made on it are closed.
void close_channels_of_this_thread() noexcept;

}  // namespace trueasync::detail
