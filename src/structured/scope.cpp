#include <trueasync/structured/scope.hpp>

#include <algorithm>
#include <ranges>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/structured/context.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Scope, sizeof(ScopeEvent));

std::uint64_t next_id() noexcept {
    static thread_local std::uint64_t last = 0;
    return ++last;
}

constexpr std::size_t kFewMembers = 32;  // gaps among so few are not worth closing

}  // namespace

/// Who waits for a scope, and what came of it.
class ScopeEvent::Wait final : public DirectWait {
public:
    Wait(const ScopeEvent& scope, ErrorObserver* observer_of_wait, std::source_location where) noexcept
        : DirectWait(scope, where), observer(observer_of_wait) {}

    void wake_with(Ref<Error> reason) noexcept {
        error = std::move(reason);
        wake_for_good();
    }

    struct Failure {
        Ref<Error> error;
        Ref<Coroutine> coroutine;
    };

    ErrorObserver* observer;
    Ref<Error> error;
    std::vector<Failure> failures;  // of which nobody else was told
};

/// Cancels the scope when its time has come.
class ScopeEvent::DisposeTimer final : public Callback {
public:
    explicit DisposeTimer(ScopeEvent& scope) noexcept : scope_(scope) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { scope_.cancel(); }

private:
    ScopeEvent& scope_;  // holds the timer, which holds this
};

ScopeEvent::ScopeEvent(ScopeEvent* parent, const Place& created_at)
    : Event(EventType::Scope),
      id_(next_id()),
      parent_(parent),
      is_safe_(parent != nullptr && parent->is_safe_),
      created_at_(created_at) {
    if (parent != nullptr) {
        parent->children_.push_back(*this);
        if (parent->is_cancelled()) {
            disposal_ = parent->disposal_;
            close();
        }
    }
}

ScopeEvent::~ScopeEvent() { ListNode<ScopeChildTag>::unlink(); }

Ref<ScopeEvent> ScopeEvent::create(ScopeEvent* parent, const Place& created_at) {
    return make_ref<ScopeEvent>(parent, created_at);
}

bool ScopeEvent::contains(const ScopeEvent* other) const noexcept {
    while (other != nullptr && other != this) {
        other = other->parent();
    }
    return other == this;
}

void ScopeEvent::set_context(Ref<ContextNode> context) noexcept { context_ = std::move(context); }

bool ScopeEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_closed() && hand_out(nullptr, nullptr, callback, result, error);
}

std::string ScopeEvent::info() const {
    return "Scope #" + std::to_string(id_) + " created at " + to_string(created_at_);
}

std::vector<std::string> ScopeEvent::unfinished() const {
    std::vector<std::string> lines;
    each_coroutine([&lines](const Coroutine& coroutine) { lines.push_back(coroutine.info()); });
    each_child([&lines](const ScopeEvent& child) { std::ranges::move(child.unfinished(), std::back_inserter(lines)); });
    return lines;
}

// --- members

Status ScopeEvent::admit() noexcept {
    if (TA_UNLIKELY(is_cancelled())) {
        return Status::failure(ErrorCode::ScopeClosed);
    }
    if (TA_UNLIKELY(members_.size() == members_.capacity())) {
        try {
            members_.reserve(std::max(std::size_t{4}, members_.size() * 2));
        } catch (const std::bad_alloc&) {
            return Status::failure(ErrorCode::OutOfMemory, "no memory for one more coroutine in " + info());
        }
    }
    return {};
}

void ScopeEvent::adopt(Coroutine& coroutine, std::uint32_t what) noexcept {
    coroutine.set_owner_note(static_cast<std::uint32_t>(members_.size()) | what);
    members_.push_back(&coroutine);
    ++member_count_;
    if (TA_LIKELY(what == 0)) {
        add_active();
    }
    add_pending();
}

void ScopeEvent::adopt_helper(Coroutine& coroutine) noexcept { adopt(coroutine, kHelper); }

