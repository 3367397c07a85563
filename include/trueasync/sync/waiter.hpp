#pragma once

/// @file trueasync/sync/waiter.hpp
/// Those who wait for a channel, a mutex, a semaphore or a barrier, in the order they came.

#include <cstddef>
#include <cstdint>
#include <trueasync/runtime/wait.hpp>

namespace trueasync::detail {

/// Waiters that stand in several lines at once, of whom one is to be served.
class WaiterGroup {
public:
    /// Nothing more may be taken from it.
    virtual bool is_over() const noexcept = 0;

protected:
    ~WaiterGroup() = default;
};

/// A place in a list of waiters: of a coroutine, on whose stack it lies, or of something else that is told at once.
///
/// Being served takes it out of the list and makes what it waited for its own; who then leaves without using it must hand it on.
class Waiter {
public:
    enum class State : std::uintptr_t { Served = 0, Ended = 1 };
    using ServeFn = void (*)(Waiter& waiter, State state) noexcept;

    /// Of a coroutine that `set_coroutine` names.
    TA_INLINE Waiter() noexcept {}
    explicit Waiter(void* value) noexcept : value_(value) {}
    /// `serve` is called instead of waking a coroutine, in the middle of somebody else's turn.
    Waiter(ServeFn serve, void* value) noexcept : who_(kNoCoroutine), value_(value), serve_(serve), group_(nullptr) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    TA_INLINE void set_coroutine(Coroutine* coroutine) noexcept { who_ = reinterpret_cast<std::uintptr_t>(coroutine); }

    TA_INLINE bool is_waiting() const noexcept { return who_ > static_cast<std::uintptr_t>(State::Ended); }
    TA_INLINE bool is_served() const noexcept { return who_ == static_cast<std::uintptr_t>(State::Served); }
    bool is_of(const Coroutine& coroutine) const noexcept {
        return who_ == reinterpret_cast<std::uintptr_t>(&coroutine);
    }
    /// The coroutine that waits; null for something else. Only while it waits.
    Coroutine* coroutine() const noexcept {
        return who_ != kNoCoroutine ? reinterpret_cast<Coroutine*>(who_) : nullptr;
    }
    bool is_told_by(ServeFn serve) const noexcept { return who_ == kNoCoroutine && serve_ == serve; }
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
    /// It waits, as one of a group. Those of one group do not serve each other.
    void join(const WaiterGroup& group) noexcept {
        who_ = kNoCoroutine;
        group_ = &group;
    }
    const WaiterGroup* group() const noexcept { return who_ == kNoCoroutine ? group_ : nullptr; }

private:
    friend class WaiterList;

    static constexpr std::uintptr_t kNoCoroutine = 2;

    std::uintptr_t who_;  // the coroutine as long as it waits, then a `State`: one word less to write for a wait
    void* value_;
    ServeFn serve_;  // these two mean nothing for a coroutine
    const WaiterGroup* group_;
    Waiter* previous_;  // these two mean nothing at the ends of a list and outside
    Waiter* next_;
};

/// First come, first served. One waiter alone costs one store to come and one to go.
class WaiterList {
public:
    WaiterList() noexcept = default;
    WaiterList(const WaiterList&) = delete;
    WaiterList& operator=(const WaiterList&) = delete;

    TA_INLINE bool empty() const noexcept { return head_ == nullptr; }
    /// Precondition: not empty.
    Waiter& front() const noexcept { return *head_; }

    TA_INLINE void push_back(Waiter& waiter) noexcept {
        if (TA_LIKELY(head_ == nullptr)) {
            head_ = &waiter;
        } else {
            append(waiter);
        }
    }

    /// Precondition: not empty.
    TA_INLINE Waiter& pop_front() noexcept {
        Waiter& first = *head_;
        if (TA_LIKELY(tail_ == nullptr)) {
            head_ = nullptr;
        } else {
            drop_first();
        }
        return first;
    }

    /// Precondition: it is in this list.
    void remove(Waiter& waiter) noexcept {
        if (&waiter == head_) {
            pop_front();
        } else if (&waiter == tail_) {
            tail_ = waiter.previous_ != head_ ? waiter.previous_ : nullptr;
        } else {
            waiter.previous_->next_ = waiter.next_;
            waiter.next_->previous_ = waiter.previous_;
        }
    }

    /// Null when it is not in this list.
    Waiter* find(const Coroutine& coroutine) const noexcept {
        Waiter* found = nullptr;
        each([&](Waiter& waiter) {
            if (waiter.is_of(coroutine)) {
                found = &waiter;
            }
        });
        return found;
    }

