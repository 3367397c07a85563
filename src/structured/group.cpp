#include <trueasync/structured/group.hpp>

#include <algorithm>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/sync/waiter.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Group, sizeof(GroupEvent));

}  // namespace

/// Where the tasks live, and what they spawn. Tasks are kept by the group and count here as one.
class GroupEvent::TaskScope final : public ScopeEvent {
public:
    TaskScope(GroupEvent& group, ScopeEvent* parent, const Place& created_at)
        : ScopeEvent(parent, created_at), group_(&group) {
        static_assert(ScopeEvent::kTask == GroupEvent::kTask);
    }

    void adopt(Coroutine& coroutine) noexcept override {
        if (group_ == nullptr || !std::exchange(group_->is_starting_, false)) {
            ScopeEvent::adopt(coroutine);
            return;
        }
        coroutine.set_owner_note(kTask | (static_cast<std::uint32_t>(group_->starting_) & kNumber));
        *group_->entries_.at(group_->starting_) = TaskEntry::running(coroutine);
        if (group_->running_++ == group_->zombies_) {
            group_->begin_active();
        }
    }
    bool finished(Coroutine& coroutine, Error* error) noexcept override {
        if (TA_UNLIKELY((coroutine.owner_note() & kTask) == 0)) {
            return ScopeEvent::finished(coroutine, error);
        }
        group_->task_finished(coroutine, error);
        return true;
    }

    /// The first task is there, or the last active one has gone; the first at all, or the last one at all.
    void tell_active(bool is_active) noexcept { is_active ? add_active() : drop_active(); }
    void tell_pending(bool is_pending) noexcept { is_pending ? add_pending() : drop_pending(); }
    void forget() noexcept { group_ = nullptr; }

    static constexpr std::uint32_t kZombieNote = kZombie;

protected:
    void stop_tasks(const Ref<Error>& cancellation, bool safely, bool even_zombies, Parked* parked) noexcept override {
        if (group_ == nullptr) {
            return;
        }
        group_->entries_.each(group_->entries_.end(), [&](std::uint64_t, const TaskEntry& entry, void*) {
            if (Coroutine* task = entry.task()) {
                group_->zombies_ += stop_one(*task, cancellation, safely, even_zombies, parked) ? 1 : 0;
            }
        });
        group_->quiet_ = 0;
        if (group_->running_ == group_->zombies_ && std::exchange(group_->is_active_, false)) {
            drop_active();
        }
    }
    void list_tasks(std::vector<Coroutine*>& tasks) const override {
        if (group_ != nullptr) {
            group_->entries_.each(group_->entries_.end(), [&](std::uint64_t, const TaskEntry& entry, void*) {
                tasks.push_back(entry.task());
            });
        }
    }

private:
    GroupEvent* group_;  // holds itself while tasks run
};

class GroupEvent::Wait final : public DirectWait {
public:
    using DirectWait::DirectWait;
};

/// Tells the group that its scope was cancelled.
class GroupEvent::Leaver final : public Dependent {
public:
    explicit Leaver(GroupEvent& group) noexcept : group_(group) {}
    void owner_gone() noexcept override {
        const Ref<GroupEvent> held(group_.is_ending() ? nullptr : &group_);
        group_.drop_queued(
            group_.cancellation_ != nullptr ? group_.cancellation_
                                            : Error::cancellation(CancelReason::UserRequest, "Scope was cancelled")
        );
        group_.shut();
    }

private:
    GroupEvent& group_;
};

GroupEvent::GroupEvent(
    GroupKind kind, const GroupLimits& limits, ScopeEvent* parent, const Place& created_at, std::size_t value_size
)
    : Event(EventType::Group),
      entries_(value_size),
      scope_(make_ref<TaskScope>(*this, parent, created_at)),
      kind_(kind),
      concurrency_(limits.concurrency),
      queue_limit_(
          limits.queue_limit.value_or(limits.concurrency <= UINT32_MAX / 2 ? limits.concurrency * 2 : UINT32_MAX)
      ),
      leaver_(std::make_unique<Leaver>(*this)),
      created_at_(created_at) {
    scope_->attach(*leaver_);
    is_shut_ = scope_->is_cancelled();
    update_plain();
}

GroupEvent::~GroupEvent() {
    leaver_.reset();
    static_cast<TaskScope&>(*scope_).forget();
    scope_->handle_dropped();
    for (Ask& ask : asks_) {
        ask.future->cancel(Error::cancellation(CancelReason::UserRequest, std::string(name()) + " cancelled"));
    }
    if (failures_ != 0) {
        entries_.each(entries_.end(), [](std::uint64_t, const TaskEntry& entry, void*) {
            Ref<Error>::adopt(entry.error()).reset();
        });
    }
}

