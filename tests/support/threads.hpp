#pragma once

/// @file support/threads.hpp
/// Order between threads without sleeping.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <support/forks.hpp>
#include <thread>

namespace trueasync::testing {

/// Shut until somebody opens it. Who waits for longer than any test may last goes on, and the test fails.
class Gate {
public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        if (!opened_.wait_for(lock, std::chrono::seconds(9), [this] { return is_open_; })) {
            ADD_FAILURE() << "nobody opened the gate";
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
};

/// Looks again and again until `condition` holds. False when it did not within the time a test has.
template <typename F>
bool eventually(F&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(9);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace trueasync::testing
