#pragma once

/// @file trueasync/sync/multi_wait.hpp
/// Waiting until enough of many events have happened.

#include <memory>
#include <trueasync/runtime/wait.hpp>
#include <vector>

namespace trueasync {

/// Observes any mix of events (coroutines, futures, timers, …) and waits until enough of them have succeeded, until one has failed if
/// that is to end it, or until all are through. What happens before the waiter goes on is noted too. The events themselves are left
/// as they are.
///
/// Thread rule: its thread only.
/// Lifetime: lies on the stack of who waits; its destructor unsubscribes.
/// Cancel rule: leaving the wait early undoes nothing and loses nothing.
///
/// @snippet unit/sync/multi_wait_test.cpp  enough
class TA_API MultiWait {
public:
    static constexpr std::size_t kAll = SIZE_MAX;

    /// `enough` counts successes. With `fails_fast` the first error is enough too.
    explicit MultiWait(std::size_t enough = kAll, bool fails_fast = false) noexcept;
    MultiWait(const MultiWait&) = delete;
    MultiWait& operator=(const MultiWait&) = delete;
    ~MultiWait();

    /// Observes one more; it gets the next number. One that is complete already counts at once. The same event may come twice.
    [[nodiscard]] Status add(Event& event);

    /// While it is open more may be added, and having all of them is not enough.
    void keep_open() noexcept { is_open_ = true; }
    void seal() noexcept;

    /// Ends the wait with an error: whoever adds has failed.
    void abort(Ref<Error> error) noexcept;

    /// May suspend; does not when there is enough already. `Failed` after `abort`. The token of the limit goes before everything
    /// that has not been enough before it fired, also where it is itself observed.
    WaitResult wait(const WaitLimit& limit = {}, std::source_location where = std::source_location::current()) noexcept;

    bool is_enough() const noexcept {
        return successes_ >= enough_ || (fails_fast_ && failures_ != 0) || abort_ != nullptr ||
               (!is_open_ && order_.size() == triggers_.size());
    }

    std::size_t size() const noexcept { return triggers_.size(); }
    Event& event(std::size_t number) const noexcept;
    bool is_done(std::size_t number) const noexcept;
    /// Null while it is pending and after success.
    Error* error(std::size_t number) const noexcept;
    /// The numbers of those that are through, as they came.
    const std::vector<std::size_t>& order() const noexcept { return order_; }
    /// Of those that failed the first; null when none has.
    Error* first_error() const noexcept;

private:
    class Trigger;

    void note(Trigger& trigger, Error* error) noexcept;
    void wake_if_enough(const Event* cause = nullptr) noexcept;

    std::vector<Ref<Trigger>> triggers_;
    std::vector<std::size_t> order_;
    Ref<Error> abort_;
    DirectWait* waiter_ = nullptr;
    const Event* token_ = nullptr;  // of the waiter's limit
    std::size_t enough_;
    std::size_t successes_ = 0;
    std::size_t failures_ = 0;
    bool fails_fast_;
    bool is_open_ = false;
};

}  // namespace trueasync