bool GroupEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_closed() && hand_out(nullptr, nullptr, callback, result, error);
}

std::string GroupEvent::info() const {
    return std::string(name()) + "(total=" + std::to_string(count()) + ", active=" + std::to_string(running_) + ")";
}

// --- adding

TaskKey GroupEvent::key_at(std::uint64_t number) const {
    return TA_LIKELY(keys_ == nullptr) ? TaskKey(number) : keys_->names.at(number);
}

Status GroupEvent::check_open(const std::optional<TaskKey>& key) const {
    if (is_shut_) {
        return Status::failure(ErrorCode::GroupClosed, std::string("Cannot spawn tasks on a closed ") + name());
    }
    if (key.has_value()) {
        bool is_used = false;
        if (keys_ != nullptr) {
            is_used = keys_->numbers.contains(*key);
        } else if (key->is_number() && key->number() >= 0 && static_cast<std::uint64_t>(key->number()) < entries_.end()) {
            const TaskEntry* entry = entries_.at(static_cast<std::uint64_t>(key->number()));
            is_used = entry != nullptr && !entry->is_removed();
        }
        if (is_used) {
            return Status::failure(ErrorCode::DuplicateKey, "Duplicate key " + to_string(*key) + " in " + name());
        }
    }
    return {};
}

bool GroupEvent::has_room() const noexcept {
    return concurrency_ == 0 || queue_limit_ == 0 ||
           unsettled() + promised_ < std::uint64_t{concurrency_} + queue_limit_;
}

WaitResult GroupEvent::spawn(
    Ref<Coroutine> task, std::optional<TaskKey> key, const WaitLimit& limit, std::source_location where
) noexcept {
    if (Status status = check_open(key); !status) {
        return Scheduler::refuse(status.take());
    }
    if (!has_room()) {
        const Ref<GroupEvent> held(this);
        if (const WaitResult result = wait_for_room(limit, where); result != WaitResult::Ready) {
            return result;
        }
        if (Status status = check_open(key); !status) {
            wake_spawners();  // the place goes to who comes after
            return Scheduler::refuse(status.take());
        }
    }
    const std::uint64_t number = add_entry(std::move(key));
    if (concurrency_ != 0 && (running_ >= concurrency_ || queued_ != 0)) {
        queue_.push_back({std::move(task), number});
        ++queued_;
        return WaitResult::Ready;
    }
    if (Status status = launch(std::move(task), number); !status) {
        remove(number);
        wake_spawners();
        return Scheduler::refuse(status.take());
    }
    return WaitResult::Ready;
}

WaitResult GroupEvent::wait_for_room(const WaitLimit& limit, std::source_location where) noexcept {
    Wait wait(*this, where);
    if (wait.result() == WaitResult::Ready) {
        spawners_.push_back(wait);
    }
    const WaitResult result = wait.park(limit);
    if (wait.is_woken()) {
        --promised_;
        if (result != WaitResult::Ready) {
            wake_spawners();  // the place goes to who comes after
        }
    }
    return result;
}

std::uint64_t GroupEvent::add_entry(std::optional<TaskKey>&& key) {
    if (key.has_value() && keys_ == nullptr) {
        keys_ = std::make_unique<Keys>();
        next_key_ = static_cast<std::int64_t>(entries_.end());
        entries_.each(entries_.end(), [this](std::uint64_t number, const TaskEntry&, void*) {
            keys_->numbers.emplace(TaskKey(number), number);
            keys_->names.emplace(number, TaskKey(number));
        });
        update_plain();
    }
    reserve();
    const std::uint64_t number = entries_.push(TaskEntry::queued());
    if (keys_ != nullptr) {
        TaskKey own = key.has_value() ? std::move(*key) : TaskKey(next_key_);
        if (own.is_number() && own.number() >= next_key_ && own.number() != INT64_MAX) {
            next_key_ = own.number() + 1;
        }
        keys_->numbers.emplace(own, number);
        keys_->names.emplace(number, std::move(own));
    }
    return number;
}

Status GroupEvent::launch(Ref<Coroutine> task, std::uint64_t number) noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        return Status::failure(ErrorCode::NotRunning);
    }
    starting_ = number;
    is_starting_ = true;
    Status status = scheduler->spawn(*task, scope_.get());
    is_starting_ = false;
    return status;
}

