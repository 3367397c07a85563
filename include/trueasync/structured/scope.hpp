#pragma once

/// @file trueasync/structured/scope.hpp
/// Coroutines that belong together: they are waited for, cancelled and answered for as one.

#include <memory>
#include <string>
#include <trueasync/base/place.hpp>
#include <trueasync/runtime/finally.hpp>
#include <trueasync/runtime/owner.hpp>
#include <trueasync/runtime/wait.hpp>
#include <vector>

namespace trueasync {

class ContextNode;
class ScopeEvent;
class TimerEvent;

/// Called with an error that nobody awaited. Made by a front door.
class TA_API ScopeErrorHandler {
public:
    virtual ~ScopeErrorHandler() = default;

    /// `scope` is the one that has the handler, `coroutine` the one that failed. Must not suspend. Null: the error is dealt with. What
    /// it returns or throws takes the place of the error, which then goes on upwards.
    virtual Ref<Error> call(ScopeEvent& scope, Coroutine& coroutine, Error& error) = 0;
};

struct ScopeChildTag;

/// A node in a tree of owners. Cancellation goes down, errors go up.
///
/// As an event it fires once, when it has ended: disposed, cancelled or dropped, and no coroutine left here or below.
///
/// An error that no awaiter took is offered, at each scope from the coroutine's own upwards, to a handler (for errors of scopes below:
/// `child_error_handler` before `error_handler`), and where there is none, the coroutines there and below are stopped and those who
/// wait for the scope get it.
///
/// Stopping means: in a scope that is *safe*, what has begun becomes a zombie, which runs on to its end unasked, and what has not
/// begun never does; in one that is not, everybody gets the cancellation.
///
/// Thread rule: its thread only. Nothing here suspends except the two `await_` functions.
/// Lifetime: counted. A child holds its parent; a scope with unfinished coroutines, here or below, holds itself. A front door tells it with
/// `handle_dropped` that its user has let it go.
/// Cancel rule: cancelling a waiter, or its limit, does nothing to the scope.
///
/// @snippet unit/structured/scope_test.cpp  scope_core
class TA_API ScopeEvent : public Event, public Owner, public ListNode<ScopeChildTag> {
public:
    /// A root (`parent` null), which is not safe, or a child, which is as safe as its parent is now.
    static Ref<ScopeEvent> create(ScopeEvent* parent = nullptr, const Place& created_at = {});
    /// For storage of the host.
    explicit ScopeEvent(ScopeEvent* parent, const Place& created_at = {});
    ~ScopeEvent() override;

    /// The scope of the running coroutine; null when it has none.
    static ScopeEvent* current() noexcept { return of(Scheduler::current_owner()); }
    /// The owner if it is a scope; else null.
    static ScopeEvent* of(Owner* owner) noexcept { return dynamic_cast<ScopeEvent*>(owner); }

    // --- what it is

    std::uint64_t id() const noexcept { return id_; }
    Place created_at() const noexcept { return created_at_; }
    ScopeEvent* parent() const noexcept { return parent_.get(); }
    bool is_safe() const noexcept { return is_safe_; }
    void set_safe(bool is_safe) noexcept { is_safe_ = is_safe; }

    /// No active coroutine here or below; zombies do not count.
    bool is_finished() const noexcept { return active_ == 0; }
    /// Cancelled or disposed, here or above: takes no coroutine any more.
    bool is_cancelled() const noexcept { return disposal_ != Disposal::None; }
    /// Takes no coroutine any more, and the last one has ended.
    using Event::is_closed;
    bool is_dropped() const noexcept { return is_dropped_; }
    /// Whether `other` is this one or below it.
    bool contains(const ScopeEvent* other) const noexcept;

    // --- members

    [[nodiscard]] Status admit() noexcept override;
    void adopt(Coroutine& coroutine) noexcept override { adopt(coroutine, 0); }
    void adopt_helper(Coroutine& coroutine) noexcept override;
    bool finished(Coroutine& coroutine, Error* error) noexcept override;
    bool failed(Coroutine& coroutine, Error& error) noexcept override;
    void on_dispose(Coroutine& /*coroutine*/) noexcept override {}  // it was forgotten at its end

    /// Calls `visit(ScopeEvent&)` for each child that lives, in the order they were made.
    template <typename Visit>
    void each_child(Visit&& visit) const {
        for (ScopeEvent& child : children_) {
            visit(child);
        }
    }
    /// Calls `visit(Coroutine&)` for each unfinished coroutine of this scope, in the order they were spawned, tasks of a group first.
    template <typename Visit>
    void each_coroutine(Visit&& visit) const {
        std::vector<Coroutine*> coroutines;
        list_tasks(coroutines);
        coroutines.insert(coroutines.end(), members_.begin(), members_.end());
        for (Coroutine* coroutine : coroutines) {
            if (coroutine != nullptr) {
                visit(*coroutine);
            }
        }
    }
    bool is_zombie(const Coroutine& coroutine) const noexcept {
        return coroutine.owner() == this && (coroutine.owner_note() & kZombie) != 0;
    }
    /// One line for each coroutine, here and below, that has not ended: after a cancellation, what did not stop.
    std::vector<std::string> unfinished() const;

    // --- ending

    /// Closes it and stops its coroutines, here and below, with `cancellation` or a default one. Children first, then its own in the
    /// order they were spawned, then those who wait for it and what depends on it. The first time counts. Disposing is the same.
    void cancel(Ref<Error> cancellation = {}) noexcept { close_with(std::move(cancellation), Disposal::Cancelled); }
    /// Closes it; what has begun goes on as a zombie, whatever `is_safe` says.
    void dispose_safely() noexcept { close_with({}, Disposal::Safely); }
    /// `cancel` when so much time has passed; does nothing for a scope with neither coroutines nor children. A second call counts anew.
    /// The time keeps nothing alive but what it will stop.
    [[nodiscard]] Status dispose_after(Duration delay) noexcept;
    /// The user's object is gone.
    void handle_dropped() noexcept;

