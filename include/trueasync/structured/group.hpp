#pragma once

/// @file trueasync/structured/group.hpp
/// Tasks whose results are collected.

#include <deque>
#include <optional>
#include <trueasync/base/chunked.hpp>
#include <trueasync/structured/scope.hpp>
#include <trueasync/structured/task_key.hpp>
#include <trueasync/sync/future.hpp>
#include <unordered_map>

namespace trueasync {

/// What becomes of an entry whose outcome was handed out.
enum class GroupKind : std::uint8_t {
    Group,  ///< it stays: every question gets the same answer
    Set,    ///< it goes: each outcome is delivered once
};

struct GroupLimits {
    std::uint32_t concurrency = 0;             ///< how many run at a time; 0: all
    std::optional<std::uint32_t> queue_limit;  ///< how many may wait for a slot; none: twice as many; 0: any number
};

/// Tasks, their keys and order, their slots and those who ask for outcomes; the values are kept by `GroupOf`, or by a host.
///
/// As an event it fires once: when it is shut and finished.
///
/// Tasks are coroutines in a scope of the group's own. The group takes what they fail with: it never surfaces by itself.
/// A task that is cancelled, or dropped before it began, has failed with its cancellation.
///
/// Thread rule: its thread only.
/// Lifetime: counted or of the host. It holds itself while a task runs; a front door tells it with `handle_dropped` that its user has let
/// it go.
/// Cancel rule: cancelling who waits, or a future it gave, does nothing to the tasks.
class TA_API GroupEvent : public Event {
public:
    // --- tasks

