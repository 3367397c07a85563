#include "fork_generation.hpp"

#include <pthread.h>

namespace trueasync::detail {

constinit std::atomic<std::uint32_t> fork_count = 0;

void watch_forks() noexcept {
    [[maybe_unused]] static const int registered =
        pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace trueasync::detail
