#pragma once

/// @file trueasync/api/semaphore.hpp
/// At most so many coroutines at a time.

#include <optional>
#include <trueasync/api/await.hpp>
#include <trueasync/sync/semaphore.hpp>

namespace trueasync {

namespace detail {

TA_API std::size_t checked_permits(std::size_t permits);

}  // namespace detail

/// Gives permits out in the order of arrival, one or several at a time.
///
/// Thread rule: the thread of its runtime.
/// Lifetime: its end closes it; who waits then fails.
///
/// @snippet unit/api/semaphore_test.cpp  semaphore
class Semaphore {
public:
    /// Permits on loan; its end gives them back.
    class [[nodiscard]] Permit {
    public:
        Permit(Permit&& other) noexcept = default;
        Permit& operator=(Permit&& other) noexcept {
            Permit taken(std::move(other));
            semaphore_.swap(taken.semaphore_);
            std::swap(count_, taken.count_);
            return *this;
        }
        ~Permit() {
            if (semaphore_ != nullptr) {
                detail::report(*semaphore_, semaphore_->give_back(count_));
            }
        }

        /// Gives them back now. Throws `AsyncError` (`IllegalState`) when somebody else has given back too many.
        void release() {
            if (const Ref<SemaphoreEvent> semaphore = std::move(semaphore_)) {
                detail::check(semaphore->give_back(count_));
            }
        }
        /// False once they were given back.
        explicit operator bool() const noexcept { return semaphore_ != nullptr; }

    private:
        friend class Semaphore;
        Permit(const Ref<SemaphoreEvent>& semaphore, std::size_t count) noexcept
            : semaphore_(semaphore), count_(count) {}

        Ref<SemaphoreEvent> semaphore_;
        std::size_t count_;
    };

    /// Throws `AsyncError` (`InvalidArgument`) for no permit at all.
    explicit Semaphore(std::size_t permits) : semaphore_(make_ref<SemaphoreEvent>(detail::checked_permits(permits))) {}
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;
    ~Semaphore() { semaphore_->close(); }

    /// Takes permits until the result ends. May suspend. Throws `Cancellation`, `TimeoutError` when the limit came first, and `AsyncError`
    /// for none or more than there are (`InvalidArgument`) and when it is closed (`EventClosed`).
    /// Cancel safety: permits that were meant for the caller go to the next in line.
    Permit permit(
        std::size_t count = 1, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        acquire(count, limit, where);
        return Permit(semaphore_, count);
    }
    std::optional<Permit> try_permit(std::size_t count = 1) {
        return try_acquire(count) ? std::optional<Permit>(Permit(semaphore_, count)) : std::nullopt;
    }

    /// The same without an object that gives them back.
    void acquire(
        std::size_t count = 1, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        detail::check(semaphore_->acquire(count, limit, where));
    }
    /// Takes them if that needs no waiting; not while somebody else waits. Never suspends.
    bool try_acquire(std::size_t count = 1) noexcept { return semaphore_->try_acquire(count); }
    /// Gives permits back; any coroutine may. Never suspends. Throws `AsyncError` (`IllegalState`) when fewer are out.
    void release(std::size_t count = 1) { detail::check(semaphore_->give_back(count)); }

    std::size_t permits() const noexcept { return semaphore_->permits(); }
    std::size_t available() const noexcept { return semaphore_->available(); }
    /// Who waits, and who comes, gets an `AsyncError` (`EventClosed`). Permits are given back as usual.
    void close() noexcept { semaphore_->close(); }
    SemaphoreEvent& event() const noexcept { return *semaphore_; }

private:
    Ref<SemaphoreEvent> semaphore_;
};

}  // namespace trueasync
