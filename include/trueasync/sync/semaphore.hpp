#pragma once

/// @file trueasync/sync/semaphore.hpp
/// A number of permits.

#include <trueasync/sync/line.hpp>

namespace trueasync {

/// Gives permits out, one or several at a time. Who finds too few waits in line, and nobody goes past the first, however little he wants.
///
/// Who is woken has his permits already.
/// Cancel rule: who is cancelled leaves the line; permits he had already, without having run, go to the next.
class TA_API SemaphoreEvent final : public LineEvent {
public:
    explicit SemaphoreEvent(std::size_t permits) noexcept
        : LineEvent(EventType::Semaphore), permits_(permits), available_(permits) {}

    /// Takes `count` permits. May suspend. `Refused`: none or more than there are (`InvalidArgument`), closed (`EventClosed`).
    TA_INLINE WaitResult acquire(
        std::size_t count = 1, const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept {
        return TA_LIKELY(limit.is_none()) && try_acquire(count) ? WaitResult::Ready : acquire_slow(count, limit, where);
    }

    /// Takes them if that needs no waiting; not while somebody waits. False also when it is closed.
    TA_INLINE bool try_acquire(std::size_t count = 1) noexcept {
        if (TA_UNLIKELY(count > available_ || count == 0 || !line_.empty() || is_closed())) {
            return false;
        }
        available_ -= count;
        return true;
    }

    /// Gives permits back; anybody may. Never suspends. Refused with `IllegalState`, and nothing is changed, when fewer are out.
    [[nodiscard]] TA_INLINE Status give_back(std::size_t count = 1) noexcept {
        if (TA_UNLIKELY(count > permits_ - available_)) {
            return refuse_back(count);
        }
        available_ += count;
        if (TA_UNLIKELY(!line_.empty())) {
            serve();
        }
        return {};
    }

    std::size_t permits() const noexcept { return permits_; }
    std::size_t available() const noexcept { return available_; }

    /// `Semaphore(permits=3, available=0, waiting=2)`.
    std::string info() const override;

    // --- for those who wait in it

    void enter(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    void leave(detail::Waiter& waiter, std::uint8_t kind) noexcept;

private:
    void serve() noexcept;
    WaitResult acquire_slow(std::size_t count, const WaitLimit& limit, std::source_location where) noexcept;
    TA_COLD Status refuse_back(std::size_t count) const noexcept;

    std::size_t permits_;
    std::size_t available_;  // too few for the first in line, if there is one
};

}  // namespace trueasync
