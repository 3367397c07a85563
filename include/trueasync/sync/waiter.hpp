#pragma once

/// @file trueasync/sync/waiter.hpp
/// Those who wait for a channel, a mutex, a semaphore or a barrier, in the order they came.

#include <cstddef>
#include <cstdint>
#include <trueasync/runtime/wait.hpp>

namespace trueasync::detail {

/// A place in a list of waiters: of a coroutine, on whose stack it lies, or of something else that is told at once.
///
/// Being served takes it out of the list and makes what it waited for its own; who then leaves without using it must hand it on.
class Waiter {
public:
    enum class State : std::uintptr_t { Served = 0, Ended = 1 };
    using ServeFn = void (*)(Waiter& waiter, State state) noexcept;

    /// Of a coroutine that `set_coroutine` names.
    explicit Waiter(void* value) noexcept : value_(value) {}
    /// The same without a value.
    struct Unset {};
    TA_INLINE explicit Waiter(Unset /*unset*/) noexcept {}
    /// `serve` is called instead of waking a coroutine, in the middle of somebody else's turn.
    Waiter(ServeFn serve, void* value) noexcept : who_(kNoCoroutine), value_(value), serve_(serve) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    TA_INLINE void set_coroutine(Coroutine* coroutine) noexcept { who_ = reinterpret_cast<std::uintptr_t>(coroutine); }

    TA_INLINE bool is_waiting() const noexcept { return who_ > static_cast<std::uintptr_t>(State::Ended); }
    TA_INLINE bool is_served() const noexcept { return who_ == static_cast<std::uintptr_t>(State::Served); }
    /// Where its value lies; what the owner wants it to be.
    void* value() const noexcept { return value_; }

    /// Tells it how its waiting has ended. It is in no list any more.
    TA_INLINE void tell(State state) noexcept {
        const std::uintptr_t who = std::exchange(who_, static_cast<std::uintptr_t>(state));
        if (TA_LIKELY(who != kNoCoroutine)) {
            Scheduler::wake(*reinterpret_cast<Coroutine*>(who));
        } else {
            serve_(*this, state);
        }
    }

    /// It has left by itself.
    void give_up() noexcept { who_ = static_cast<std::uintptr_t>(State::Ended); }

private:
    friend class WaiterList;

    static constexpr std::uintptr_t kNoCoroutine = 2;

    std::uintptr_t who_;  // the coroutine as long as it waits, then a `State`: one word less to write for a wait
    void* value_;
    ServeFn serve_;     // means nothing for a coroutine
    Waiter* previous_;  // these two mean nothing at the ends of a list and outside
    Waiter* next_;
};

/// First come, first served. One waiter alone costs two stores to come and one to go.
class WaiterList {
public:
    WaiterList() noexcept = default;
    WaiterList(const WaiterList&) = delete;
    WaiterList& operator=(const WaiterList&) = delete;

    TA_INLINE bool empty() const noexcept { return head_ == nullptr; }
    Waiter* head() const noexcept { return head_; }

    TA_INLINE void push_back(Waiter& waiter) noexcept {
        if (TA_LIKELY(head_ == nullptr)) {
            head_ = &waiter;
        } else {
            tail_->next_ = &waiter;
            waiter.previous_ = tail_;
        }
        tail_ = &waiter;
    }

    /// Precondition: not empty.
    TA_INLINE Waiter& pop_front() noexcept {
        Waiter& first = *head_;
        head_ = TA_LIKELY(head_ == tail_) ? nullptr : head_->next_;
        return first;
    }

    /// Precondition: it is in this list.
    void remove(Waiter& waiter) noexcept {
        if (&waiter == head_) {
            pop_front();
            return;
        }
        if (&waiter == tail_) {
            tail_ = waiter.previous_;
        } else {
            waiter.previous_->next_ = waiter.next_;
            waiter.next_->previous_ = waiter.previous_;
        }
    }

