#pragma once

/// @file trueasync/api/task_group.hpp
/// Tasks whose results are collected: all, the first, or one after the other.

#include <trueasync/api/scope.hpp>
#include <trueasync/structured/group.hpp>
#include <variant>

namespace trueasync {

using TaskLimits = GroupLimits;

/// What came of one task: `value` or `error`.
template <typename T>
struct TaskOutcome {
    TaskKey key;
    std::optional<T> value;
    std::exception_ptr error;
};

namespace detail {

/// Where a task's result is kept: nothing is a value too.
template <typename T>
using TaskValue = std::conditional_t<std::is_void_v<T>, Nothing, T>;

/// A task of a group without limits and keys: its result goes straight to where the group keeps it.
template <typename F, typename T>
class TaskCoroutine final : public Coroutine {
public:
    template <typename G>
    TaskCoroutine(
        G&& function, std::source_location where, std::uint64_t id, Owner& owner, std::uint32_t note, TaskEntry* entry
    )
        : Coroutine(where, OwnedClaim{id, &owner, note, kHasFunction}),
          entry_(entry),
          function_(std::forward<G>(function)) {}
    ~TaskCoroutine() override { drop_body(); }

    void* result() noexcept override { return this->body() == kHollow ? room() : nullptr; }

protected:
    void run() override {
        try {
            if constexpr (std::is_void_v<T>) {
                function_();
                new (room()) Nothing();
            } else {
                new (room()) T(function_());
            }
        } catch (...) {
            drop_body();
            this->fail(to_error());
            return;
        }
        std::destroy_at(&function_);
        this->set_body(kHollow);
        *entry_ = TaskEntry::succeeded();
    }
    void drop_body() noexcept override {
        if (this->body() == kHasFunction) {
            this->set_body(kDropped);
            std::destroy_at(&function_);
        }
    }
    void end_easily() noexcept override {
        if (TA_LIKELY(this->body() == kNothing)) {
            Event::operator delete(this, sizeof(*this));
        } else {
            Event::end_easily();
        }
    }

private:
    static constexpr std::uint8_t kHasFunction = 1;
    static constexpr std::uint8_t kDropped = 2;

    void* room() const noexcept {
        return reinterpret_cast<std::byte*>(entry_) + TaskEntries::offset_of_value(sizeof(TaskValue<T>));
    }

    TaskEntry* entry_;
    union {
        F function_;
    };
};

/// What groups and sets have in common. The tasks run in a scope of their own, a child of the running coroutine's or of a given one.
template <typename T, GroupKind Kind>
class TaskCollection {
public:
    using Value = TaskValue<T>;
    using Results = typename GroupOf<Value>::Results;

    explicit TaskCollection(TaskLimits limits = {}, std::source_location where = std::source_location::current())
        : group_(make_ref<GroupOf<Value>>(Kind, limits, ScopeEvent::current(), Place(where))) {}
    TaskCollection(
        const Scope& scope, TaskLimits limits = {}, std::source_location where = std::source_location::current()
    )
        : group_(make_ref<GroupOf<Value>>(Kind, limits, &scope.event(), Place(where))) {}
    TaskCollection(TaskCollection&&) noexcept = default;
    TaskCollection& operator=(TaskCollection&& other) noexcept {
        std::swap(group_, other.group_);
        return *this;
    }
    TaskCollection(const TaskCollection&) = delete;
    TaskCollection& operator=(const TaskCollection&) = delete;
    /// Cancels what still runs.
    ~TaskCollection() {
        if (group_ != nullptr) {
            group_->handle_dropped();
        }
    }

    /// Adds a task. Suspends only while as many wait for a slot as may. Throws `AsyncError`: `GroupClosed`, `DuplicateKey`, and what
    /// `trueasync::spawn` throws.
    /// Cancel safety: a cancelled spawner has added nothing.
    template <typename F>
    void spawn(F&& task, std::source_location where = std::source_location::current()) {
        if (TA_LIKELY(group_->is_plain())) {
            group_->reserve();
            if (std::uint64_t id = 0; TA_LIKELY(Scheduler::claim_owned_spawn(id))) {
                spawn_plain(std::forward<F>(task), where, id);
                return;
            }
        }
        check_spawn();
        check(group_->spawn(make_task(std::forward<F>(task), where), {}, {}, where));
    }
    template <typename F>
    void spawn_with_key(TaskKey key, F&& task, std::source_location where = std::source_location::current()) {
        check_spawn();
        check(group_->spawn(make_task(std::forward<F>(task), where), std::move(key), {}, where));
    }