void ScopeEvent::remove(Coroutine& coroutine) noexcept {
    members_[coroutine.owner_note() & kPlace] = nullptr;
    if (--member_count_ == 0) {
        members_.clear();
    } else if (members_.size() > kFewMembers && members_.size() / 2 > member_count_) {
        compact();
    }
}

void ScopeEvent::compact() noexcept {
    std::size_t kept = 0;
    for (Coroutine* coroutine : members_) {
        if (coroutine != nullptr) {
            coroutine->set_owner_note((coroutine->owner_note() & ~kPlace) | static_cast<std::uint32_t>(kept));
            members_[kept++] = coroutine;
        }
    }
    members_.resize(kept);
}

bool ScopeEvent::error_of(Coroutine& coroutine, Error& error) noexcept {
    if (error.is_cancellation() || coroutine.has(EventFlag::ExceptionCaught)) {
        return false;  // dropped, or taken by who awaits it
    }
    Ref<Error> left = route(coroutine, Ref<Error>(&error), false);
    if (left != nullptr && left.get() != &error) {
        coroutine.replace_error(left);
    }
    return left == nullptr;
}

bool ScopeEvent::finished(Coroutine& coroutine, Error* error) noexcept {
    bool is_handled = false;
    if (TA_UNLIKELY(error != nullptr)) {
        is_handled = error_of(coroutine, *error);
    }
    remove(coroutine);
    const bool is_active = (coroutine.owner_note() & (kZombie | kHelper)) == 0;
    coroutine.set_owner(nullptr);
    if (TA_LIKELY(is_active)) {
        drop_active();
    }
    drop_pending();
    return is_handled;
}

void ScopeEvent::add_active() noexcept {
    for (ScopeEvent* scope = this; scope != nullptr && scope->active_++ == 0; scope = scope->parent()) {}
}

void ScopeEvent::drop_active() noexcept {
    for (ScopeEvent* scope = this; scope != nullptr && --scope->active_ == 0; scope = scope->parent()) {
        if (!scope->is_cancelled()) {  // else they are told that instead
            while (Wait* wait = scope->completion_.pop_front()) {
                wait->wake_for_good();
            }
        }
    }
}

void ScopeEvent::add_pending() noexcept {
    for (ScopeEvent* scope = this; scope != nullptr && scope->pending_++ == 0; scope = scope->parent()) {
        scope->add_ref();
        if (TA_UNLIKELY(scope->timer_ != nullptr)) {
            scope->timer_->set_hidden(false);
        }
    }
}

void ScopeEvent::drop_pending() noexcept {
    Ref<ScopeEvent> below;  // goes only when its parent is done with
    for (ScopeEvent* scope = this; scope != nullptr && --scope->pending_ == 0; scope = scope->parent()) {
        below = Ref<ScopeEvent>::adopt(scope);
        scope->settle();
    }
}

/// The last coroutine has ended, here and below.
void ScopeEvent::settle() noexcept {
    if (TA_UNLIKELY(timer_ != nullptr)) {
        timer_->set_hidden(true);
    }
    while (Wait* wait = after_cancellation_.pop_front()) {
        wait->wake_for_good();
    }
    if (is_cancelled()) {
        end();
    }
}

void ScopeEvent::end() noexcept {
    if (is_closed()) {
        return;
    }
    notify(nullptr, nullptr).ignore();
    if (!finally_.empty()) {
        finally_.run(
            true, created_at_,
            [scope = Ref<ScopeEvent>(this)](Ref<Error> error) { scope->finally_failed(std::move(error)); }, parent()
        );
    }
}

bool ScopeEvent::add_finally(std::unique_ptr<FinallyHandler>& handler) {
    if (is_closed() || is_dropped_) {
        return false;
    }
    finally_.add(std::move(handler));
    return true;
}

// --- errors upwards

