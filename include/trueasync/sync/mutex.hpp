#pragma once

/// @file trueasync/sync/mutex.hpp
/// One coroutine at a time.

#include <trueasync/sync/line.hpp>

namespace trueasync {

/// Has an owner: the coroutine that locked it, or the first in line, from the moment the lock was given up. So nobody overtakes.
///
/// The coroutine is known by its id, so one that ends without unlocking leaves the mutex locked for good, and no other is taken for it.
/// Cancel rule: who is cancelled leaves the line; who owned it already, without having run, hands it to the next.
class TA_API MutexEvent final : public LineEvent {
public:
    /// An owner that is none.
    static constexpr std::uint64_t kNobody = 0;

    MutexEvent() noexcept : LineEvent(EventType::Mutex) {}

    /// Locks it. May suspend. `Refused`: by its owner (`IllegalState`), outside a coroutine and in a callback, closed (`EventClosed`).
    TA_INLINE WaitResult
    lock(const WaitLimit& limit = {}, std::source_location where = std::source_location::current()) noexcept {
        return TA_LIKELY(limit.is_none()) && try_lock(where) ? WaitResult::Ready : lock_slow(limit, where);
    }

    /// Locks it if it is free. False also when it is closed and where there is no coroutine.
    TA_INLINE bool try_lock(std::source_location where = std::source_location::current()) noexcept {
        const std::uint64_t self = running();
        if (TA_UNLIKELY(owner_ != kNobody || self == kNobody || is_closed())) {
            return false;
        }
        owner_ = self;
        locked_at_ = where;
        return true;
    }

    /// Unlocks it, in the name of the running coroutine or of a given one: the first in line owns it now. Never suspends. Refused with
    /// `IllegalState`, and nothing is changed, when that one is not the owner.
    [[nodiscard]] Status unlock() noexcept { return unlock(running()); }
    [[nodiscard]] TA_INLINE Status unlock(std::uint64_t owner) noexcept {
        if (TA_UNLIKELY(owner != owner_ || owner == kNobody)) {
            return refuse_unlock(owner);
        }
        hand_on();
        return {};
    }

    bool is_locked() const noexcept { return owner_ != kNobody; }
    /// The id of the coroutine that has it, or will have it in its next turn.
    std::uint64_t owner() const noexcept { return owner_; }
    /// Where its owner called; only while it is locked.
    Place locked_at() const noexcept { return locked_at_; }

    /// `Mutex(free)`, `Mutex(owner=3, locked at a.cpp:12, waiting=1)`.
    std::string info() const override;

    /// The id of the running coroutine; `kNobody` outside and in a callback.
    static std::uint64_t running() noexcept {
        const Coroutine* self = Scheduler::current_coroutine();
        return TA_LIKELY(self != nullptr && !Scheduler::is_inside_callback()) ? self->id() : kNobody;
    }

    // --- for those who wait in it

    void enter(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    void leave(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    void abandon(Coroutine& coroutine, std::uint8_t kind) noexcept;
    bool is_waiting(const Coroutine& coroutine, std::uint8_t kind) const noexcept;

private:
    TA_INLINE void hand_on() noexcept {
        if (TA_LIKELY(line_.empty())) {
            owner_ = kNobody;
        } else {
            serve_first();
        }
    }
    void serve_first() noexcept;
    WaitResult lock_slow(const WaitLimit& limit, std::source_location where) noexcept;
    TA_COLD Status refuse_unlock(std::uint64_t by) const noexcept;

    std::uint64_t owner_ = kNobody;  // nobody waits while it has none
    std::source_location locked_at_;
    detail::WaitPlace<MutexEvent> place_{*this, 0};
};

}  // namespace trueasync
