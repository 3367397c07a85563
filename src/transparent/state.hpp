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

/// Of this thread, zero nearly always: how many signal handlers that were set through `hooked::sigaction` it is in, one interrupted by the
/// next; and `kLookDue`, behind a `dlopen` that went past us.
extern thread_local constinit int thread_oddity __attribute__((tls_model("initial-exec")));
constexpr int kLookDue = 1 << 16;

inline bool is_in_signal_handler() noexcept { return (thread_oddity & ~kLookDue) != 0; }

/// Looks for what that has loaded.
inline void look_if_due() noexcept {
    if (TA_UNLIKELY(thread_oddity == kLookDue)) {
        thread_oddity = 0;
        look_for_objects();
    }
}

/// What replaces the function `found` of that name; null when nothing does.
void* hook_of(const void* found, const char* name) noexcept;

}  // namespace trueasync::hooked
