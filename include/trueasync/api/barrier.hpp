#pragma once

/// @file trueasync/api/barrier.hpp
/// A place where coroutines wait for each other.

#include <trueasync/api/await.hpp>
#include <trueasync/sync/barrier.hpp>

namespace trueasync {

namespace detail {

TA_API std::size_t checked_parties(std::size_t parties);

}  // namespace detail

/// Lets nobody through until all parties have come, again and again.
///
/// Thread rule: the thread of its runtime.
/// Lifetime: its end closes it; who waits then fails.
///
/// @snippet unit/api/barrier_test.cpp  barrier
class Barrier {
public:
    /// Throws `AsyncError` (`InvalidArgument`) for no party at all.
    explicit Barrier(std::size_t parties) : barrier_(make_ref<BarrierEvent>(detail::checked_parties(parties))) {}
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;
    ~Barrier() { barrier_->close(); }

    /// Comes, and waits for the others; returns the place in the order of arrival: 0, 1, ... May suspend; the last one does not. Throws
    /// `Cancellation`, `TimeoutError` when the limit came first, and `AsyncError` (`EventClosed`) when it is closed.
    /// Cancel safety: who is cancelled, or too late, counts as not come, and the others wait on; unless the last one has come already.
    std::size_t wait(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        std::size_t index = 0;
        detail::check(barrier_->wait(index, limit, where));
        return index;
    }

    std::size_t parties() const noexcept { return barrier_->parties(); }
    /// How many wait now.
    std::size_t waiting() const noexcept { return barrier_->waiting_count(); }
    /// How often all have come.
    std::uint64_t generation() const noexcept { return barrier_->generation(); }
    /// Somebody will never come: who waits, and who comes, gets an `AsyncError` (`EventClosed`).
    void close() noexcept { barrier_->close(); }
    BarrierEvent& event() const noexcept { return *barrier_; }

private:
    Ref<BarrierEvent> barrier_;
};

}  // namespace trueasync