    /// No task comes any more.
    void close() { group_->shut(); }
    /// Closes it, drops the tasks that wait for a slot and cancels the others.
    void cancel(std::string message = {}) {
        group_->cancel(
            message.empty() ? Ref<Error>() : Error::cancellation(CancelReason::UserRequest, std::move(message))
        );
    }
    void dispose() { group_->dispose_scope(); }

    bool is_finished() const noexcept { return group_->is_finished(); }
    bool is_closed() const noexcept { return group_->is_shut(); }
    std::size_t count() const noexcept { return group_->count(); }

    /// Waits until all tasks of a closed group have ended. May suspend. Never throws what they failed with.
    void await_completion(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        check(group_->await_completion(limit, where));
    }

    /// Has `function` called when the group is closed and all have ended, after those who waited for that; at once when it is so.
    template <typename F>
    void finally(F&& function) {
        std::unique_ptr<FinallyHandler> handler = make_finally(std::forward<F>(function));
        if (!group_->add_finally(handler)) {
            call_finally(*handler);
        }
    }

    GroupOf<Value>& event() const noexcept { return *group_; }

protected:
    template <typename F>
    Ref<Coroutine> make_task(F&& task, std::source_location where) {
        static_assert(
            std::is_same_v<std::invoke_result_t<std::decay_t<F>&>, T>, "tasks return what the group collects"
        );
        return Ref<Coroutine>::adopt(new ClosureCoroutine<std::decay_t<F>, T>(std::forward<F>(task), where));
    }

    template <typename F>
    TA_INLINE void spawn_plain(F&& task, std::source_location where, std::uint64_t id) {
        static_assert(
            std::is_same_v<std::invoke_result_t<std::decay_t<F>&>, T>, "tasks return what the group collects"
        );
        using Function = std::decay_t<F>;
        TaskCoroutine<Function, T>* coroutine = nullptr;
        try {
            coroutine = new TaskCoroutine<Function, T>(
                std::forward<F>(task), where, id, group_->scope(), group_->next_note(), group_->next_entry()
            );
        } catch (...) {
            Scheduler::unclaim_spawn(id);
            throw;
        }
        group_->add_plain(*coroutine);
        Scheduler::enter(*coroutine);
    }

    template <typename V>
    static auto wait(FutureOf<V>& future, const Limit& limit, std::source_location where) {
        check(wait_future(future, limit, where));
        return std::move(future.get());
    }

    /// The first outcome, or the first success, whichever `ask` asks for.
    template <typename Ask>
    T wait_one(Ask&& ask, const Limit& limit, std::source_location where) {
        Ref<FutureOf<Value>> future;
        check(ask(future));
        if constexpr (std::is_void_v<T>) {
            wait(*future, limit, where);
        } else {
            return wait(*future, limit, where);
        }
    }

    Results wait_all(bool ignores_errors, const Limit& limit, std::source_location where) {
        const auto answer = group_->all(ignores_errors, where);
        check(
            Kind == GroupKind::Set ? GroupEvent::wait_answer(*answer, limit, where) : wait_future(*answer, limit, where)
        );
        return std::move(answer->get());
    }

    /// The next outcome after `cursor`; nothing when the group is closed and there is none.
    std::optional<TaskOutcome<Value>> next_after(
        GroupEvent::Cursor& cursor, const Limit& limit, std::source_location where
    ) {
        std::optional<std::uint64_t> slot;
        check(group_->next(cursor, slot, limit, where));
        return slot.has_value() ? std::optional(deliver(*slot)) : std::nullopt;
    }

    /// What came of a task; in a set it goes.
    TaskOutcome<Value> deliver(std::uint64_t slot) {
        TaskOutcome<Value> outcome{group_->key_at(slot), {}, {}};
        if (Error* error = group_->error_at(slot)) {
            outcome.error = to_exception(Ref<Error>(error));
        } else {
            outcome.value = group_->take(slot);
        }
        if constexpr (Kind == GroupKind::Set) {
            group_->remove(slot);
        }
        return outcome;
    }

    Ref<GroupOf<Value>> group_;
};

}  // namespace detail

/// Runs tasks and keeps what came of them: every question can be asked again. What tasks fail with is told to who asks, and to nobody
/// else.
///
/// @snippet unit/api/task_group_test.cpp  task_group
template <typename T>
class TaskGroup : public detail::TaskCollection<T, GroupKind::Group> {
    using Base = detail::TaskCollection<T, GroupKind::Group>;

public:
    using Base::Base;
    using typename Base::Results;
    using typename Base::Value;

