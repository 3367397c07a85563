#include "overflow.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/runtime/stack_overflow.hpp>

namespace trueasync::php {

namespace {

thread_local std::optional<OverflowGuard> guard;

/// In a signal handler, on a stack of its own. Does not come back: PHP's own memory may be in any state.
std::size_t end_process(char* /*buffer*/, std::size_t /*size*/, void* context) noexcept {
    char who[512];
    const std::size_t length = Runtime::describe_running(who, sizeof(who), nullptr);
    char line[800];
    const int written = std::snprintf(
        line, sizeof(line),
        "PHP Fatal error:  Stack overflow in %.*s: its %zu KiB are used up; use less recursion or a larger "
        "async.stack_size\n",
        static_cast<int>(length), who, reinterpret_cast<std::size_t>(context) / 1024
    );
    const auto size = std::min(static_cast<std::size_t>(std::max(written, 0)), sizeof(line) - 1);
    if (::write(STDERR_FILENO, line, size) < 0) {
        // nobody is left to tell
    }
    ::_exit(255);
}

}  // namespace

void guard_overflow(const StackPool& stacks, std::size_t stack_size) noexcept {
    guard.emplace(stacks, &end_process, reinterpret_cast<void*>(stack_size));
}

void unguard_overflow() noexcept { guard.reset(); }

}  // namespace trueasync::php