    template <typename Visit>
    void each(Visit&& visit) const {
        for (Waiter* waiter = head_; waiter != nullptr;) {
            Waiter* const next = waiter == tail_ ? nullptr : waiter->next_;
            visit(*waiter);
            waiter = next;
        }
    }
    std::size_t size() const noexcept {
        std::size_t count = 0;
        each([&count](const Waiter&) { ++count; });
        return count;
    }

private:
    Waiter* head_ = nullptr;
    Waiter* tail_ = nullptr;  // means nothing in an empty list
};

/// A line to stand in, as dumps and a shutdown see it: part of whoever lets coroutines wait. `Owner` has `leave(Waiter&, kind)`, which
/// takes a waiter out or hands on what it was served with, and `info()`.
template <typename Owner>
struct WaitPlace : Wait::Kind {
    WaitPlace(Owner& its_owner, std::uint8_t its_kind) noexcept;

    Owner* owner;
    std::uint8_t kind;  // which of the owner's lines
};

/// A coroutine that waits without a guard: see `Scheduler::wait_direct`.
template <typename Owner>
class PlainWait final : public Wait {
public:
    TA_INLINE explicit PlainWait(const WaitPlace<Owner>& place) noexcept : Wait(place) {}

    Waiter waiter{Waiter::Unset{}};
};

/// The same with a guard, for a limit and for every special case.
template <typename Owner>
class GuardedWait final : public WaitGuard {
public:
    /// Ask `result` before `waiter` is used: outside a coroutine there is none.
    GuardedWait(const WaitPlace<Owner>& place, void* value, std::source_location where) noexcept
        : WaitGuard(where, kGuarded), waiter(value), place_(place) {
        waiter.set_coroutine(coroutine());
    }

    /// Parks, with the waiter in its list already. A deadline that passes after it was told is too late.
    WaitResult park_told(const WaitLimit& limit) noexcept {
        if (TA_UNLIKELY(!waiter.is_waiting())) {
            return WaitResult::Ready;
        }
        const WaitResult result = park(limit);
        return result == WaitResult::TimedOut && !waiter.is_waiting() && limit.token() == nullptr ? WaitResult::Ready
                                                                                                   : result;
    }

    Waiter waiter;

private:
    static constexpr Kind kGuarded = {
        [](const Wait& wait, std::vector<std::string>& lines) {
            const auto& self = static_cast<const GuardedWait&>(wait);
            lines.push_back(self.place_.owner->info());
            self.describe_guard(lines);
        },
        [](Wait& wait) noexcept {
            auto& self = static_cast<GuardedWait&>(wait);
            self.place_.owner->leave(self.waiter, self.place_.kind);
            self.leave();
        },
        [](const Wait& wait) noexcept { return !static_cast<const GuardedWait&>(wait).waiter.is_waiting(); },
    };

    const WaitPlace<Owner>& place_;
};

template <typename Owner>
WaitPlace<Owner>::WaitPlace(Owner& its_owner, std::uint8_t its_kind) noexcept
    : Kind{
          [](const Wait& wait, std::vector<std::string>& lines) {
              lines.push_back(static_cast<const WaitPlace&>(wait.kind()).owner->info());
          },
          [](Wait& wait) noexcept {
              const auto& place = static_cast<const WaitPlace&>(wait.kind());
              place.owner->leave(static_cast<PlainWait<Owner>&>(wait).waiter, place.kind);
          },
          [](const Wait& wait) noexcept { return !static_cast<const PlainWait<Owner>&>(wait).waiter.is_waiting(); }
      },
      owner(&its_owner),
      kind(its_kind) {}

/// What a limit says before anything is done: a token that has fired already ends every call. A future counts as used.
inline WaitResult check_limit(const WaitLimit& limit, std::source_location where) noexcept {
    Event* token = limit.token();
    if (TA_LIKELY(token == nullptr)) {
        return WaitResult::Ready;
    }
    token->mark_result_used();
    if (!token->is_closed()) {
        return WaitResult::Ready;
    }
    WaitGuard guard(where);
    return guard.park(limit);
}

/// A limit for several waits in a row.
inline WaitLimit fix_limit(const WaitLimit& limit) noexcept {
    Scheduler* scheduler = Scheduler::current();
    return limit.deadline().is_never() || scheduler == nullptr ? limit : limit.fixed(scheduler->reactor().now());
}

}  // namespace trueasync::detail