Ref<Error> ScopeEvent::call_handler(ScopeErrorHandler& handler, Coroutine& coroutine, Error& error) noexcept {
    try {
        return handler.call(*this, coroutine, error);
    } catch (...) {
        return ExceptionError::capture();
    }
}

/// Null when somebody has dealt with it; else what is left of it.
Ref<Error> ScopeEvent::route(Coroutine& coroutine, Ref<Error> error, bool from_below) noexcept {
    for (Ref<ScopeEvent> scope(this); scope != nullptr; scope = scope->parent_, from_below = true) {
        const std::shared_ptr<ScopeErrorHandler> handler =
            from_below && scope->child_error_handler_ != nullptr ? scope->child_error_handler_ : scope->error_handler_;
        if (handler != nullptr) {
            Ref<Error> failure = scope->call_handler(*handler, coroutine, *error);
            if (failure == nullptr || failure->is_cancellation()) {
                return {};
            }
            error = std::move(failure);
            continue;
        }
        scope->stop_below(Error::cancellation(CancelReason::UserRequest, "Scope was cancelled", error));
        if (scope->tell_waiters(*error, coroutine)) {
            return {};
        }
    }
    return error;
}

/// Gives an error to those who wait for the scope; false when nobody does.
bool ScopeEvent::tell_waiters(Error& error, Coroutine& coroutine) noexcept {
    if (completion_.empty() && after_cancellation_.empty()) {
        if (!told_.empty() && &told_.front() == &told_.back()) {
            told_.front().failures.push_back({Ref<Error>(&error), Ref<Coroutine>(&coroutine)});
        }
        return !told_.empty();
    }
    std::size_t told = 0;
    Wait* last = nullptr;
    while (Wait* wait = completion_.pop_front()) {
        wait->wake_with(Ref<Error>(&error));
        told_.push_back(*wait);
        last = wait;
        ++told;
    }
    WaitList others;
    while (Wait* wait = after_cancellation_.pop_front()) {
        others.push_back(*wait);
    }
    while (Wait* wait = others.pop_front()) {
        ++told;
        Ref<Error> outcome(&error);
        if (wait->observer != nullptr) {
            try {
                outcome = wait->observer->call(error, *this);
            } catch (...) {
                outcome = ExceptionError::capture();
            }
        }
        if (outcome == nullptr) {
            after_cancellation_.push_back(*wait);
        } else {
            wait->wake_with(std::move(outcome));
            told_.push_back(*wait);
            last = wait;
        }
    }
    if (told == 1 && last != nullptr) {
        last->failures.push_back({last->error, Ref<Coroutine>(&coroutine)});
    }
    return true;
}

bool ScopeEvent::failed(Coroutine& coroutine, Error& error) noexcept {
    if (error.is_cancellation()) {
        return true;
    }
    const Ref<Error> left = route(coroutine, Ref<Error>(&error), false);
    if (left != nullptr && left.get() != &error) {
        Runtime::current()->unhandled(&coroutine, *left);
        return true;
    }
    return left == nullptr;
}

void ScopeEvent::finally_failed(Ref<Error> error) noexcept {
    Coroutine* helper = Scheduler::current_coroutine();
    if (helper == nullptr) {
        report_sink().unhandled_error(this, *error);  // after the runtime
    } else if (!error->is_cancellation()) {
        if (const Ref<Error> left = route(*helper, std::move(error), false)) {
            Runtime::current()->unhandled(this, *left);
        }
    }
}

// --- cancellation downwards

/// This scope and all below, children before their parents.
std::vector<Ref<ScopeEvent>> ScopeEvent::tree() {
    std::vector<Ref<ScopeEvent>> scopes{Ref<ScopeEvent>(this)};
    for (std::size_t i = 0; i < scopes.size(); ++i) {  // parents first, and of children the last one first
        std::vector<ScopeEvent*> children;
        scopes[i]->each_child([&children](ScopeEvent& child) { children.push_back(&child); });
        std::vector<Ref<ScopeEvent>> reversed;
        for (ScopeEvent* child : std::views::reverse(children)) {
            reversed.emplace_back(child);
        }
        scopes.insert(scopes.begin() + static_cast<std::ptrdiff_t>(i) + 1, reversed.begin(), reversed.end());
    }
    std::ranges::reverse(scopes);
    return scopes;
}

