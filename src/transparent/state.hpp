#pragma once

/// What the process knows of its hooks.

#include <atomic>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync::hooked {

struct State {
    std::atomic<bool> is_on = false;
    TransparentHost* host = nullptr;
};

State& state() noexcept;

inline bool is_on() noexcept { return state().is_on.load(std::memory_order_relaxed); }

/// Rewrites what was loaded since the last time.
void look_for_objects() noexcept;

/// Whether this thread is in a signal handler that was set through `hooked::sigaction`.
bool is_in_signal_handler() noexcept;

/// What replaces the function `found` of that name; null when nothing does.
void* hook_of(const void* found, const char* name) noexcept;

}  // namespace trueasync::hooked
