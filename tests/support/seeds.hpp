#pragma once

/// @file support/seeds.hpp
/// Random tests that can be repeated.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <string>

namespace trueasync::testing {

/// Calls `body` with each of `count` seeds until one fails. `TRUEASYNC_SEED` picks one, for a failure that was seen.
inline void for_seeds(unsigned first, unsigned count, const std::function<void(std::mt19937& random)>& body) {
    if (const char* chosen = std::getenv("TRUEASYNC_SEED")) {
        first = static_cast<unsigned>(std::strtoul(chosen, nullptr, 10));
        count = 1;
    }
    for (unsigned seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("TRUEASYNC_SEED=" + std::to_string(seed));
        std::mt19937 random(seed);
        body(random);
    }
}

}  // namespace trueasync::testing