bool ScopeEvent::stop_one(
    Coroutine& coroutine, const Ref<Error>& cancellation, bool safely, bool even_zombies, Parked* parked
) {
    const bool is_zombie = (coroutine.owner_note() & kZombie) != 0;
    if (coroutine.is_finished() || (coroutine.owner_note() & kHelper) != 0 || (is_zombie && !even_zombies)) {
        return false;
    }
    if (safely && coroutine.has_begun()) {
        coroutine.set_owner_note(coroutine.owner_note() | kZombie);
        return !is_zombie;
    }
    if (!even_zombies && coroutine.is_cancel_requested()) {
        return false;  // it may be cleaning up
    }
    if (parked != nullptr && coroutine.waker_state() == WakerState::Waiting) {
        parked->emplace_back(&coroutine);
    }
    Scheduler::current()->cancel(coroutine, cancellation);
    return false;
}

void ScopeEvent::stop_coroutines(
    const Ref<Error>& cancellation, bool safely, bool even_zombies, Parked* parked
) noexcept {
    if (Scheduler::current() == nullptr) {
        return;
    }
    stop_tasks(cancellation, safely, even_zombies, parked);
    // NOLINTNEXTLINE(modernize-loop-convert): some may join while others are told
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i] != nullptr && stop_one(*members_[i], cancellation, safely, even_zombies, parked)) {
            drop_active();
        }
    }
}

/// After an error that nobody here took: coroutines end, but no scope is closed by it.
void ScopeEvent::stop_below(const Ref<Error>& cancellation) noexcept {
    if (pending_ == 0) {
        return;
    }
    for (const Ref<ScopeEvent>& scope : tree()) {
        scope->stop_coroutines(cancellation, scope->is_safe_, false, nullptr);
    }
}

void ScopeEvent::close_with(Ref<Error> cancellation, Disposal how) noexcept {
    if (disposal_ >= how) {
        return;
    }
    if (cancellation == nullptr) {
        cancellation = Error::cancellation(CancelReason::UserRequest, "Scope was cancelled");
    }
    std::vector<Ref<ScopeEvent>> scopes = tree();
    std::erase_if(scopes, [how](const Ref<ScopeEvent>& scope) { return scope->disposal_ >= how; });
    bool has_dependents = false;
    for (const Ref<ScopeEvent>& scope : scopes) {  // first of all: nobody may spawn meanwhile
        scope->disposal_ = how;
        has_dependents = has_dependents || scope->Owner::has_dependents();
    }
    Parked parked;
    for (const Ref<ScopeEvent>& scope : scopes) {
        const bool safely = how == Disposal::Safely || scope->is_safe_;
        scope->stop_coroutines(cancellation, safely, true, has_dependents ? &parked : nullptr);
    }
    for (const Ref<ScopeEvent>& scope : scopes) {
        while (Wait* wait = scope->completion_.pop_front()) {
            wait->wake_with(Error::cancellation(CancelReason::UserRequest, "The scope has been cancelled", cancellation)
            );
        }
        scope->let_dependents_go();
        scope->timer_.reset();
    }
    for (const Ref<Coroutine>& coroutine : parked) {
        Scheduler::cancel_later(*coroutine);  // what it waited for may have ended with the scope: it shall see that
    }
    for (const Ref<ScopeEvent>& scope : scopes) {
        if (scope->pending_ == 0) {
            scope->end();
        }
    }
}

