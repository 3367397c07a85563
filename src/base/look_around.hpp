#pragma once

#include <chrono>
#include <thread>

namespace trueasync::detail {

/// Before a thread sleeps: a short look whether what it would sleep for comes at once. Waking a thread on another processor takes longer
/// than most short work, on virtual machines ten times as long.
///
/// Looks less and less when nothing comes, and tries again now and then; never where there is only one processor.
class LookAround {
public:
    /// Until `has_come`, which other threads may make true; false when it has not.
    template <typename HasCome>
    bool until(HasCome&& has_come) noexcept {
        if (!is_worth_it()) {
            return has_come();
        }
        const auto end = std::chrono::steady_clock::now() + patience_;
        do {
            for (int i = 0; i < 8; ++i) {
                if (has_come()) {
                    patience_ = kMost;
                    return true;
                }
                rest();
            }
        } while (std::chrono::steady_clock::now() < end);
        patience_ /= 2;
        return has_come();
    }

private:
    using Time = std::chrono::nanoseconds;
    static constexpr Time kMost = std::chrono::microseconds(50);
    static constexpr Time kLeast = std::chrono::microseconds(4);
    static constexpr unsigned kPause = 64;  // sleeps without a look before the next try

    bool is_worth_it() noexcept {
        static const bool has_others = std::thread::hardware_concurrency() > 1;
        if (patience_ < kLeast && has_others && ++skipped_ == kPause) {
            skipped_ = 0;
            patience_ = kMost / 2;
        }
        return has_others && patience_ >= kLeast;
    }

    static void rest() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    Time patience_ = kMost;
    unsigned skipped_ = 0;
};

}  // namespace trueasync::detail
