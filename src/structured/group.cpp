#include <trueasync/structured/group.hpp>

#include <algorithm>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Group, sizeof(GroupEvent));

}  // namespace

/// Where the tasks live, and what they spawn.
class GroupEvent::TaskScope final : public ScopeEvent {
public:
    TaskScope(GroupEvent& group, ScopeEvent* parent, const Place& created_at)
        : ScopeEvent(parent, created_at), group_(&group) {}

    void adopt(Coroutine& coroutine) noexcept override {
        if (group_ != nullptr && group_->starting_ != 0) {
            adopt_task(coroutine, std::exchange(group_->starting_, 0));
        } else {
            ScopeEvent::adopt(coroutine);
        }
    }
    void forget() noexcept { group_ = nullptr; }

protected:
    void task_finished(Coroutine& coroutine, std::uint32_t task, Error* error) noexcept override {
        group_->task_finished(coroutine, task - 1, error);
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

GroupEvent::GroupEvent(GroupKind kind, const GroupLimits& limits, ScopeEvent* parent, const Place& created_at)
    : Event(EventType::Group),
      concurrency_(limits.concurrency),
      queue_limit_(
          limits.queue_limit.value_or(limits.concurrency <= UINT32_MAX / 2 ? limits.concurrency * 2 : UINT32_MAX)
      ),
      kind_(kind),
      scope_(make_ref<TaskScope>(*this, parent, created_at)),
      leaver_(std::make_unique<Leaver>(*this)),
      created_at_(created_at) {
    scope_->attach(*leaver_);
    is_shut_ = scope_->is_cancelled();
}

GroupEvent::~GroupEvent() {
    leaver_.reset();
    static_cast<TaskScope&>(*scope_).forget();
    scope_->handle_dropped();
    for (Ask& ask : asks_) {
        ask.future->cancel(Error::cancellation(CancelReason::UserRequest, std::string(name()) + " cancelled"));
    }
    for (std::uint32_t slot = 0; slot < used_; ++slot) {
        std::destroy_at(&entry(slot));
    }
}

bool GroupEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_closed() && hand_out(nullptr, nullptr, callback, result, error);
}

std::string GroupEvent::info() const {
    return std::string(name()) + "(total=" + std::to_string(count_) + ", active=" + std::to_string(running_) + ")";
}

// --- adding

Status GroupEvent::check_open(const std::optional<TaskKey>& key) const {
    if (TA_UNLIKELY(is_shut_)) {
        return Status::failure(ErrorCode::GroupClosed, std::string("Cannot spawn tasks on a closed ") + name());
    }
    if (TA_UNLIKELY(key.has_value())) {
        bool is_used = false;
        if (keys_ != nullptr) {
            is_used = keys_->contains(*key);
        } else if (key->is_number()) {  // all keys are numbers that were taken in turn
            for (std::uint32_t slot = first_; slot != kNone && !is_used; slot = entries_.at(slot)->next) {
                is_used = entries_.at(slot)->key == *key;
            }
        }
        if (is_used) {
            return Status::failure(ErrorCode::DuplicateKey, "Duplicate key " + to_string(*key) + " in " + name());
        }
    }
    return {};
}

bool GroupEvent::has_room() const noexcept {
    return concurrency_ == 0 || queue_limit_ == 0 ||
           running_ + queue_.size() + promised_ < std::uint64_t{concurrency_} + queue_limit_;
}

WaitResult GroupEvent::spawn(
    Ref<Coroutine> task, std::optional<TaskKey> key, const WaitLimit& limit, std::source_location where
) noexcept {
    if (Status status = check_open(key); TA_UNLIKELY(!status)) {
        return Scheduler::refuse(status.take());
    }
    if (TA_UNLIKELY(!has_room())) {
        if (const WaitResult result = wait_for_room(limit, where); result != WaitResult::Ready) {
            return result;
        }
        if (Status status = check_open(key); !status) {
            return Scheduler::refuse(status.take());
        }
    }
    if (concurrency_ != 0 && (running_ >= concurrency_ || !queue_.empty())) {
        const std::uint32_t slot = add_entry(std::move(key));
        queue_.push_back({std::move(task), slot});
        return WaitResult::Ready;
    }
    const std::uint32_t slot = add_entry(std::move(key));
    if (Status status = launch(std::move(task), slot); TA_UNLIKELY(!status)) {
        --unsettled_;
        remove(slot);
        return Scheduler::refuse(status.take());
    }
    return WaitResult::Ready;
}

WaitResult GroupEvent::wait_for_room(const WaitLimit& limit, std::source_location where) noexcept {
    const Ref<GroupEvent> held(this);
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

std::uint32_t GroupEvent::add_entry(std::optional<TaskKey>&& key) {
    std::uint32_t slot = free_;
    if (slot != kNone) {
        free_ = entry(slot).next;
    } else {
        entries_.grow(used_);
        grow(used_);
        slot = used_;
        new (entries_.at(slot)) Entry{};
        ++used_;
    }
    if (TA_UNLIKELY(key.has_value()) && keys_ == nullptr) {
        keys_ = std::make_unique<std::unordered_map<TaskKey, std::uint32_t, TaskKey::Hash>>();
        for (std::uint32_t other = first_; other != kNone; other = entry(other).next) {
            keys_->emplace(entry(other).key, other);
        }
    }
    TaskKey own = TA_UNLIKELY(key.has_value()) ? std::move(*key) : TaskKey(next_key_);
    if (own.is_number() && own.number() >= next_key_) {
        next_key_ = own.number() + (own.number() != INT64_MAX ? 1 : 0);
    }
    if (TA_UNLIKELY(keys_ != nullptr)) {
        keys_->emplace(own, slot);
    }
    Entry& one = entry(slot);
    one.key = std::move(own);
    one.number = ++tasks_;
    one.next = kNone;
    one.previous = last_;
    one.next_settled = kNone;
    one.state = State::Waiting;
    (last_ != kNone ? entry(last_).next : first_) = slot;
    last_ = slot;
    ++count_;
    ++unsettled_;
    return slot;
}

Status GroupEvent::launch(Ref<Coroutine> task, std::uint32_t slot) noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (TA_UNLIKELY(scheduler == nullptr)) {
        return Status::failure(ErrorCode::NotRunning);
    }
    starting_ = slot + 1;
    Status status = scheduler->spawn(*task, scope_.get());
    starting_ = 0;
    if (TA_LIKELY(status.ok())) {
        ++running_;
        if (!holds_itself_) {
            holds_itself_ = true;
            add_ref();
        }
    }
    return status;
}

/// A task has left its slot, or the queue has: the next one starts, and one who wanted to add goes on.
void GroupEvent::start_queued() noexcept {
    while (!queue_.empty() && running_ < concurrency_) {
        Queued next = std::move(queue_.front());
        queue_.pop_front();
        if (Status status = launch(std::move(next.task), next.slot); TA_UNLIKELY(!status)) {
            entry(next.slot).error = status.take();
            settle(next.slot);
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
    for (const Queued& queued : dropped) {
        entry(queued.slot).error = error;
        settle(queued.slot);
    }
}

// --- outcomes

void GroupEvent::task_finished(Coroutine& task, std::uint32_t slot, Error* error) noexcept {
    --running_;
    if (TA_UNLIKELY(error != nullptr)) {
        entry(slot).error = Ref<Error>(error);
    } else {
        keep(slot, task);
    }
    settle(slot);
    if (TA_UNLIKELY(concurrency_ != 0)) {
        start_queued();
    }
    if (TA_UNLIKELY(running_ == 0) && std::exchange(holds_itself_, false)) {
        release();
    }
}

void GroupEvent::settle(std::uint32_t slot) noexcept {
    Entry& one = entry(slot);
    one.state = one.error == nullptr ? State::Succeeded : State::Failed;
    one.previous_settled = last_settled_;
    (last_settled_ != kNone ? entry(last_settled_).next_settled : first_settled_) = slot;
    last_settled_ = slot;
    --unsettled_;
    if (!asks_.empty()) {
        answer(slot);
    }
    if (TA_UNLIKELY(!readers_.empty())) {
        wake_all(readers_);
    }
    if (TA_UNLIKELY(unsettled_ == 0)) {
        check_end();
    }
}

void GroupEvent::wake_all(WaitList& list) noexcept {
    while (Wait* wait = list.pop_front()) {
        wait->wake();
    }
}

/// Everybody has settled, or the group was shut.
void GroupEvent::check_end() noexcept {
    if (unsettled_ != 0) {
        return;
    }
    wake_all(completion_);
    if (!is_shut_) {
        return;
    }
    wake_all(readers_);
    reject_hopeless();
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

void GroupEvent::remove(std::uint32_t slot) noexcept {
    Entry& one = entry(slot);
    (one.previous != kNone ? entry(one.previous).next : first_) = one.next;
    (one.next != kNone ? entry(one.next).previous : last_) = one.previous;
    if (one.state != State::Waiting) {
        (one.previous_settled != kNone ? entry(one.previous_settled).next_settled : first_settled_) = one.next_settled;
        (one.next_settled != kNone ? entry(one.next_settled).previous_settled : last_settled_) = one.previous_settled;
    }
    if (keys_ != nullptr) {
        keys_->erase(one.key);
    }
    --count_;
    const Ref<Error> error = std::move(one.error);
    const bool has_value = one.state == State::Succeeded;
    one.key = TaskKey();
    one.state = State::Waiting;
    if (has_value) {
        drop(slot);  // may do anything: the entry is out already, and its slot not yet free
    }
    one.next = std::exchange(free_, slot);
}

// --- questions

void GroupEvent::ask_all(Ref<FutureEvent> future, bool ignores_errors) {
    if (unsettled_ == 0) {
        answer_all(*future, tasks_, ignores_errors);
        return;
    }
    asks_.push_back({std::move(future), tasks_, unsettled_, Question::All, ignores_errors});
}

Status GroupEvent::ask_first(Ref<FutureEvent> future, const char* question) {
    if (count_ == 0) {
        return Status::failure(ErrorCode::IllegalState, question);
    }
    if (first_settled_ != kNone) {
        answer_one(*future, unsettled_ == 0 && !removes() ? first_ : first_settled_);
        return {};
    }
    asks_.push_back({std::move(future), tasks_, 0, Question::First, false});
    return {};
}

Status GroupEvent::ask_success(Ref<FutureEvent> future, const char* question) {
    if (count_ == 0) {
        return Status::failure(ErrorCode::IllegalState, question);
    }
    const bool by_task = unsettled_ == 0 && !removes();
    for (std::uint32_t slot = by_task ? first_ : first_settled_; slot != kNone;
         slot = by_task ? entry(slot).next : entry(slot).next_settled) {
        if (entry(slot).state == State::Succeeded) {
            answer_one(*future, slot);
            return {};
        }
    }
    if (unsettled_ == 0) {
        answer_failures(*future);
        return {};
    }
    asks_.push_back({std::move(future), tasks_, 0, Question::Success, false});
    return {};
}

/// A task has settled: tells those who asked, in the order they did. In a set the first who can use it gets it.
void GroupEvent::answer(std::uint32_t slot) noexcept {
    const Ref<GroupEvent> held(is_ending() ? nullptr : this);
    const std::uint64_t number = entry(slot).number;
    std::vector<Ask> asks = std::exchange(asks_, {});
    std::erase_if(asks, [&](Ask& ask) { return offer(ask, slot, number); });
    if (asks_.empty()) {
        asks_ = std::move(asks);
    } else {  // who is told may ask at once
        asks_.insert(asks_.begin(), std::make_move_iterator(asks.begin()), std::make_move_iterator(asks.end()));
    }
}

/// True when the ask is done with. `slot` is none once somebody has taken it out of a set.
bool GroupEvent::offer(Ask& ask, std::uint32_t& slot, std::uint64_t number) noexcept {
    if (ask.future->is_completed() || ask.future->ref_count() == 1) {
        return true;  // cancelled, or nobody has it any more: nothing is lost on it
    }
    switch (ask.question) {
        case Question::All:
            if (number <= ask.last && --ask.remaining == 0) {
                answer_all(*ask.future, ask.last, ask.ignores_errors);
                if (removes()) {
                    slot = kNone;
                }
                return true;
            }
            return false;
        case Question::First:
            if (slot == kNone) {
                return false;
            }
            answer_one(*ask.future, slot);
            break;
        case Question::Success:
            if (slot != kNone && entry(slot).state == State::Succeeded) {
                answer_one(*ask.future, slot);
                break;
            }
            if (unsettled_ != 0) {
                return false;
            }
            answer_failures(*ask.future);
            return true;
    }
    if (removes()) {
        slot = kNone;
    }
    return true;
}

void GroupEvent::answer_all(FutureEvent& future, std::uint64_t last, bool ignores_errors) noexcept {
    std::vector<std::uint32_t> slots;
    std::vector<Ref<Error>> errors;
    std::vector<std::uint32_t> failed;
    slots.reserve(count_);
    for (std::uint32_t slot = first_; slot != kNone && entry(slot).number <= last; slot = entry(slot).next) {
        if (entry(slot).state == State::Succeeded) {
            slots.push_back(slot);
        } else if (entry(slot).state == State::Failed) {
            errors.push_back(entry(slot).error);
            failed.push_back(slot);
        }
    }
    if (errors.empty() || ignores_errors) {
        give_all(future, slots);
    } else {
        future.fail(CompositeError::make(std::move(errors))).ignore();
    }
    if (removes()) {
        for (const std::uint32_t slot : slots) {
            remove(slot);
        }
        for (const std::uint32_t slot : failed) {
            remove(slot);
        }
    }
}

void GroupEvent::answer_one(FutureEvent& future, std::uint32_t slot) noexcept {
    if (entry(slot).state == State::Succeeded) {
        give(future, slot);
    } else {
        future.fail(entry(slot).error).ignore();
    }
    if (removes()) {
        remove(slot);
    }
}

void GroupEvent::answer_failures(FutureEvent& future) noexcept {
    std::vector<Ref<Error>> errors;
    for (std::uint32_t slot = first_; slot != kNone; slot = entry(slot).next) {
        if (entry(slot).error != nullptr) {
            errors.push_back(entry(slot).error);
        }
    }
    if (errors.empty()) {
        refuse_hopeless(future);
        return;
    }
    future.fail(CompositeError::make(std::move(errors))).ignore();
}

/// Nothing will settle any more: who waits for one more outcome waits in vain.
void GroupEvent::reject_hopeless() noexcept {
    for (const Ask& ask : std::exchange(asks_, {})) {
        refuse_hopeless(*ask.future);
    }
}

void GroupEvent::refuse_hopeless(FutureEvent& future) const noexcept {
    future.fail(Error::make(ErrorCode::IllegalState, std::string("No task is left in the ") + name())).ignore();
}

// --- ending

void GroupEvent::shut() noexcept {
    if (std::exchange(is_shut_, true)) {
        return;
    }
    const Ref<GroupEvent> held(is_ending() ? nullptr : this);
    start_queued();
    check_end();
}

void GroupEvent::cancel(Ref<Error> cancellation) noexcept {
    const Ref<GroupEvent> held(this);
    if (cancellation == nullptr) {
        cancellation = Error::cancellation(CancelReason::UserRequest, std::string(name()) + " cancelled");
    }
    cancellation_ = cancellation;
    scope_->cancel(std::move(cancellation));
    shut();
}

void GroupEvent::handle_dropped() noexcept {
    const Ref<GroupEvent> held(this);
    shut();
    scope_->handle_dropped();
}

bool GroupEvent::add_finally(std::unique_ptr<FinallyHandler>&& handler) {
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
    Cursor& cursor, std::optional<std::uint32_t>& found, const WaitLimit& limit, std::source_location where
) noexcept {
    const Ref<GroupEvent> held(this);
    const WaitLimit fixed =
        limit.is_none()
            ? limit
            : limit.fixed(Scheduler::current() != nullptr ? Scheduler::current()->reactor().now() : Instant());
    for (;;) {
        const std::uint32_t slot = removes() || cursor.slot == kNone ? first_settled_ : entry(cursor.slot).next_settled;
        if (slot != kNone) {
            cursor.slot = slot;
            found = slot;
            return WaitResult::Ready;
        }
        found.reset();
        if (is_shut_ && unsettled_ == 0) {
            return WaitResult::Ready;
        }
        if (const WaitResult result = park_in(readers_, fixed, where); result != WaitResult::Ready) {
            return result;
        }
    }
}

}  // namespace trueasync
