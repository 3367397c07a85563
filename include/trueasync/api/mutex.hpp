#pragma once

/// @file trueasync/api/mutex.hpp
/// One coroutine at a time in a piece of code that suspends.

#include <optional>
#include <trueasync/api/await.hpp>
#include <trueasync/sync/mutex.hpp>

namespace trueasync {

/// Locked by one coroutine at a time, given on in the order of arrival. Also works with `std::unique_lock` and `std::scoped_lock`.
///
/// Coroutines of one thread do not interrupt each other: it is needed only around code that suspends.
/// Thread rule: the thread of its runtime.
/// Lifetime: its end closes it; who waits then fails.
///
/// @snippet unit/api/mutex_test.cpp  mutex
class Mutex {
public:
    /// Holds the lock; its end unlocks. May be moved, and end in any coroutine.
    class [[nodiscard]] Guard {
    public:
        Guard(Guard&& other) noexcept = default;
        Guard& operator=(Guard&& other) noexcept {
            Guard taken(std::move(other));
            mutex_.swap(taken.mutex_);
            std::swap(owner_, taken.owner_);
            return *this;
        }
        ~Guard() {
            if (mutex_ != nullptr) {
                detail::report(*mutex_, mutex_->unlock(owner_));
            }
        }

        /// Unlocks now. Throws `AsyncError` (`IllegalState`) when the mutex was unlocked by somebody else.
        void unlock() {
            if (const Ref<MutexEvent> mutex = std::move(mutex_)) {
                detail::check(mutex->unlock(owner_));
            }
        }
        /// False once it was unlocked.
        explicit operator bool() const noexcept { return mutex_ != nullptr; }

    private:
        friend class Mutex;
        explicit Guard(const Ref<MutexEvent>& mutex) noexcept : mutex_(mutex), owner_(mutex->owner()) {}

        Ref<MutexEvent> mutex_;
        std::uint64_t owner_;
    };

    Mutex() : mutex_(make_ref<MutexEvent>()) {}
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;
    ~Mutex() { mutex_->close(); }

    /// Locks it until the guard ends. May suspend. Throws `Cancellation`, `TimeoutError` when the limit came first, and `AsyncError` for
    /// wrong use: by its owner (`IllegalState`), outside a coroutine, closed (`EventClosed`).
    /// Cancel safety: a lock that was meant for the caller goes to the next in line.
    Guard guard(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        lock(limit, where);
        return Guard(mutex_);
    }
    std::optional<Guard> try_guard(std::source_location where = std::source_location::current()) {
        return try_lock(where) ? std::optional<Guard>(Guard(mutex_)) : std::nullopt;
    }

    /// The same without a guard.
    void lock(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        detail::check(mutex_->lock(limit, where));
    }
    /// Locks it if it is free. Never suspends.
    bool try_lock(std::source_location where = std::source_location::current()) noexcept {
        return mutex_->try_lock(where);
    }
    /// The first in line has it now. Never suspends. Throws `AsyncError` (`IllegalState`) when this coroutine does not own it.
    void unlock() { detail::check(mutex_->unlock()); }

    bool is_locked() const noexcept { return mutex_->is_locked(); }
    /// Who waits, and who comes, gets an `AsyncError` (`EventClosed`). Who has locked it unlocks as usual.
    void close() noexcept { mutex_->close(); }
    MutexEvent& event() const noexcept { return *mutex_; }

private:
    Ref<MutexEvent> mutex_;
};

}  // namespace trueasync