    /// Adds a task that was made and not spawned; without a key the next number is taken. Suspends while as many wait for a slot as
    /// may. `Refused` when the group is closed and when the key is there already; else as every wait.
    WaitResult spawn(
        Ref<Coroutine> task,
        std::optional<TaskKey> key = {},
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;

    /// No task comes any more.
    void shut() noexcept;
    /// Shuts it, drops who waits for a slot and cancels the others (in a safe scope those that have begun run on).
    void cancel(Ref<Error> cancellation = {}) noexcept;
    /// Disposes the scope of the tasks.
    void dispose_scope() noexcept { scope_->cancel(); }
    void handle_dropped() noexcept;

    bool is_shut() const noexcept { return is_shut_; }
    /// Nobody runs, nobody waits for a slot.
    bool is_finished() const noexcept { return unsettled_ == 0; }
    /// Tasks that are recorded: in a set those that were not delivered.
    std::uint32_t count() const noexcept { return count_; }
    std::uint32_t running() const noexcept { return running_; }
    GroupKind kind() const noexcept { return kind_; }
    ScopeEvent& scope() const noexcept { return *scope_; }
    Place created_at() const noexcept { return created_at_; }

    /// Waits until nobody runs or waits for a slot. May suspend. `Refused` when the group is not shut.
    WaitResult await_completion(
        const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept;

    /// To be called when the group is shut and finished. False, and nothing was done: it is already.
    bool add_finally(std::unique_ptr<FinallyHandler>&& handler);
    const FinallyList& finally_list() const noexcept { return finally_; }

    /// Calls `visit(const TaskKey&, Error*, void* value)` for each settled task, in the order of the tasks.
    template <typename Visit>
    void each_settled(Visit&& visit) {
        for (std::uint32_t slot = first_; slot != kNone; slot = entry(slot).next) {
            if (Entry& one = entry(slot); one.state != State::Waiting) {
                visit(
                    std::as_const(one.key), one.error.get(), one.state == State::Succeeded ? value_at(slot) : nullptr
                );
            }
        }
    }

    // --- iteration

    /// Where somebody is who goes through the outcomes in the order they came.
    class Cursor {
        friend class GroupEvent;
        std::uint32_t slot = UINT32_MAX;  // the last one seen
    };

    /// Waits for the next outcome. May suspend. `Ready` without a slot in `found`: it is shut, and all were seen.
    /// In a set `found` then belongs to the caller, who calls `remove`.
    WaitResult next(
        Cursor& cursor,
        std::optional<std::uint32_t>& found,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;
    const TaskKey& key_at(std::uint32_t slot) const noexcept { return entries_.at(slot)->key; }
    Error* error_at(std::uint32_t slot) const noexcept { return entries_.at(slot)->error.get(); }
    void remove(std::uint32_t slot) noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    /// `TaskGroup(total=3, active=2)`.
    std::string info() const override;

protected:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// The tasks' scope is a child of `parent`, a root without one.
    GroupEvent(GroupKind kind, const GroupLimits& limits, ScopeEvent* parent, const Place& created_at);
    ~GroupEvent() override;

    // What a group of values does with them.
    virtual void* value_at(std::uint32_t slot) noexcept = 0;
    /// A slot comes into use for the first time: `count` were there before.
    virtual void grow(std::uint32_t count) = 0;
    /// `task` has ended well: its result goes to `slot`.
    virtual void keep(std::uint32_t slot, Coroutine& task) noexcept = 0;
    virtual void drop(std::uint32_t slot) noexcept = 0;
    /// Completes a future with one value, or with those of `slots`; the values go if the entries do.
    virtual void give(FutureEvent& future, std::uint32_t slot) noexcept = 0;
    virtual void give_all(FutureEvent& future, const std::vector<std::uint32_t>& slots) noexcept = 0;

    bool removes() const noexcept { return kind_ == GroupKind::Set; }

    // Questions; the future is complete at once where the answer is known.
    void ask_all(Ref<FutureEvent> future, bool ignores_errors);
    /// Refused when there is no task.
    [[nodiscard]] Status ask_first(Ref<FutureEvent> future, const char* question);
    [[nodiscard]] Status ask_success(Ref<FutureEvent> future, const char* question);

private:
    class TaskScope;
    class Wait;
    class Leaver;
    friend class TaskScope;
    using WaitList = IntrusiveList<Wait, void>;

    enum class State : std::uint8_t { Waiting, Succeeded, Failed };
    struct Entry {
        TaskKey key;
        Ref<Error> error;
        std::uint64_t number;  // in the order of the tasks, for ever
        std::uint32_t next;    // in the order of the tasks
        std::uint32_t previous;
        std::uint32_t next_settled;  // in the order they settled
        std::uint32_t previous_settled;
        State state;
    };
    enum class Question : std::uint8_t { All, First, Success };
    struct Ask {
        Ref<FutureEvent> future;
        std::uint64_t last;       // the youngest task it is about
        std::uint32_t remaining;  // of these, not settled
        Question question;
        bool ignores_errors;
    };
    struct Queued {
        Ref<Coroutine> task;
        std::uint32_t slot;
    };

    Entry& entry(std::uint32_t slot) noexcept { return *entries_.at(slot); }
    const char* name() const noexcept { return kind_ == GroupKind::Set ? "TaskSet" : "TaskGroup"; }
    [[nodiscard]] Status check_open(const std::optional<TaskKey>& key) const;
    bool has_room() const noexcept;
    WaitResult wait_for_room(const WaitLimit& limit, std::source_location where) noexcept;
    std::uint32_t add_entry(std::optional<TaskKey>&& key);
    [[nodiscard]] Status launch(Ref<Coroutine> task, std::uint32_t slot) noexcept;
    void start_queued() noexcept;
    void drop_queued(const Ref<Error>& error) noexcept;
    void task_finished(Coroutine& task, std::uint32_t slot, Error* error) noexcept;
    void settle(std::uint32_t slot) noexcept;
    void answer(std::uint32_t slot) noexcept;
    bool offer(Ask& ask, std::uint32_t& slot, std::uint64_t number) noexcept;
    void wake_spawners() noexcept;
    void refuse_hopeless(FutureEvent& future) const noexcept;
    void answer_all(FutureEvent& future, std::uint64_t last, bool ignores_errors) noexcept;
    void answer_one(FutureEvent& future, std::uint32_t slot) noexcept;
    void answer_failures(FutureEvent& future) noexcept;
    void reject_hopeless() noexcept;
    void check_end() noexcept;
    void wake_all(WaitList& list) noexcept;
    WaitResult park_in(WaitList& list, const WaitLimit& limit, std::source_location where) noexcept;

    Chunked<Entry> entries_;
    std::uint32_t first_ = kNone;
    std::uint32_t last_ = kNone;
    std::uint32_t first_settled_ = kNone;
    std::uint32_t last_settled_ = kNone;
    std::uint32_t free_ = kNone;  // slots to be used again, through `next`
    std::uint32_t used_ = 0;      // slots that were ever used
    std::uint32_t count_ = 0;
    std::uint32_t running_ = 0;
    std::uint32_t unsettled_ = 0;
    std::uint32_t promised_ = 0;  // places in the queue for those who were woken
    std::uint32_t concurrency_;
    std::uint32_t queue_limit_;
    std::uint64_t tasks_ = 0;  // how many so far
    std::int64_t next_key_ = 0;
    GroupKind kind_;
    bool is_shut_ = false;
    bool has_ended_ = false;
    bool holds_itself_ = false;
    std::uint32_t starting_ = 0;  // the number of the task that is being spawned
    Ref<ScopeEvent> scope_;       // a `TaskScope`
    std::unique_ptr<Leaver> leaver_;
    Ref<Error> cancellation_;
    std::deque<Queued> queue_;
    std::vector<Ask> asks_;
    WaitList spawners_;
    WaitList completion_;
    WaitList readers_;
    FinallyList finally_;
    std::unique_ptr<std::unordered_map<TaskKey, std::uint32_t, TaskKey::Hash>> keys_;  // from the first explicit key on
    Place created_at_;
};

/// A group with its values, of any movable type; a host's counted value is one of them. Where a type cannot be copied, a group too gives
/// each value once.
///
/// @snippet unit/structured/group_test.cpp  group_core
template <typename T>
class GroupOf : public GroupEvent {
public:
    using Results = std::vector<std::pair<TaskKey, T>>;

    GroupOf(GroupKind kind, const GroupLimits& limits, ScopeEvent* parent, const Place& created_at = {})
        : GroupEvent(kind, limits, parent, created_at) {}
    ~GroupOf() override {
        each_settled([](const TaskKey&, Error*, void* value) {
            if (value != nullptr) {
                std::destroy_at(static_cast<T*>(value));
            }
        });
    }

    /// All that are known now, once they are settled, in the order of the tasks: results, or the errors as a `CompositeError`. A set is
    /// empty then, but for younger tasks. `joinAll` of a set.
    Ref<FutureOf<Results>> all(bool ignores_errors = false, const Place& where = {}) {
        auto future = make_ref<FutureOf<Results>>(where);
        ask_all(future, ignores_errors);
        return future;
    }

    /// The first outcome: `race` of a group, `joinNext` of a set. Refused when there is no task.
    [[nodiscard]] Status first(Ref<FutureOf<T>>& future, const char* question, const Place& where = {}) {
        future = make_ref<FutureOf<T>>(where);
        return ask_first(future, question);
    }
    /// The first success; when all have failed, their errors as a `CompositeError`: `any`, `joinAny`.
    [[nodiscard]] Status success(Ref<FutureOf<T>>& future, const char* question, const Place& where = {}) {
        future = make_ref<FutureOf<T>>(where);
        return ask_success(future, question);
    }

    /// Of a slot that `next` has found and that succeeded; moves it out of a set.
    T take(std::uint32_t slot) { return hand_over(*values_.at(slot)); }

    /// Calls `visit(T&)` for everyone; for a host's collector.
    template <typename Visit>
    void each_value(Visit&& visit) {
        each_settled([&visit](const TaskKey&, Error*, void* value) {
            if (value != nullptr) {
                visit(*static_cast<T*>(value));
            }
        });
    }

protected:
    void* value_at(std::uint32_t slot) noexcept override { return values_.at(slot); }
    void grow(std::uint32_t count) override { values_.grow(count); }
    void keep(std::uint32_t slot, Coroutine& task) noexcept override {
        new (values_.at(slot)) T(std::move(*static_cast<T*>(task.result())));
    }
    void drop(std::uint32_t slot) noexcept override { std::destroy_at(values_.at(slot)); }
    void give(FutureEvent& future, std::uint32_t slot) noexcept override {
        static_cast<FutureOf<T>&>(future).complete(take(slot)).ignore();
    }
    void give_all(FutureEvent& future, const std::vector<std::uint32_t>& slots) noexcept override {
        Results results;
        results.reserve(slots.size());
        for (const std::uint32_t slot : slots) {
            results.emplace_back(key_at(slot), take(slot));
        }
        static_cast<FutureOf<Results>&>(future).complete(std::move(results)).ignore();
    }

private:
    T hand_over(T& value) {
        if constexpr (std::is_copy_constructible_v<T>) {
            if (!removes()) {
                return value;
            }
        }
        return std::move(value);
    }

    Chunked<T> values_;
};

}  // namespace trueasync