Status ScopeEvent::dispose_after(Duration delay) noexcept {
    if (is_cancelled() || (pending_ == 0 && children_.empty())) {
        return {};
    }
    if (timer_ != nullptr) {
        return timer_->rearm(delay);
    }
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        return Status::failure(ErrorCode::NotRunning, "a scope is disposed after a time only while a runtime runs");
    }
    Ref<TimerEvent> timer = TimerEvent::create(scheduler->reactor(), delay);
    timer->set_hidden(pending_ == 0);
    const auto callback = make_ref<DisposeTimer>(*this);
    if (Status status = timer->add_callback(*callback); !status) {
        return status;
    }
    if (Status status = timer->start(); !status) {
        return status;
    }
    timer_ = std::move(timer);
    return {};
}

void ScopeEvent::handle_dropped() noexcept {
    if (std::exchange(is_dropped_, true) || is_cancelled()) {
        return;
    }
    if (pending_ != 0) {
        cancel(Error::cancellation(CancelReason::UserRequest, "Scope is being disposed due to object destruction"));
        return;
    }
    // Nothing runs here or below: children that somebody still has go on.
    disposal_ = Disposal::Cancelled;
    const Ref<ScopeEvent> self(this);
    let_dependents_go();
    timer_.reset();
    end();
}

// --- waiting

WaitResult ScopeEvent::wait_in(
    WaitList& list, ErrorObserver* observer, const WaitLimit& limit, std::source_location where
) noexcept {
    const Ref<ScopeEvent> held(this);
    Ref<Error> error;
    std::vector<Wait::Failure> failures;
    WaitResult result = WaitResult::Ready;
    {
        Wait wait(*this, observer, where);
        if (wait.result() == WaitResult::Ready) {
            list.push_back(wait);
        }
        result = wait.park(limit);
        error = std::move(wait.error);
        failures = std::move(wait.failures);
    }
    if (error == nullptr) {
        return result;
    }
    if (result == WaitResult::Ready) {
        return Scheduler::refuse(std::move(error), WaitResult::Failed);
    }
    // It was told, and then left for another reason. Errors that only it knew of go on upwards.
    Ref<Error> why = Scheduler::take_wait_error();
    for (Wait::Failure& failure : failures) {
        if (!Runtime::current()->is_accepting()) {
            break;
        }
        Ref<Error> left = std::move(failure.error);
        if (parent_ != nullptr) {
            left = parent_->route(*failure.coroutine, std::move(left), true);
        }
        if (left != nullptr && failure.coroutine->ref_count() == 1) {  // else it rests where somebody can ask for it
            Runtime::current()->unhandled(failure.coroutine.get(), *left);
        }
    }
    return Scheduler::refuse(std::move(why), result);
}

namespace {

constexpr const char* kSelfWait =
    "Cannot await completion of scope from a coroutine that belongs to the same scope or its children";

}  // namespace

WaitResult ScopeEvent::await_completion(const WaitLimit& limit, std::source_location where) noexcept {
    limit.mark_used();
    if (is_closed()) {
        return WaitResult::Ready;
    }
    if (is_cancelled()) {
        return Scheduler::refuse(
            Error::cancellation(CancelReason::UserRequest, "The scope has been cancelled"), WaitResult::Failed
        );
    }
    if (contains(current())) {
        return Scheduler::refuse(ErrorCode::IllegalState, kSelfWait);
    }
    return is_finished() ? WaitResult::Ready : wait_in(completion_, nullptr, limit, where);
}

WaitResult ScopeEvent::await_after_cancellation(
    ErrorObserver* observer, const WaitLimit& limit, std::source_location where
) noexcept {
    limit.mark_used();
    if (!is_cancelled()) {
        return Scheduler::refuse(ErrorCode::IllegalState, "Attempt to await a Scope that has not been cancelled");
    }
    if (is_closed()) {
        return WaitResult::Ready;
    }
    if (contains(current())) {
        return Scheduler::refuse(ErrorCode::IllegalState, kSelfWait);
    }
    return pending_ == 0 ? WaitResult::Ready : wait_in(after_cancellation_, observer, limit, where);
}

}  // namespace trueasync