    // --- waiting

    /// Waits until no coroutine is active here or below. May suspend. `Failed` with an error that reached this scope, when it is
    /// cancelled, and for a wait from inside; else as every wait.
    WaitResult await_completion(
        const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept;

    /// Called with each error while a wait lasts. Null: go on. What it returns or throws ends the wait.
    class ErrorObserver {
    public:
        virtual ~ErrorObserver() = default;
        virtual Ref<Error> call(Error& error, ScopeEvent& scope) = 0;
    };

    /// After a cancellation: waits until every coroutine has ended here and below, zombies too. May suspend. Errors that reach this
    /// scope meanwhile are dealt with: `observer` gets them, or without one the first ends the wait, and those that come before the
    /// waiter goes on are dropped.
    WaitResult await_after_cancellation(
        ErrorObserver* observer = nullptr,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;

    // --- handlers

    void set_error_handler(std::shared_ptr<ScopeErrorHandler> handler) noexcept { error_handler_ = std::move(handler); }
    void set_child_error_handler(std::shared_ptr<ScopeErrorHandler> handler) noexcept {
        child_error_handler_ = std::move(handler);
    }
    ScopeErrorHandler* error_handler() const noexcept { return error_handler_.get(); }
    ScopeErrorHandler* child_error_handler() const noexcept { return child_error_handler_.get(); }

    /// To be called when the scope has ended. False, and nothing was done: that was before, or the user's object is gone; the caller
    /// calls the handler himself.
    bool add_finally(std::unique_ptr<FinallyHandler>& handler);
    const FinallyList& finally_list() const noexcept { return finally_; }
    /// Such a handler has failed, of this scope or of something that belongs to it: routed from here.
    void finally_failed(Ref<Error> error) noexcept;

    // --- context

    /// See context.hpp; null when there is none yet.
    ContextNode* context() const noexcept { return context_.get(); }
    void set_context(Ref<ContextNode> context) noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    /// `Scope #5 created at main.cpp:12`.
    std::string info() const override;

protected:
    using Parked = std::vector<Ref<Coroutine>>;

    // A coroutine's note: its place in `members_`, and what it is.
    static constexpr std::uint32_t kZombie = 1U << 31;  // runs on after a cancellation: not active
    static constexpr std::uint32_t kHelper = 1U << 30;  // runs handlers: never active, never stopped
    static constexpr std::uint32_t kTask =
        1U << 29;  // of a group, which keeps it itself; the place means something to that
    static constexpr std::uint32_t kPlace = kTask - 1;

    // For groups, whose tasks count here as one active coroutine while there are any.
    void add_active() noexcept;
    void drop_active() noexcept;
    void add_pending() noexcept;
    void drop_pending() noexcept;
    virtual void stop_tasks(
        const Ref<Error>& /*cancellation*/, bool /*safely*/, bool /*even_zombies*/, Parked* /*parked*/
    ) noexcept {}
    virtual void list_tasks(std::vector<Coroutine*>& /*tasks*/) const {}

    /// Stops one of its coroutines, or makes a zombie of it, which is what it then returns.
    static bool stop_one(
        Coroutine& coroutine, const Ref<Error>& cancellation, bool safely, bool even_zombies, Parked* parked
    );

private:
    enum class Disposal : std::uint8_t { None, Safely, Cancelled };
    class Wait;
    class DisposeTimer;
    using WaitList = IntrusiveList<Wait, void>;

    void adopt(Coroutine& coroutine, std::uint32_t what) noexcept;
    bool error_of(Coroutine& coroutine, Error& error) noexcept;
    void remove(Coroutine& coroutine) noexcept;
    void compact() noexcept;
    void settle() noexcept;
    void end() noexcept;

    Ref<Error> route(Coroutine& coroutine, Ref<Error> error, bool from_below) noexcept;
    Ref<Error> call_handler(ScopeErrorHandler& handler, Coroutine& coroutine, Error& error) noexcept;
    bool tell_waiters(Error& error, Coroutine& coroutine) noexcept;

    void close_with(Ref<Error> cancellation, Disposal how) noexcept;
    void stop_below(const Ref<Error>& cancellation) noexcept;
    void stop_coroutines(const Ref<Error>& cancellation, bool safely, bool even_zombies, Parked* parked) noexcept;
    std::vector<Ref<ScopeEvent>> tree();
    WaitResult wait_in(
        WaitList& list, ErrorObserver* observer, const WaitLimit& limit, std::source_location where
    ) noexcept;

    std::uint64_t id_;
    Ref<ScopeEvent> parent_;
    IntrusiveList<ScopeEvent, ScopeChildTag> children_;
    std::vector<Coroutine*> members_;  // in the order they were spawned, with gaps
    std::uint32_t member_count_ = 0;
    std::uint32_t active_ = 0;   // own active coroutines, and children that have some, here or below
    std::uint32_t pending_ = 0;  // the same for all unfinished ones
    Disposal disposal_ = Disposal::None;
    bool is_safe_;
    bool is_dropped_ = false;
    Place created_at_;
    Ref<ContextNode> context_;
    WaitList completion_;
    WaitList after_cancellation_;
    WaitList told_;  // of an error, and have not gone on yet: they take what follows too
    std::shared_ptr<ScopeErrorHandler> error_handler_;
    std::shared_ptr<ScopeErrorHandler> child_error_handler_;
    FinallyList finally_;
    Ref<TimerEvent> timer_;
};

}  // namespace trueasync
