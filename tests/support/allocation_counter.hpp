#pragma once

/// @file support/allocation_counter.hpp
/// Counts what a piece of code takes from the heap, and makes the heap fail.

#include <cstddef>

namespace trueasync::testing {

/// How often this thread has called a global `operator new` since this object was made.
///
/// Sanitizers bring an `operator new` of their own; `works()` is false then and a test that counts has to skip.
class AllocationCounter {
public:
    AllocationCounter() noexcept : before_(total()) {}

    static bool works() noexcept;

    std::size_t count() const noexcept { return total() - before_; }

private:
    static std::size_t total() noexcept;

    std::size_t before_;
};

/// While it lives, every allocation of this thread throws `std::bad_alloc` (where `AllocationCounter::works()`).
class NoMemory {
public:
    NoMemory() noexcept;
    ~NoMemory();
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace trueasync::testing
