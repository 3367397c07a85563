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
    enum class State : std::uint8_t { Waiting, Served, Ended };
    using ServeFn = void (*)(Waiter& waiter, State state) noexcept;

    TA_INLINE Waiter(Coroutine* coroutine, std::uint8_t kind, void* value) noexcept
        : coroutine_(coroutine), kind_(kind), value_(value) {}
    /// `serve` is called instead of waking a coroutine, in the middle of somebody else's turn.
    Waiter(ServeFn serve, std::uint8_t kind, void* value) noexcept : kind_(kind), value_(value), serve_(serve) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    State state() const noexcept { return state_; }
    bool is_waiting() const noexcept { return state_ == State::Waiting; }
    bool is_served() const noexcept { return state_ == State::Served; }
    /// What its owner says it is: a receiver, a sender.
    std::uint8_t kind() const noexcept { return kind_; }
    void* value() const noexcept { return value_; }

    /// Tells it how its waiting has ended. It is in no list any more.
    TA_INLINE void tell(State state) noexcept {
        state_ = state;
        if (TA_LIKELY(coroutine_ != nullptr)) {
            Scheduler::wake(*coroutine_);
        } else {
            serve_(*this, state);
        }
    }

    /// Which coroutine it is, where that was not known before.
    TA_INLINE void set_coroutine(Coroutine& coroutine) noexcept { coroutine_ = &coroutine; }
    /// It has left by itself.
    void give_up() noexcept { state_ = State::Ended; }

private:
    friend class WaiterList;

    Coroutine* coroutine_ = nullptr;
    State state_ = State::Waiting;
    std::uint8_t kind_;
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

/// A coroutine that waits without a guard: see `Scheduler::wait_direct`. `Owner` has `leave(Waiter&)`, which takes it out or hands on
/// what it was served with, and `info()`.
template <typename Owner>
class PlainWait final : public Wait {
public:
    TA_INLINE PlainWait(Owner& owner, std::uint8_t kind, void* value = nullptr) noexcept
        : Wait(kPlain), owner_(owner), waiter(static_cast<Coroutine*>(nullptr), kind, value) {}

private:
    static constexpr Kind kPlain = {
        [](const Wait& wait, std::vector<std::string>& lines) {
            lines.push_back(static_cast<const PlainWait&>(wait).owner_.info());
        },
        [](Wait& wait) noexcept {
            auto& self = static_cast<PlainWait&>(wait);
            self.owner_.leave(self.waiter);
        },
    };

    Owner& owner_;

public:
    Waiter waiter;
};

/// The same with a guard, for a limit and for every special case.
template <typename Owner>
class GuardedWait final : public WaitGuard {
public:
    /// Ask `result` before `waiter` is used: outside a coroutine there is none.
    GuardedWait(Owner& owner, std::uint8_t kind, void* value, std::source_location where) noexcept
        : WaitGuard(where, kGuarded), owner_(owner), waiter(coroutine(), kind, value) {}

    /// Parks, with the waiter in its list already. A deadline that passes after it was told is too late.
    WaitResult park_told(const WaitLimit& limit) noexcept {
        if (TA_UNLIKELY(!waiter.is_waiting())) {
            return WaitResult::Ready;
        }
        const WaitResult result = park(limit);
        return result == WaitResult::TimedOut && !waiter.is_waiting() && limit.token() == nullptr ? WaitResult::Ready
                                                                                                  : result;
    }

private:
    static constexpr Kind kGuarded = {
        [](const Wait& wait, std::vector<std::string>& lines) {
            const auto& self = static_cast<const GuardedWait&>(wait);
            lines.push_back(self.owner_.info());
            self.describe_guard(lines);
        },
        [](Wait& wait) noexcept {
            auto& self = static_cast<GuardedWait&>(wait);
            self.owner_.leave(self.waiter);
            self.leave();
        },
    };

    Owner& owner_;

public:
    Waiter waiter;
};

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
