#pragma once

/// @file trueasync/runtime/wait.hpp
/// Waiting: two ways in, one way out.

#include <source_location>
#include <string>
#include <trueasync/base/deadline.hpp>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/runtime/scheduler.hpp>
#include <vector>

namespace trueasync {

/// What may end a wait early: nothing, a deadline, or an event as a token (`Timeout`: the wait has lasted too long; `Cancel`: it is
/// cancelled).
class WaitLimit {
public:
    constexpr WaitLimit() noexcept = default;
    constexpr WaitLimit(Deadline deadline) noexcept : deadline_(deadline) {}
    constexpr WaitLimit(Event& token, WakeRole role) noexcept : token_(&token), role_(role) {}

    Deadline deadline() const noexcept { return deadline_; }
    /// Null when there is none.
    Event* token() const noexcept { return token_; }
    bool is_none() const noexcept { return token_ == nullptr && deadline_.is_never(); }

    /// Puts the token, if there is one, into a wait. Before what is waited for: of two that have fired already the first counts.
    void add_to(WaitGuard& guard) const noexcept;

    /// For a wait that is over before it begins: the token counts as used all the same.
    void mark_used() const noexcept {
        if (token_ != nullptr) {
            token_->mark_result_used();
        }
    }

    /// The same for several waits in a row: a delay counts from `now`, not anew from each.
    WaitLimit fixed(Instant now) const noexcept {
        WaitLimit limit = *this;
        if (!deadline_.is_never()) {
            limit.deadline_ = Deadline::at(deadline_.resolve(now));
        }
        return limit;
    }

private:
    Deadline deadline_;
    Event* token_ = nullptr;
    WakeRole role_ = WakeRole::Cancel;
};

/// What a suspended coroutine waits in: a guard on its stack, or a place that it shares with others.
class Wait {
public:
    /// A kind of wait, for those who find one without being part of it.
    struct Kind {
        /// Adds a line for each thing that is waited for and is not an event of the waker.
        void (*describe)(const Wait& wait, std::vector<std::string>& lines);
        /// The coroutine will not come back: takes everything of it out that others could still reach.
        void (*abandon)(Wait& wait, Coroutine& coroutine) noexcept;
        /// What the coroutine waited for has come, or never will; it has not gone on yet.
        bool (*is_over)(const Wait& wait, const Coroutine& coroutine) noexcept;
    };

    void describe(std::vector<std::string>& lines) const { kind_->describe(*this, lines); }
    void abandon(Coroutine& coroutine) noexcept { kind_->abandon(*this, coroutine); }
    bool is_over(const Coroutine& coroutine) const noexcept { return kind_->is_over(*this, coroutine); }

protected:
    TA_INLINE explicit Wait(const Kind& kind) noexcept : kind_(&kind) {}
    ~Wait() = default;

private:
    const Kind* kind_;
};

/// Lies on the stack of a waiting coroutine, from before the first subscription to after the last. Its destructor stops,
/// unsubscribes and disarms whatever the wait has set up, so that no way out leaves anything behind.
///
/// The general way: `add` any events, then `park`. One guard at a time per coroutine.
///
/// @snippet unit/runtime/wait_test.cpp  several_events
class TA_API WaitGuard : public Wait, public ListNode<> {
public:
    /// Outside a coroutine, in a callback, and with a cancellation pending the wait is over before it begins; `park` says so.
    TA_INLINE explicit WaitGuard(
        std::source_location where = std::source_location::current(), const Kind& kind = kGuard
    ) noexcept
        : Wait(kind) {
        result_ = Scheduler::departing(self_);
        if (TA_LIKELY(result_ == WaitResult::Ready && self_->wait_ == nullptr)) {
            self_->wait_ = this;
            self_->suspended_at_ = where;
            is_begun_ = true;
        } else {
            refuse_begin();
        }
    }
    WaitGuard(const WaitGuard&) = delete;
    WaitGuard& operator=(const WaitGuard&) = delete;
    TA_INLINE ~WaitGuard() {
        if (TA_LIKELY(is_begun_)) {
            leave();
        } else {
            ListNode<>::unlink();
        }
    }

    /// Adds an event to the wait. A failure (closed event) also becomes the result of `park`.
    WaitResult add(Event& event, WakeRole role = WakeRole::Wake) noexcept;

    /// Suspends until the first event fires, the deadline passes or the coroutine is cancelled. Returns at once, without a
    /// switch, when something has fired already.
    TA_INLINE WaitResult park(Deadline deadline = Deadline::never()) noexcept {
        if (TA_LIKELY(depart(deadline))) {
            Scheduler::park(*self_);
        }
        return arrive();
    }

    /// The same with any limit. A token that is there already is looked at before everything else.
    WaitResult park(const WaitLimit& limit) noexcept {
        limit.add_to(*this);
        return park(limit.deadline());
    }

    /// What fired first; null when nothing has. Valid until the guard goes.
    const WakeCallback* fired() const noexcept { return is_begun_ ? self_->waker().fired() : nullptr; }
    const Waker& waker() const noexcept { return self_->waker(); }
    Coroutine* coroutine() const noexcept { return self_; }
    WaitResult result() const noexcept { return result_; }

protected:
    static const Kind kGuard;

    void describe_guard(std::vector<std::string>& lines) const;
    static void describe_deadline(Instant deadline, std::vector<std::string>& lines);
    void leave() noexcept;

    /// The wait has lasted too long, says whoever keeps its deadline.
    void expire() noexcept {
        timeout_.has_passed = true;
        Scheduler::wake(*self_);
    }

private:
    friend class Scheduler;
    friend class DirectWait;

