#pragma once

/// What the process knows of its hooks.

#include <atomic>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync::hooked {

struct State {
    std::atomic<bool> is_on = false;
    TransparentHost* host = nullptr;
};

extern State state;

inline bool is_on() noexcept { return state.is_on.load(std::memory_order_relaxed); }

/// Rewrites what was loaded since the last time.
void look_for_objects() noexcept;

/// Of signal handlers that were set through `hooked::sigaction`, one interrupted by the next.
extern thread_local constinit int signal_depth __attribute__((tls_model("initial-exec")));
inline bool is_in_signal_handler() noexcept { return signal_depth != 0; }

/// What replaces the function `found` of that name; null when nothing does.
void* hook_of(const void* found, const char* name) noexcept;

}  // namespace trueasync::hooked
