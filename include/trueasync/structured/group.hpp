#pragma once

/// @file trueasync/structured/group.hpp
/// Tasks whose results are collected.

#include <deque>
#include <optional>
#include <trueasync/structured/scope.hpp>
#include <trueasync/structured/task_entry.hpp>
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
    std::uint32_t concurrency = 0;  ///< how many run at a time; 0: all
    std::optional<std::uint32_t> queue_limit =
        {};  ///< how many may wait for a slot; none: twice as many; 0: any number
};

/// Tasks, their keys and order, their slots and those who ask for outcomes; what the values are is known to `GroupOf`, or to a host.
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

    /// The short way while `is_plain`, without limits and keys: `reserve`, which may throw `std::bad_alloc`, then
    /// `Scheduler::claim_owned_spawn`, then the coroutine is made with `scope` and `next_note`, then `add_plain`, then
    /// `Scheduler::enter`. When it ends well it puts its result behind `next_entry`, has `result` say so, and marks the entry, in this order.
    bool is_plain() const noexcept { return is_plain_; }
    void reserve() {
        if (TA_UNLIKELY(entries_.needs_chunk())) {
            reserve_chunk();
        }
    }
    std::uint32_t next_note() const noexcept {
        return kTask | kStores | (static_cast<std::uint32_t>(entries_.end()) & kNumber);
    }
    TaskEntry* next_entry() const noexcept { return entries_.next(); }
    void add_plain(Coroutine& task) noexcept {
        entries_.push(TaskEntry::running(task));
        if (TA_UNLIKELY(running_++ == zombies_)) {
            begin_active();
        }
    }

    /// No task comes any more.
    void shut() noexcept;
    /// Shuts it, drops who waits for a slot and cancels the others (in a safe scope those that have begun run on).
    void cancel(Ref<Error> cancellation = {}) noexcept;
    /// Disposes the scope of the tasks.
    void dispose_scope() noexcept { scope_->cancel(); }
    void handle_dropped() noexcept;

    bool is_shut() const noexcept { return is_shut_; }
    /// Nobody runs, nobody waits for a slot.
    bool is_finished() const noexcept { return unsettled() == 0; }
    /// Tasks that are recorded: in a set those that were not delivered.
    std::uint64_t count() const noexcept { return entries_.count(); }
    std::uint32_t running() const noexcept { return running_; }
    GroupKind kind() const noexcept { return kind_; }
    ScopeEvent& scope() const noexcept { return *scope_; }
    /// What it was cancelled with; null when it was not.
    const Error* cancellation() const noexcept { return cancellation_.get(); }
    Place created_at() const noexcept { return created_at_; }

    /// Waits until nobody runs or waits for a slot. May suspend. `Refused` when the group is not shut.
    WaitResult await_completion(
        const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept;

    /// Whoever asked lets go of a pending future that it gave: nobody else has it unless somebody waits.
    void forget(FutureEvent& future) noexcept;

    /// To be called when the group is shut and finished. False, and nothing was done: it is already.
    bool add_finally(std::unique_ptr<FinallyHandler>& handler);
    const FinallyList& finally_list() const noexcept { return finally_; }

    /// Calls `visit(TaskKey, Error*, void* value)` for each settled task, in the order of the tasks; one of the two is null.
    template <typename Visit>
    void each_settled(Visit&& visit) const {
        entries_.each(entries_.end(), [&](std::uint64_t number, TaskEntry& entry, void* value) {
            if (entry.is_settled()) {
                visit(key_at(number), entry.error(), entry.has_succeeded() ? value : nullptr);
            }
        });
    }

    // --- iteration

    /// Where somebody is who goes through the outcomes in the order they came.
    class Cursor {
        friend class GroupEvent;
        std::size_t seen_ = 0;
    };

    /// Waits for the next outcome. May suspend. `Ready` with nothing in `found`: it is shut, and all were seen.
    /// In a set `found` then belongs to the caller, who calls `remove`.
    WaitResult next(
        Cursor& cursor,
        std::optional<std::uint64_t>& found,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;
    /// The same for the first success; `Ready` with nothing in `found`: nobody has succeeded, and nobody can any more. `failure` tells why.
    WaitResult next_success(
        std::optional<std::uint64_t>& found,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept;
    /// Waits for an answer of a set, whose outcomes leave it with that: once it is there it is the waiter's. A cancellation that comes
    /// before he has seen it is delivered at his next suspension point. May suspend.
    static WaitResult wait_answer(FutureEvent& answer, const WaitLimit& limit, std::source_location where) noexcept;
    /// What all have failed with, as a `CompositeError`; that no task is left if there is none.
    Ref<Error> failure() const noexcept;
    TaskKey key_at(std::uint64_t number) const;
    Error* error_at(std::uint64_t number) const noexcept { return entries_.at(number)->error(); }
    void* value_at(std::uint64_t number) const noexcept { return entries_.value_at(number); }
    void remove(std::uint64_t number) noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    /// `TaskGroup(total=3, active=2)`.
    std::string info() const override;

protected:
    /// The tasks' scope is a child of `parent`, a root without one. Values have room of `value_size` bytes, aligned as everything.
    GroupEvent(
        GroupKind kind, const GroupLimits& limits, ScopeEvent* parent, const Place& created_at, std::size_t value_size
    );
    ~GroupEvent() override;

    // What a group of values does with them.
    /// `task` has ended well: its result goes to `room`.
    virtual void keep(void* room, Coroutine& task) noexcept = 0;
    virtual void drop(void* value) noexcept = 0;
    /// Completes a future with one value; it goes if the entry does.
    virtual void give(FutureEvent& future, void* value) noexcept = 0;
    /// The same with those of all tasks before `end` that have succeeded.
    virtual void give_all(FutureEvent& future, std::uint64_t end) noexcept = 0;

    bool removes() const noexcept { return kind_ == GroupKind::Set; }
    bool has_plain_keys() const noexcept { return keys_ == nullptr; }
    const TaskEntries& entries() const noexcept { return entries_; }

    // Questions; the future is complete at once where the answer is known.
    void ask_all(Ref<FutureEvent> future, bool ignores_errors);
    /// Refused when there is no task.
    [[nodiscard]] Status ask_first(Ref<FutureEvent> future, const char* if_empty);
    [[nodiscard]] Status ask_success(Ref<FutureEvent> future, const char* if_empty);

private:
    class TaskScope;
    class Wait;
    class Leaver;
    using WaitList = IntrusiveList<Wait, void>;

    // As in `ScopeEvent`.
    static constexpr std::uint32_t kTask = 1U << 29;
    static constexpr std::uint32_t kStores = 1U << 28;  // puts its result where it belongs
    static constexpr std::uint32_t kNumber = kStores - 1;
    static constexpr std::uint32_t kUncommon = ~(kTask | kNumber);

    enum class Question : std::uint8_t { All, First, Success };
    struct Ask {
        Ref<FutureEvent> future;
        std::uint64_t end;        // it is about the tasks before this
        std::uint64_t remaining;  // of these, not settled; 0 where one outcome is wanted
        Question question;
        bool ignores_errors;
    };
    struct Queued {
        Ref<Coroutine> task;
        std::uint64_t number;
    };
    struct Keys {
        std::unordered_map<TaskKey, std::uint64_t, TaskKey::Hash> numbers;
        std::unordered_map<std::uint64_t, TaskKey> names;
    };

    std::uint64_t unsettled() const noexcept { return std::uint64_t{running_} + queued_; }
    /// Notes have room for the lower bits only.
    std::uint64_t number_of(std::uint32_t note) const noexcept {
        return entries_.end() - 1 - ((entries_.end() - 1 - note) & kNumber);
    }
    const char* name() const noexcept { return kind_ == GroupKind::Set ? "TaskSet" : "TaskGroup"; }
    void update_plain() noexcept { is_plain_ = concurrency_ == 0 && !is_shut_ && keys_ == nullptr; }
    [[nodiscard]] Status check_open(const std::optional<TaskKey>& key) const;
    bool has_room() const noexcept;
    WaitResult wait_for_room(const WaitLimit& limit, std::source_location where) noexcept;
    std::uint64_t add_entry(std::optional<TaskKey>&& key);
    [[nodiscard]] Status launch(Ref<Coroutine> task, std::uint64_t number) noexcept;
    void reserve_chunk();
    void begin_active() noexcept;
    void task_left() noexcept;
    void start_queued() noexcept;
    void wake_spawners() noexcept;
    void drop_queued(const Ref<Error>& error) noexcept;
    void task_finished(Coroutine& task, Error* error) noexcept;
    void task_finished_slow(Coroutine& task, Error* error) noexcept;
    void settle(std::uint64_t number) noexcept;
    void count_settled() noexcept;
    std::uint64_t unsettled_before(std::uint64_t end) const noexcept;
    void look_again() noexcept;
    void record(std::uint64_t number, Coroutine& task, Error* error) noexcept;
    std::uint64_t first_settled() noexcept;
    std::optional<std::uint64_t> first_success() const noexcept;
    bool offer(Ask& ask, std::optional<std::uint64_t>& outcome) noexcept;
    void answer_all(FutureEvent& future, std::uint64_t end, bool ignores_errors) noexcept;
    void answer_one(FutureEvent& future, std::uint64_t number) noexcept;
    Ref<Error> hopeless() const noexcept;
    void check_end() noexcept;
    static void wake_all(WaitList& list) noexcept;
    WaitResult park_in(WaitList& list, const WaitLimit& limit, std::source_location where) noexcept;

    TaskEntries entries_;
    std::uint32_t running_ = 0;
    std::uint32_t zombies_ = 0;  // of these
    std::uint32_t queued_ = 0;   // the length of `queue_`
    std::uint32_t quiet_ = 0;    // so many tasks can end, less one, and nobody wants to know
    Ref<ScopeEvent> scope_;      // a `TaskScope`
    bool is_plain_ = false;
    bool is_shut_ = false;
    bool is_active_ = false;  // what the scope was told
    bool is_pending_ = false;
    bool has_ended_ = false;
    bool is_starting_ = false;
    GroupKind kind_;
    std::vector<std::uint64_t> settled_;  // in the order they settled, with room for those that will
    std::size_t settled_end_ = 0;
    std::size_t settled_begin_ = 0;  // what comes before was removed
    std::size_t settled_told_ = 0;   // what comes before was counted in `asks_`
    std::vector<Ask> asks_;
    std::uint64_t starting_ = 0;  // the task that is being spawned
    std::uint32_t promised_ = 0;  // places in the queue for those who were woken
    std::uint32_t concurrency_;
    std::uint32_t queue_limit_;
    std::uint32_t failures_ = 0;  // recorded
    std::int64_t next_key_ = 0;   // once there are keys
    std::unique_ptr<Leaver> leaver_;
    Ref<Error> cancellation_;
    std::deque<Queued> queue_;
    WaitList spawners_;
    WaitList completion_;
    WaitList readers_;
    FinallyList finally_;
    std::unique_ptr<Keys> keys_;  // from the first explicit key on
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
        : GroupEvent(kind, limits, parent, created_at, sizeof(T)) {
        static_assert(alignof(T) <= alignof(std::max_align_t));
    }
    ~GroupOf() override {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            each_value([](T& value) { std::destroy_at(&value); });
        }
    }

    /// All that are known now, once they are settled, in the order of the tasks: results, or the errors as a `CompositeError`. A set is
    /// empty then, but for younger tasks. `joinAll` of a set.
    Ref<FutureOf<Results>> all(bool ignores_errors = false, PlaceNote where = {}) {
        auto future = make_ref<FutureOf<Results>>(std::move(where));
        ask_all(future, ignores_errors);
        return future;
    }

    /// The first outcome: `race` of a group, `joinNext` of a set. Refused, with `if_empty`, when there is no task.
    [[nodiscard]] Status first(Ref<FutureOf<T>>& future, const char* if_empty, PlaceNote where = {}) {
        future = make_ref<FutureOf<T>>(std::move(where));
        return ask_first(future, if_empty);
    }
    /// The first success; when all have failed, their errors as a `CompositeError`: `any`, `joinAny`.
    [[nodiscard]] Status success(Ref<FutureOf<T>>& future, const char* if_empty, PlaceNote where = {}) {
        future = make_ref<FutureOf<T>>(std::move(where));
        return ask_success(future, if_empty);
    }

    /// Of a task that `next` has found and that succeeded; moves it out of a set.
    T take(std::uint64_t number) { return hand_over(value_at(number)); }

    /// Calls `visit(T&)` for everyone; for a host's collector.
    template <typename Visit>
    void each_value(Visit&& visit) {
        entries().each(entries().end(), [&visit](std::uint64_t, const TaskEntry& entry, void* value) {
            if (entry.has_succeeded()) {
                visit(*static_cast<T*>(value));
            }
        });
    }

protected:
    void keep(void* room, Coroutine& task) noexcept override {
        new (room) T(std::move(*static_cast<T*>(task.result())));
    }
    void drop(void* value) noexcept override { std::destroy_at(static_cast<T*>(value)); }
    void give(FutureEvent& future, void* value) noexcept override {
        static_cast<FutureOf<T>&>(future).complete(hand_over(value)).ignore();
    }
    void give_all(FutureEvent& future, std::uint64_t end) noexcept override {
        Results results;
        results.reserve(entries().count());
        const bool has_numbers = has_plain_keys();
        entries().each(end, [&results, has_numbers, this](std::uint64_t number, const TaskEntry& entry, void* value) {
            if (TA_LIKELY(entry.has_succeeded())) {
                results.emplace_back(TA_LIKELY(has_numbers) ? TaskKey(number) : key_at(number), hand_over(value));
            }
        });
        static_cast<FutureOf<Results>&>(future).complete(std::move(results)).ignore();
    }

private:
    T hand_over(void* value) {
        if constexpr (std::is_copy_constructible_v<T>) {
            if (!removes()) {
                return *static_cast<T*>(value);
            }
        }
        return std::move(*static_cast<T*>(value));
    }
};

}  // namespace trueasync