void GroupEvent::reserve_chunk() {
    if (const std::size_t room = settled_end_ + unsettled() + TaskEntries::kChunk; room > settled_.size()) {
        settled_.resize(std::max(room, settled_.size() * 2));
    }
    entries_.add_chunk();
}

/// There is an active task, after a time without.
void GroupEvent::begin_active() noexcept {
    if (!std::exchange(is_active_, true)) {
        static_cast<TaskScope&>(*scope_).tell_active(true);
    }
    if (!std::exchange(is_pending_, true)) {
        add_ref();
        static_cast<TaskScope&>(*scope_).tell_pending(true);
    }
}

/// There is no active task any more, and maybe none at all.
void GroupEvent::task_left() noexcept {
    const Ref<ScopeEvent> scope = scope_;
    if (std::exchange(is_active_, false)) {
        static_cast<TaskScope&>(*scope).tell_active(false);
    }
    if (running_ == 0 && std::exchange(is_pending_, false)) {
        static_cast<TaskScope&>(*scope).tell_pending(false);
        release();
    }
}

/// A task has left its slot: the next one starts, and one who wanted to add goes on.
void GroupEvent::start_queued() noexcept {
    while (queued_ != 0 && running_ < concurrency_) {
        Queued next = std::move(queue_.front());
        queue_.pop_front();
        --queued_;
        if (Status status = launch(std::move(next.task), next.number); TA_UNLIKELY(!status)) {
            *entries_.at(next.number) = TaskEntry::failed(status.take());
            ++failures_;
            settle(next.number);
        }
    }
    wake_spawners();
}

void GroupEvent::wake_spawners() noexcept {
    while (!spawners_.empty() && (is_shut_ || has_room())) {
        ++promised_;
        spawners_.pop_front()->wake();
    }
}

void GroupEvent::drop_queued(const Ref<Error>& error) noexcept {
    std::deque<Queued> dropped = std::exchange(queue_, {});
    queued_ = 0;
    for (const Queued& queued : dropped) {
        *entries_.at(queued.number) = TaskEntry::failed(error);
        ++failures_;
    }
    for (const Queued& queued : dropped) {
        settle(queued.number);
    }
}

// --- outcomes

/// Most tasks end well and concern nobody before the last one does.
TA_INLINE void GroupEvent::task_finished(Coroutine& task, Error* error) noexcept {
    const std::uint32_t note = task.owner_note();
    if (TA_LIKELY(error == nullptr && (note & kUncommon) == kStores && quiet_ > 1 && task.finally_list() == nullptr)) {
        task.set_owner(nullptr);
        --quiet_;
        --running_;
        settled_[settled_end_++] = number_of(note);
    } else {
        task_finished_slow(task, error);
    }
}

TA_COLD void GroupEvent::task_finished_slow(Coroutine& task, Error* error) noexcept {
    const std::uint32_t note = task.owner_note();
    const std::uint64_t number = number_of(note);
    task.set_owner(nullptr);
    if (error != nullptr || (note & kStores) == 0) {
        record(number, task, error);
    }
    --running_;
    zombies_ -= (note & TaskScope::kZombieNote) != 0 ? 1 : 0;
    settle(number);
    if (concurrency_ != 0) {
        start_queued();
    }
    if (running_ == zombies_) {
        task_left();
    }
}

void GroupEvent::record(std::uint64_t number, Coroutine& task, Error* error) noexcept {
    TaskEntry& entry = *entries_.at(number);
    if (error == nullptr) {
        keep(entries_.value_of(&entry), task);
        entry = TaskEntry::succeeded();
        return;
    }
    if (entry.has_succeeded()) {
        drop(entries_.value_of(&entry));  // cancelled at the very end
    }
    entry = TaskEntry::failed(Ref<Error>(error));
    ++failures_;
}

/// Finds out after how many endings somebody may want to know.
void GroupEvent::look_again() noexcept {
    std::uint64_t quiet = concurrency_ == 0 && readers_.empty() ? running_ - zombies_ : 0;
    for (const Ask& ask : asks_) {
        quiet = std::min(quiet, ask.remaining);  // of those who want one outcome: none
    }
    quiet_ = static_cast<std::uint32_t>(quiet);
}

/// Counts what has settled for those who want all.
void GroupEvent::count_settled() noexcept {
    for (Ask& ask : asks_) {
        if (ask.end == entries_.end()) {
            ask.remaining = unsettled();
        } else if (ask.question == Question::All) {
            for (std::size_t i = settled_told_; i < settled_end_; ++i) {
                ask.remaining -= settled_[i] < ask.end ? 1 : 0;
            }
        }
    }
    settled_told_ = settled_end_;
}

