#pragma once

/// @file chaos/chaos.hpp
/// Cancels a random coroutine at a random suspension point.

#include <cstdint>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync::testing {

/// What goes wrong on purpose in this process: set by the main of the chaos run, off in every other.
class Chaos {
public:
    /// Of a thousand turns about `per_mille` bring a cancellation.
    static void begin(std::uint64_t seed, unsigned per_mille) noexcept;
    static bool is_on() noexcept;

    /// Watches the runtime of this thread; call it first thing in `run`. Does nothing when chaos is off.
    static void watch_this_runtime();

    static std::uint64_t cancellations() noexcept;
};

}  // namespace trueasync::testing