    /// Waits for all tasks that are there now and returns their results in the order of the tasks. May suspend. Throws
    /// `CompositeException` when tasks have failed, unless errors are to be ignored.
    /// Cancel safety: the tasks go on.
    Results all(
        bool ignore_errors = false,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    ) {
        return this->wait_all(ignore_errors, limit, where);
    }
    /// Waits for the first task to end and returns its result or throws what it threw. May suspend.
    T race(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        return this->wait_one(
            [&](auto& future) { return this->group_->first(future, "Cannot race on an empty TaskGroup", where); },
            limit, where
        );
    }
    /// Waits for the first success; throws `CompositeException` when all have failed. May suspend.
    T any(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        return this->wait_one(
            [&](auto& future) {
                return this->group_->success(future, "Cannot call any() on an empty TaskGroup", where);
            },
            limit, where
        );
    }

    /// What there is so far, in the order of the tasks.
    Results results() const {
        Results results;
        this->group_->each_settled([&](const TaskKey& key, Error*, void* value) {
            if (value != nullptr) {
                results.emplace_back(key, *static_cast<Value*>(value));
            }
        });
        return results;
    }
    std::vector<std::pair<TaskKey, std::exception_ptr>> errors() const {
        std::vector<std::pair<TaskKey, std::exception_ptr>> errors;
        this->group_->each_settled([&](const TaskKey& key, Error* error, void*) {
            if (error != nullptr) {
                errors.emplace_back(key, detail::to_exception(Ref<Error>(error)));
            }
        });
        return errors;
    }

    /// Goes through the outcomes in the order they come.
    class Reader {
    public:
        explicit Reader(TaskGroup& group) noexcept : group_(group) {}
        /// Waits for the next one. May suspend. Nothing: the group is closed, and all were seen.
        std::optional<TaskOutcome<Value>> next(
            const Limit& limit = {}, std::source_location where = std::source_location::current()
        ) {
            return group_.next_after(cursor_, limit, where);
        }

    private:
        TaskGroup& group_;
        GroupEvent::Cursor cursor_;
    };
    Reader outcomes() { return Reader(*this); }
};

/// Runs tasks and delivers each outcome once; `count` says how many are left.
///
/// @snippet unit/api/task_group_test.cpp  task_set
template <typename T>
class TaskSet : public detail::TaskCollection<T, GroupKind::Set> {
    using Base = detail::TaskCollection<T, GroupKind::Set>;

public:
    using Base::Base;
    using typename Base::Results;
    using typename Base::Value;

    /// Takes the first outcome: returns the result or throws the error. May suspend.
    /// Cancel safety: nothing is lost.
    T join_next(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        std::optional<TaskOutcome<Value>> outcome;
        if (this->count() != 0) {
            outcome = next(limit, where);
        }
        if (!outcome.has_value()) {
            detail::throw_error(Error::make(ErrorCode::IllegalState, "Cannot call joinNext() on an empty TaskSet"));
        }
        if (outcome->error != nullptr) {
            std::rethrow_exception(outcome->error);
        }
        if constexpr (!std::is_void_v<T>) {
            return std::move(*outcome->value);
        }
    }
    /// Takes the first success; failures stay. Throws `CompositeException` when all have failed. May suspend.
    /// Cancel safety: nothing is lost.
    T join_any(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        if (this->count() == 0) {
            detail::throw_error(Error::make(ErrorCode::IllegalState, "Cannot call joinAny() on an empty TaskSet"));
        }
        std::optional<std::uint64_t> slot;
        detail::check(this->group_->next_success(slot, limit, where));
        if (!slot.has_value()) {
            detail::throw_error(this->group_->failure());
        }
        if constexpr (std::is_void_v<T>) {
            this->deliver(*slot);
        } else {
            return std::move(*this->deliver(*slot).value);
        }
    }
    /// Takes all that are there now, as `TaskGroup::all`. May suspend.
    /// Cancel safety: nothing is lost; a cancellation that comes when all have ended comes at the next suspension point.
    Results join_all(
        bool ignore_errors = false,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    ) {
        return this->wait_all(ignore_errors, limit, where);
    }

    /// Takes the next outcome in the order they come. May suspend. Nothing: the set is closed and empty.
    /// Cancel safety: nothing is lost.
    std::optional<TaskOutcome<Value>> next(
        const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        GroupEvent::Cursor cursor;
        return this->next_after(cursor, limit, where);
    }
};

}  // namespace trueasync