std::uint64_t GroupEvent::unsettled_before(std::uint64_t end) const noexcept {
    std::uint64_t count = 0;
    entries_.each(end, [&count](std::uint64_t, const TaskEntry& entry, void*) { count += entry.is_settled() ? 0 : 1; });
    return count;
}

/// Tells those who asked, in the order they did. In a set the first who can use an outcome gets it.
void GroupEvent::settle(std::uint64_t number) noexcept {
    settled_[settled_end_++] = number;
    const Ref<GroupEvent> held(is_ending() ? nullptr : this);
    count_settled();
    if (std::any_of(asks_.begin(), asks_.end(), [](const Ask& ask) { return ask.remaining == 0; })) {
        std::vector<Ask> asks = std::exchange(asks_, {});
        std::optional<std::uint64_t> outcome = number;
        std::erase_if(asks, [&](Ask& ask) { return offer(ask, outcome); });
        // Who is told may ask at once, or drop tasks.
        for (Ask& ask : asks) {
            ask.remaining = ask.question == Question::All ? unsettled_before(ask.end) : 0;
        }
        asks_.insert(asks_.begin(), std::make_move_iterator(asks.begin()), std::make_move_iterator(asks.end()));
    }
    wake_all(readers_);
    if (unsettled() == 0) {
        check_end();
    }
    look_again();
}

void GroupEvent::wake_all(WaitList& list) noexcept {
    while (Wait* wait = list.pop_front()) {
        wait->wake();
    }
}

/// Everybody has settled, or the group was shut.
void GroupEvent::check_end() noexcept {
    if (unsettled() != 0) {
        return;
    }
    wake_all(completion_);
    if (!is_shut_) {
        return;
    }
    wake_all(readers_);
    for (const Ask& ask : std::exchange(asks_, {})) {
        ask.future->fail(hopeless()).ignore();
    }
    if (std::exchange(has_ended_, true)) {
        return;
    }
    notify(nullptr, nullptr).ignore();
    if (!finally_.empty()) {
        ScopeEvent* above = scope_->parent();
        finally_.run(
            false, created_at_, [scope = scope_](Ref<Error> error) { scope->finally_failed(std::move(error)); },
            above != nullptr && !above->is_cancelled() ? above : nullptr
        );
    }
}

void GroupEvent::remove(std::uint64_t number) noexcept {
    const TaskEntry entry = *entries_.at(number);
    const Ref<Error> error = Ref<Error>::adopt(entry.error());
    failures_ -= error != nullptr ? 1 : 0;
    if (keys_ != nullptr) {
        const auto key = keys_->names.extract(number);
        keys_->numbers.erase(key.mapped());
    }
    if (entry.has_succeeded()) {
        *entries_.at(number) = TaskEntry::queued();  // out of everybody's sight: the value may do anything when it goes
        drop(entries_.value_at(number));
    }
    entries_.remove(number);
    if (count() == unsettled()) {
        count_settled();
        settled_end_ = settled_begin_ = settled_told_ = 0;
    }
}

/// The first outcome in the order they came; the end when there is none.
std::uint64_t GroupEvent::first_settled() noexcept {
    for (; settled_begin_ < settled_end_; ++settled_begin_) {
        const std::uint64_t number = settled_[settled_begin_];
        if (const TaskEntry* entry = entries_.at(number); entry != nullptr && entry->is_settled()) {
            if (settled_begin_ > settled_end_ / 2 && settled_begin_ > TaskEntries::kChunk) {
                count_settled();
                std::copy(
                    settled_.begin() + static_cast<std::ptrdiff_t>(settled_begin_),
                    settled_.begin() + static_cast<std::ptrdiff_t>(settled_end_), settled_.begin()
                );
                settled_end_ -= std::exchange(settled_begin_, 0);
                settled_told_ = settled_end_;
            }
            return number;
        }
    }
    return entries_.end();
}

// --- questions

void GroupEvent::ask_all(Ref<FutureEvent> future, bool ignores_errors) {
    if (unsettled() == 0) {
        answer_all(*future, entries_.end(), ignores_errors);
        return;
    }
    count_settled();
    asks_.push_back({std::move(future), entries_.end(), unsettled(), Question::All, ignores_errors});
    look_again();
}

