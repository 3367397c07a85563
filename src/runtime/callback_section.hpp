#pragma once

#include <trueasync/runtime/scheduler.hpp>

namespace trueasync {

/// While callbacks run nothing may suspend: the running coroutine is marked, so every attempt reaches a slow path and is refused.
class Scheduler::CallbackSection {
public:
    TA_INLINE explicit CallbackSection(Scheduler& scheduler) noexcept
        : scheduler_(scheduler),
          coroutine_(*detail::hot.current),
          outer_(coroutine_.attention_ & Coroutine::kInCallback) {
        coroutine_.attention_ |= Coroutine::kInCallback;
    }
    /// For the running coroutine, which is known to be in none.
    TA_INLINE CallbackSection(Scheduler& scheduler, Coroutine& running) noexcept
        : scheduler_(scheduler), coroutine_(running), outer_(0) {
        running.attention_ |= Coroutine::kInCallback;
    }
    TA_INLINE ~CallbackSection() {
        if (outer_ == 0) {
            coroutine_.attention_ &= ~Coroutine::kInCallback;
            if (!scheduler_.microtasks_.empty()) {
                scheduler_.grant_turns(0);
            }
        }
    }
    CallbackSection(const CallbackSection&) = delete;
    CallbackSection& operator=(const CallbackSection&) = delete;

private:
    Scheduler& scheduler_;
    Coroutine& coroutine_;
    std::uint32_t outer_;
};

}  // namespace trueasync