    /// Wakes the coroutine when the wait has lasted too long; part of the guard, so it allocates nothing.
    class Timeout final : public TimerNode {
    public:
        explicit Timeout(WaitGuard& guard) noexcept : guard_(guard) {}
        void on_deadline() noexcept override;
        bool has_passed = false;

    private:
        WaitGuard& guard_;
    };

    TA_COLD void refuse_begin() noexcept;
    bool depart(Deadline deadline) noexcept;
    bool arm(Deadline deadline) noexcept;
    WaitResult arrive() noexcept;

    Coroutine* self_ = nullptr;
    const Event* source_ = nullptr;                        // of a direct wait
    std::string (*describe_)(const WaitGuard&) = nullptr;  // of a direct wait for what is no event
    WaitResult result_ = WaitResult::Ready;
    bool is_begun_ = false;
    bool is_woken_ = false;
    bool is_outcome_ = false;  // woken before any token
    Timeout timeout_{*this};
};

inline void WaitLimit::add_to(WaitGuard& guard) const noexcept {
    if (TA_UNLIKELY(token_ != nullptr)) {
        guard.add(*token_, role_);
    }
}

/// The direct way: a node on the coroutine's own stack in the list of whoever will wake it (a channel's receivers, a pool's
/// waiters). No callback, no subscription. The owner of the list takes the node out and calls `wake`; from then on what
/// it put aside belongs to this waiter, which must hand it on if `park` then says that it was cancelled.
///
/// @snippet unit/runtime/wait_test.cpp  direct_wait
class DirectWait : public WaitGuard {
public:
    /// `source` is what dumps name; it must outlive the wait.
    TA_INLINE explicit DirectWait(
        const Event& source, std::source_location where = std::source_location::current()
    ) noexcept
        : WaitGuard(where) {
        source_ = &source;
    }

    /// For what is no event: `description` is called for dumps.
    TA_INLINE explicit DirectWait(
        std::string (*description)(const WaitGuard&), std::source_location where = std::source_location::current()
    ) noexcept
        : WaitGuard(where) {
        describe_ = description;
    }

    void wake() noexcept {
        is_woken_ = true;
        if (coroutine() != nullptr) {
            Scheduler::wake(*coroutine());
        }
    }
    /// The same for an outcome that nobody else can be given: a token that fires later, before the coroutine goes on, comes too late.
    void wake_for_good() noexcept {
        is_outcome_ = is_outcome_ || (!is_woken_ && fired() == nullptr);
        wake();
    }
    bool is_woken() const noexcept { return is_woken_; }

protected:
    /// For one that describes itself.
    TA_INLINE DirectWait(std::source_location where, const Kind& kind) noexcept : WaitGuard(where, kind) {}
};

namespace detail {

/// After a simple wait that did not end simply: says how it ended and leaves it.
TA_API TA_COLD WaitResult end_wait(Coroutine& self) noexcept;
/// The same after a join.
TA_API TA_COLD WaitResult end_join(Coroutine& self, Coroutine& coroutine) noexcept;

/// `wait_for` with a guard.
TA_API WaitResult wait_long(Event& event, const WaitLimit& limit, std::source_location where) noexcept;

/// `join` with a guard, and with a limit.
TA_API WaitResult join_long(Coroutine& coroutine, const WaitLimit& limit, std::source_location where) noexcept;

}  // namespace detail

/// Waits for one event. May suspend. `Failed` when the event came with an error; `Scheduler::take_wait_error` has it.
/// The common case is inlined and uses no guard: the waker alone knows what to undo.
TA_INLINE WaitResult wait_for(
    Event& event, const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
) noexcept {
    Coroutine* self = limit.is_none() ? Scheduler::wait_simple(event, Hold::Shared, where) : nullptr;
    if (TA_UNLIKELY(self == nullptr)) {
        return detail::wait_long(event, limit, where);
    }
    return TA_LIKELY(Scheduler::end_simple_wait(*self)) ? WaitResult::Ready : detail::end_wait(*self);
}

/// Waits for the end of a coroutine that was spawned and has not ended. With `Ready` the caller gets a reference to it, which he must
/// release: whoever held the coroutine may have gone meanwhile.
TA_INLINE WaitResult join(Coroutine& coroutine, std::source_location where = std::source_location::current()) noexcept {
    Coroutine* self = Scheduler::wait_simple(coroutine, Hold::Lent, where);
    if (TA_UNLIKELY(self == nullptr)) {
        return detail::join_long(coroutine, {}, where);
    }
    return TA_LIKELY(Scheduler::end_simple_join(*self)) ? WaitResult::Ready : detail::end_join(*self, coroutine);
}

/// Suspends for a while; also for zero, which lets the others run first. May suspend.
TA_API WaitResult sleep_until(Deadline deadline, std::source_location where = std::source_location::current()) noexcept;

/// While one lives, cancellation of the running coroutine waits. Sections nest; `leave` of the outermost delivers.
class TA_API ProtectGuard {
public:
    ProtectGuard() noexcept;
    ProtectGuard(const ProtectGuard&) = delete;
    ProtectGuard& operator=(const ProtectGuard&) = delete;
    ~ProtectGuard() { leave_quietly(); }

    /// Ends the section. `Cancelled` when a cancellation came meanwhile and this was the outermost section.
    WaitResult leave() noexcept;

private:
    void leave_quietly() noexcept;

    Coroutine* self_;
};

}  // namespace trueasync