Status GroupEvent::ask_first(Ref<FutureEvent> future, const char* if_empty) {
    if (count() == 0) {
        return Status::failure(ErrorCode::IllegalState, if_empty);
    }
    std::uint64_t number = first_settled();
    if (number == entries_.end()) {
        asks_.push_back({std::move(future), 0, 0, Question::First, false});
        quiet_ = 0;
        return {};
    }
    if (unsettled() == 0 && !removes()) {
        number = 0;  // all have settled: the first in the order of the tasks
    }
    answer_one(*future, number);
    return {};
}

/// In the order they came; when all have settled in a group, in the order of the tasks.
std::optional<std::uint64_t> GroupEvent::first_success() const noexcept {
    std::optional<std::uint64_t> found;
    if (unsettled() == 0 && !removes()) {
        entries_.each(entries_.end(), [&found](std::uint64_t number, const TaskEntry& entry, void*) {
            if (entry.has_succeeded() && !found.has_value()) {
                found = number;
            }
        });
        return found;
    }
    for (std::size_t i = settled_begin_; i < settled_end_ && !found.has_value(); ++i) {
        if (const TaskEntry* entry = entries_.at(settled_[i]); entry != nullptr && entry->has_succeeded()) {
            found = settled_[i];
        }
    }
    return found;
}

Status GroupEvent::ask_success(Ref<FutureEvent> future, const char* if_empty) {
    if (count() == 0) {
        return Status::failure(ErrorCode::IllegalState, if_empty);
    }
    if (const std::optional<std::uint64_t> found = first_success()) {
        answer_one(*future, *found);
    } else if (unsettled() == 0) {
        future->fail(failure()).ignore();
    } else {
        asks_.push_back({std::move(future), 0, 0, Question::Success, false});
        quiet_ = 0;
    }
    return {};
}

void GroupEvent::forget(FutureEvent& future) noexcept {
    const auto found = std::ranges::find(asks_, &future, [](const Ask& ask) { return ask.future.get(); });
    if (found == asks_.end() || future.ref_count() != 2 || future.callback_count() != 0) {
        return;  // a chain, or who awaits it, still wants the outcome
    }
    count_settled();
    asks_.erase(found);
    look_again();
}

/// True when the ask is done with. `outcome` is none once somebody has taken it out of a set.
bool GroupEvent::offer(Ask& ask, std::optional<std::uint64_t>& outcome) noexcept {
    if (ask.future->is_completed() || ask.future->ref_count() == 1) {
        return true;  // cancelled, or nobody has it any more: nothing is lost on it
    }
    if (ask.question == Question::All) {
        if (ask.remaining != 0) {
            return false;
        }
        const bool is_about_it = outcome.has_value() && *outcome < ask.end;
        answer_all(*ask.future, ask.end, ask.ignores_errors);
        if (removes() && is_about_it) {
            outcome.reset();
        }
        return true;
    }
    const bool is_wanted =
        outcome.has_value() && (ask.question == Question::First || entries_.at(*outcome)->has_succeeded());
    if (is_wanted) {
        answer_one(*ask.future, *outcome);
        if (removes()) {
            outcome.reset();
        }
        return true;
    }
    if (ask.question == Question::Success && unsettled() == 0) {
        ask.future->fail(failure()).ignore();
        return true;
    }
    return false;
}

void GroupEvent::answer_all(FutureEvent& future, std::uint64_t end, bool ignores_errors) noexcept {
    std::vector<Ref<Error>> errors;
    if (failures_ != 0 && !ignores_errors) {
        entries_.each(end, [&errors](std::uint64_t, const TaskEntry& entry, void*) {
            if (Error* error = entry.error()) {
                errors.emplace_back(error);
            }
        });
    }
    if (errors.empty()) {
        give_all(future, end);
    } else {
        future.fail(CompositeError::make(std::move(errors))).ignore();
    }
    if (removes()) {
        std::vector<std::uint64_t> numbers;
        entries_.each(end, [&numbers](std::uint64_t number, const TaskEntry& entry, void*) {
            if (entry.is_settled()) {
                numbers.push_back(number);
            }
        });
        std::ranges::for_each(numbers, [this](std::uint64_t number) { remove(number); });
    }
}

void GroupEvent::answer_one(FutureEvent& future, std::uint64_t number) noexcept {
    if (Error* error = error_at(number)) {
        future.fail(Ref<Error>(error)).ignore();
    } else {
        give(future, value_at(number));
    }
    if (removes()) {
        remove(number);
    }
}