    template <typename Visit>
    void each(Visit&& visit) const {
        Waiter* const last = tail_ != nullptr ? tail_ : head_;
        for (Waiter* waiter = head_; waiter != nullptr;) {
            Waiter* const next = waiter == last ? nullptr : waiter->next_;
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
    void append(Waiter& waiter) noexcept {
        Waiter& last = tail_ != nullptr ? *tail_ : *head_;
        last.next_ = &waiter;
        waiter.previous_ = &last;
        tail_ = &waiter;
    }
    void drop_first() noexcept {
        head_ = head_->next_;
        if (head_ == tail_) {
            tail_ = nullptr;
        }
    }

    Waiter* head_ = nullptr;
    Waiter* tail_ = nullptr;  // null with one waiter, too
};

/// A line to stand in without a guard (see `Scheduler::wait_direct`), as dumps and a shutdown see it: part of whoever lets coroutines
/// wait. `Owner` has `info()`, `abandon(coroutine, kind)`, which takes its waiter out or hands on what it was served with, and
/// `is_waiting(coroutine, kind)`, whether it was not served yet.
template <typename Owner>
class WaitPlace final : public Wait {
public:
    /// `kind`: which of the owner's lines.
    WaitPlace(Owner& owner, std::uint8_t kind) noexcept : Wait(kPlace), owner_(&owner), kind_(kind) {}

    Owner& owner() const noexcept { return *owner_; }
    std::uint8_t kind() const noexcept { return kind_; }

private:
    static constexpr Kind kPlace = {
        [](const Wait& wait, std::vector<std::string>& lines) {
            lines.push_back(static_cast<const WaitPlace&>(wait).owner_->info());
        },
        [](Wait& wait, Coroutine& coroutine) noexcept {
            const auto& self = static_cast<WaitPlace&>(wait);
            self.owner_->abandon(coroutine, self.kind_);
        },
        [](const Wait& wait, const Coroutine& coroutine) noexcept {
            const auto& self = static_cast<const WaitPlace&>(wait);
            return !self.owner_->is_waiting(coroutine, self.kind_);
        },
    };

    Owner* owner_;
    std::uint8_t kind_;
};

/// The same with a guard, for a limit and for every special case. `Owner` has `info()` and `leave(waiter, kind)`, which takes the waiter
/// out of its line, or hands on what it was served with.
template <typename Owner>
class GuardedWait final : public WaitGuard {
public:
    /// Ask `result` before `waiter` is used: outside a coroutine there is none.
    GuardedWait(Owner& owner, std::uint8_t kind, void* value, std::source_location where) noexcept
        : WaitGuard(where, kGuarded), waiter(value), owner_(owner), kind_(kind) {
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
            lines.push_back(self.owner_.info());
            self.describe_guard(lines);
        },
        [](Wait& wait, Coroutine& /*coroutine*/) noexcept {
            auto& self = static_cast<GuardedWait&>(wait);
            self.owner_.leave(self.waiter, self.kind_);
            self.leave();
        },
        [](const Wait& wait, const Coroutine& /*coroutine*/) noexcept {
            return !static_cast<const GuardedWait&>(wait).waiter.is_waiting();
        },
    };

    Owner& owner_;
    std::uint8_t kind_;
};

/// After a wait: a waiter that does not get what it waited for has left. True: it does.
template <typename Owner>
bool end_in_line(Owner& owner, std::uint8_t kind, Waiter& waiter, WaitResult result) noexcept {
    if (result == WaitResult::Ready && waiter.is_served()) {
        return true;
    }
    owner.leave(waiter, kind);
    return false;
}

/// One wait with a guard. `Owner` also has `enter(waiter, kind)`. `is_served` only with `Ready`.
template <typename Owner>
WaitResult wait_guarded(
    Owner& owner, std::uint8_t kind, void* value, const WaitLimit& limit, std::source_location where, bool& is_served
) noexcept {
    is_served = false;
    GuardedWait<Owner> wait(owner, kind, value, where);
    if (wait.result() != WaitResult::Ready) {
        return wait.result();
    }
    owner.enter(wait.waiter, kind);
    const WaitResult result = wait.park_told(limit);
    is_served = end_in_line(owner, kind, wait.waiter, result);
    return result;
}

/// One wait, with a guard where it needs one. `may_be_plain`: entering calls nobody who could serve the waiter before it has stopped.
template <typename Owner>
WaitResult wait_in_line(
    WaitPlace<Owner>& place,
    void* value,
    const WaitLimit& limit,
    std::source_location where,
    bool may_be_plain,
    bool& is_served
) noexcept {
    Owner& owner = place.owner();
    if (limit.is_none() && may_be_plain) {
        Waiter waiter(value);
        Coroutine* self = Scheduler::wait_direct(place, where, [&](Coroutine& coroutine) {
            waiter.set_coroutine(&coroutine);
            owner.enter(waiter, place.kind());
        });
        if (self != nullptr) {
            const WaitResult result = Scheduler::arrived(*self);
            is_served = end_in_line(owner, place.kind(), waiter, result);
            return result;
        }
    }
    return wait_guarded(owner, place.kind(), value, limit, where, is_served);
}

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
