#pragma once

/// @file stress/random.hpp
/// Random numbers that a seed repeats.

#include <chrono>
#include <cstdint>
#include <trueasync/base/deadline.hpp>

namespace trueasync::stress {

/// splitmix64: small, fast, the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t state) : state_(state) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    unsigned pick(unsigned count) { return static_cast<unsigned>(next() % count); }
    bool one_in(unsigned count) { return pick(count) == 0; }
    Duration duration() { return std::chrono::microseconds(1 + pick(100)); }

private:
    std::uint64_t state_;
};

}  // namespace trueasync::stress