Ref<Error> GroupEvent::failure() const noexcept {
    std::vector<Ref<Error>> errors;
    entries_.each(entries_.end(), [&errors](std::uint64_t, const TaskEntry& entry, void*) {
        if (Error* error = entry.error()) {
            errors.emplace_back(error);
        }
    });
    return errors.empty() ? hopeless() : CompositeError::make(std::move(errors));
}

/// Nothing will settle any more: who waits for one more outcome waits in vain.
Ref<Error> GroupEvent::hopeless() const noexcept {
    return Error::make(ErrorCode::IllegalState, std::string("No task is left in the ") + name());
}

WaitResult GroupEvent::wait_answer(FutureEvent& answer, const WaitLimit& limit, std::source_location where) noexcept {
    const WaitResult result = wait_future(answer, limit, where);
    if ((result != WaitResult::Cancelled && result != WaitResult::TimedOut) || !answer.is_completed()) {
        return result;
    }
    Ref<Error> missed = Scheduler::take_wait_error();
    if (missed != nullptr && missed->is_cancellation() && missed->reason() != CancelReason::Token) {
        Scheduler::current()->cancel(*Scheduler::current_coroutine(), std::move(missed));
    }
    answer.mark_exception_handled();
    return answer.error() == nullptr ? WaitResult::Ready
                                     : Scheduler::refuse(Ref<Error>(answer.error()), WaitResult::Failed);
}

// --- ending

void GroupEvent::shut() noexcept {
    if (std::exchange(is_shut_, true)) {
        return;
    }
    update_plain();
    const Ref<GroupEvent> held(is_ending() ? nullptr : this);
    wake_spawners();
    check_end();
}

void GroupEvent::cancel(Ref<Error> cancellation) noexcept {
    const Ref<GroupEvent> held(this);
    if (cancellation == nullptr) {
        cancellation = Error::cancellation(CancelReason::UserRequest, std::string(name()) + " cancelled");
    }
    cancellation_ = cancellation;
    shut();  // first: what is dropped may run code
    scope_->cancel(std::move(cancellation));
}

void GroupEvent::handle_dropped() noexcept {
    const Ref<GroupEvent> held(this);
    shut();
    scope_->handle_dropped();
}

bool GroupEvent::add_finally(std::unique_ptr<FinallyHandler>& handler) {
    if (has_ended_) {
        return false;
    }
    finally_.add(std::move(handler));
    return true;
}

// --- waiting

WaitResult GroupEvent::park_in(WaitList& list, const WaitLimit& limit, std::source_location where) noexcept {
    Wait wait(*this, where);
    if (wait.result() == WaitResult::Ready) {
        list.push_back(wait);
    }
    return wait.park(limit);
}

WaitResult GroupEvent::await_completion(const WaitLimit& limit, std::source_location where) noexcept {
    limit.mark_used();
    if (!is_shut_) {
        return Scheduler::refuse(
            ErrorCode::IllegalState, std::string(name()) + " must be closed before calling awaitCompletion()"
        );
    }
    const Ref<GroupEvent> held(this);
    return is_finished() ? WaitResult::Ready : park_in(completion_, limit, where);
}

WaitResult GroupEvent::next(
    Cursor& cursor, std::optional<std::uint64_t>& found, const WaitLimit& limit, std::source_location where
) noexcept {
    const Ref<GroupEvent> held(this);
    const WaitLimit fixed = detail::fix_limit(limit);
    for (;;) {
        found.reset();
        if (removes()) {
            if (const std::uint64_t number = first_settled(); number != entries_.end()) {
                found = number;
            }
        } else if (cursor.seen_ < settled_end_) {
            found = settled_[cursor.seen_++];
        }
        if (found.has_value() || (is_shut_ && unsettled() == 0)) {
            return WaitResult::Ready;
        }
        quiet_ = 0;
        if (const WaitResult result = park_in(readers_, fixed, where); result != WaitResult::Ready) {
            return result;
        }
    }
}

WaitResult GroupEvent::next_success(
    std::optional<std::uint64_t>& found, const WaitLimit& limit, std::source_location where
) noexcept {
    const Ref<GroupEvent> held(this);
    const WaitLimit fixed = detail::fix_limit(limit);
    for (;;) {
        found = first_success();
        if (found.has_value() || unsettled() == 0) {
            return WaitResult::Ready;
        }
        quiet_ = 0;
        if (const WaitResult result = park_in(readers_, fixed, where); result != WaitResult::Ready) {
            return result;
        }
    }
}

}  // namespace trueasync
