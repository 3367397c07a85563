#pragma once

/// @file trueasync/sync/barrier.hpp
/// A place where a number of coroutines meet.

#include <trueasync/sync/line.hpp>

namespace trueasync {

/// Lets nobody through until `parties` have come; then all of them, and the next generation begins.
///
/// Cancel rule: who is cancelled, or too late, before all have come leaves and counts as not come: the others go on waiting for somebody in
/// his place. Who is cancelled after that has been counted: the others are through.
class TA_API BarrierEvent final : public LineEvent {
public:
    explicit BarrierEvent(std::size_t parties) noexcept : LineEvent(EventType::Barrier), parties_(parties) {}

    /// Comes, and waits for the others. May suspend; the last one does not. `index` tells which one in this generation the caller was,
    /// from 0. `Refused` when it is closed (`EventClosed`).
    WaitResult wait(
        std::size_t& index, const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept;

    std::size_t parties() const noexcept { return parties_; }
    /// How often all have come.
    std::uint64_t generation() const noexcept { return generation_; }

    /// `Barrier(parties=3, waiting=2, generation=0)`.
    std::string info() const override;

    // --- for those who wait in it

    void enter(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    void leave(detail::Waiter& waiter, std::uint8_t kind) noexcept;

private:
    std::size_t parties_;
    std::size_t waiting_ = 0;  // the length of the line
    std::uint64_t generation_ = 0;
};

}  // namespace trueasync
