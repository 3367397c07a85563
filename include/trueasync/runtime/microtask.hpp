#pragma once

/// @file trueasync/runtime/microtask.hpp
/// Small work done between two turns, without a coroutine.

#include <cstdint>
#include <trueasync/base/ref.hpp>
#include <trueasync/base/ring.hpp>
#include <trueasync/base/status.hpp>

namespace trueasync {

/// Runs once, before the next switch, on whatever stack is running. Must be short and must not suspend.
///
/// Counted: the queue holds one reference until it has run. The destructor is the clean-up, run when the last reference
/// goes, also for a cancelled one that never ran.
class TA_API Microtask {
public:
    Microtask() = default;
    Microtask(const Microtask&) = delete;
    Microtask& operator=(const Microtask&) = delete;

    /// A failure (or an exception) stops the processing of the queue for this turn and starts a graceful shutdown.
    [[nodiscard]] virtual Status run() = 0;

    /// It stays in the queue and is dropped at its turn.
    void cancel() noexcept { is_cancelled_ = true; }
    bool is_cancelled() const noexcept { return is_cancelled_; }

    void add_ref() noexcept { ++ref_count_; }
    void release() noexcept {
        if (--ref_count_ == 0) {
            delete this;
        }
    }

protected:
    virtual ~Microtask() = default;

private:
    std::uint32_t ref_count_ = 1;
    bool is_cancelled_ = false;
};

/// First in, first out.
class TA_API MicrotaskQueue {
public:
    ~MicrotaskQueue() { clear(); }

    bool empty() const noexcept { return tasks_.empty(); }
    std::size_t size() const noexcept { return tasks_.size(); }

    void push(Microtask& task) {
        task.add_ref();
        tasks_.push_back(&task);
    }

    /// Runs what is queued, also what is added meanwhile, until the queue is empty or one fails; the rest stays.
    Status run_all();

    /// Drops everything without running it.
    void clear() noexcept;

private:
    Ring<Microtask*> tasks_;
};

}  // namespace trueasync
