#include <trueasync/runtime/scheduler.hpp>

#include <cxxabi.h>
#include <algorithm>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/runtime/wait.hpp>
#include <utility>

#include "runtime/callback_section.hpp"

namespace trueasync {

namespace detail {

thread_local constinit Hot hot __attribute__((tls_model("initial-exec"))) = {};

}  // namespace detail

using detail::hot;

/// Where the reactor blocks and stuck programs are dealt with. In no list; nobody can await it.
class Scheduler::OwnCoroutine final : public Coroutine {
public:
    explicit OwnCoroutine(Scheduler& scheduler) : scheduler_(scheduler) { mark_no_free_memory(); }
    void run() override { scheduler_.loop(); }
    std::string info() const override { return "Scheduler"; }

private:
    Scheduler& scheduler_;
};

Scheduler::Scheduler(Runtime& runtime, Reactor& reactor, StackPool& stacks, SchedulerSettings settings)
    : runtime_(runtime), reactor_(reactor), stacks_(stacks), settings_(settings) {
    settings_.turns_per_tick = std::max(settings_.turns_per_tick, 1U);
    settings_.tick_interval = std::max(settings_.tick_interval, Duration(1));
    turns_wanted_ = reactor_.has_real_clock() ? 1 : settings_.turns_per_tick;
}

Scheduler::~Scheduler() = default;

Coroutine& Scheduler::own_coroutine() noexcept { return *own_; }

// --- the list of all

void Scheduler::enlist(Coroutine& coroutine) noexcept {
    coroutine.complete();
    is_alive_sorted_ = is_alive_sorted_ && (alive_.empty() || alive_.back().id_ < coroutine.id_);
    alive_.push_back(coroutine);
}

IntrusiveList<Coroutine, AliveTag>& Scheduler::alive() {
    each_unlisted([this](Coroutine& coroutine) { enlist(coroutine); });
    if (!std::exchange(is_alive_sorted_, true)) {
        alive_.sort([](const Coroutine& a, const Coroutine& b) { return a.id_ < b.id_; });
    }
    return alive_;
}

std::size_t Scheduler::alive_count() const noexcept {
    std::size_t count = 0;
    for ([[maybe_unused]] const Coroutine& coroutine : alive_) {
        ++count;
    }
    each_unlisted([&count](const Coroutine&) { ++count; });
    return count;
}

template <typename Visit>
void Scheduler::each_unlisted(Visit&& visit) const {
    const auto visit_unlisted = [&visit](Coroutine& coroutine) {
        if (!coroutine.is_listed() && !coroutine.is_finished()) {  // the running one may have just ended
            visit(coroutine);
        }
    };
    if (hot.scheduler == this) {
        hot.queue.each(visit_unlisted);
        visit_unlisted(*hot.current);
    }
}

// --- suspending: the slow paths

WaitResult Scheduler::departing_slow(Coroutine* self) noexcept {
    if (self == nullptr) {
        return refuse(ErrorCode::NotInCoroutine, "only a coroutine can wait: there is none running on this thread");
    }
    if ((self->attention_ & Coroutine::kInCallback) != 0) {
        return refuse(
            ErrorCode::SuspendRefused, "a callback, microtask or switch handler must not wait: spawn a coroutine for it"
        );
    }
    if ((self->attention_ & Coroutine::kNoSuspend) != 0) {
        return refuse(
            Error::cancellation(CancelReason::Shutdown, "the runtime is in the last step of its shutdown"),
            WaitResult::Cancelled
        );
    }
    if ((self->attention_ & Coroutine::kCancel) != 0) {
        return deliver_cancellation(*self);
    }
    if (!self->is_listed()) {
        hot.scheduler->enlist(*self);  // not before: in a callback it may be one that has just ended
    }
    return WaitResult::Ready;
}

WaitResult Scheduler::suspend_slow(std::source_location where) noexcept {
    Coroutine* self = hot.current;
    if (const WaitResult result = departing_slow(self); result != WaitResult::Ready) {
        return result;
    }
    Scheduler& scheduler = *hot.scheduler;
    if (hot.queue.empty() && hot.fast_turns > 0) {  // a turn like any other, but not a switch
        --hot.fast_turns;
        --scheduler.turns_granted_;
    }
    self->suspended_at_ = where;
    self->waker_state_ = WakerState::Queued;
    hot.queue.push_back(*self);
    scheduler.tick();  // who becomes ready here comes after
    if (hot.queue.head() == self) {
        hot.queue.drop_head();
        self->waker_state_ = WakerState::NoStatus;
        return arrived(*self);  // nobody else was ready
    }
    scheduler.switch_from(*self);
    return arrived(*self);
}

void Scheduler::park_slow(Coroutine& self) noexcept {
    Scheduler& scheduler = *hot.scheduler;
    scheduler.tick();
    scheduler.switch_from(self);
}

WaitResult Scheduler::arrived_slow(Coroutine& self) noexcept {
    if ((self.attention_ & Coroutine::kEnter) != 0) {
        hot.scheduler->enter_hooks(self);
    }
    if ((self.attention_ & Coroutine::kCancelNext) != 0) {
        self.attention_ ^= Coroutine::kCancelNext | Coroutine::kCancel;
        return WaitResult::Ready;
    }
    return (self.attention_ & Coroutine::kCancel) != 0 ? deliver_cancellation(self) : WaitResult::Ready;
}

WaitResult Scheduler::deliver_cancellation(Coroutine& self) noexcept {
    self.attention_ &= ~Coroutine::kCancel;
    Ref<Error> cancellation = std::move(self.rare().cancellation);
    if (cancellation == nullptr) {
        return WaitResult::Ready;
    }
    return refuse(std::move(cancellation), WaitResult::Cancelled);
}

// --- switching

TA_INLINE Coroutine* Scheduler::next_ready() noexcept {
    Coroutine* next = hot.queue.pop();
    if (TA_LIKELY(next == nullptr || next->waker_state_ != WakerState::Ignored)) {
        return next;
    }
    do {
        finish_unstarted(*next, next->rare().cancellation);
        next = hot.queue.pop();
    } while (next != nullptr && next->waker_state_ == WakerState::Ignored);
    return next;
}

/// Leaves `self`, whose waker state says why, for whoever is next; returns when it is continued.
void Scheduler::switch_from(Coroutine& self) noexcept {
    Coroutine* next = next_ready();
    if (next == &self) {  // woken by the tick, or alone
        self.waker_state_ = WakerState::NoStatus;
        return;
    }
    ExecutionContext* to = next != nullptr ? start(*next) : nullptr;
    if (to == nullptr) {
        if (next != nullptr) {
            hot.queue.push_front(*next);  // its stack could not be had: the scheduler's own coroutine deals with it
        }
        next = own_.get();
        to = &next->context_;
        ++stats_.scheduler_switches;
    }
    ++stats_.switches;
    if ((self.attention_ & Coroutine::kHooks) != 0 || (host_hook_ != nullptr && !self.is_finished())) {
        leave_hooks(self);
    }
    const detail::ExceptionState exceptions = std::exchange(*hot.exceptions, {});
    next->waker_state_ = WakerState::NoStatus;
    hot.current = next;
    ExecutionContext::switch_to(self.context_, *to);
    *hot.exceptions = exceptions;
}

/// Where to switch to for `coroutine`, which gets a stack if it has none yet. Null when there is none to be had.
ExecutionContext* Scheduler::start(Coroutine& coroutine) noexcept {
    if ((coroutine.attention_ & Coroutine::kUnstarted) == 0) {
        return &coroutine.context_;
    }
    if (ExecutionContext* spare = hot.spare; spare != nullptr) {
        use_spare(hot, coroutine);
        return spare;
    }
    return prepare(coroutine) ? &coroutine.context_ : nullptr;
}

bool Scheduler::prepare(Coroutine& coroutine) noexcept {
    std::byte* const top = stacks_.acquire_reserved();
    if (TA_UNLIKELY(top == nullptr)) {
        return false;
    }
    coroutine.context_.prepare(stacks_, top, &Scheduler::context_main);
    coroutine.begin_turn();
    return true;
}

/// The one that waits for a coroutine which has ended well. A waiter that has waited by `join` gets the runtime's reference.
TA_INLINE Coroutine& Scheduler::take_waiter(Coroutine& ended, Callback& callback, bool& is_given) noexcept {
    ended.callbacks_.take_only();
    auto& wake_callback = static_cast<WakeCallback&>(callback);
    is_given = wake_callback.is_lent_;
    wake_callback.role_ = WakeRole::Wake;  // as it is: with the next three it makes one store
    wake_callback.fired_ = WakeCallback::Fired::Well;
    wake_callback.is_subscribed_ = false;
    wake_callback.is_lent_ = false;
    return Coroutine::of(wake_callback);
}

/// The common end: a result, one coroutine waiting for it, nobody else to tell. The same as `finish`, without the calls. Returns
/// the waiter, which is not queued yet; null: nothing was done.
TA_INLINE Coroutine* Scheduler::finish_simple(Coroutine& coroutine, bool& is_given) noexcept {
    Callback* callback = coroutine.callbacks_.first();
    if (!coroutine.callbacks_.has_one() || !callback->is_single_wake() ||
        (coroutine.attention_ & ~std::uint32_t{Coroutine::kUnlisted}) != 0 ||
        (coroutine.flags_ & (Event::kFiringBits | Event::kSpecialTrait)) != 0) {
        return nullptr;
    }
    if (TA_UNLIKELY(coroutine.is_listed())) {
        static_cast<ListNode<AliveTag>&>(coroutine).unlink();
    }
    coroutine.flags_ |= Event::kEasyEnd;  // closed, and taken by the one who waits
    coroutine.move_to(EventState::Closed);
    return &take_waiter(coroutine, *callback, is_given);
}

/// Another common end: a result, nobody or one coroutine waiting, an owner to tell. False: nothing was done.
TA_INLINE bool Scheduler::finish_owned(Coroutine& coroutine, bool& is_given) noexcept {
    Callback* only = coroutine.callbacks_.first();
    const bool is_awaited = coroutine.callbacks_.has_one() && only->is_single_wake();
    if (coroutine.extras_ != Coroutine::kOwned || !(is_awaited || coroutine.callbacks_.is_vacant()) ||
        (coroutine.attention_ & ~std::uint32_t{Coroutine::kUnlisted | Coroutine::kHost}) != 0 ||
        (coroutine.flags_ & Event::kFiringBits) != 0) {
        return false;
    }
    if (TA_UNLIKELY(host_hook_ != nullptr)) {
        host_hook_->finish(coroutine);
    }
    const CallbackSection section(*this, coroutine);
    if (TA_UNLIKELY(coroutine.is_listed())) {
        static_cast<ListNode<AliveTag>&>(coroutine).unlink();
    }
    coroutine.flags_ |= Event::kEasyEnd;
    coroutine.move_to(EventState::Closed);
    if (is_awaited) {
        wake(take_waiter(coroutine, *only, is_given));
    }
    coroutine.owner_->finished(coroutine, nullptr);
    return true;
}

/// Who runs after a coroutine that has ended, `waiter` being whom that has woken. An unstarted one is returned as it is: it takes over the
/// context.
TA_INLINE Coroutine* Scheduler::next_after(
    detail::Hot& state, Coroutine& ended, Coroutine* waiter, bool& is_given
) noexcept {
    if (waiter != nullptr) {
        wake(*waiter);
    } else if (!finish_owned(ended, is_given)) {
        finish(ended);
    }
    if (TA_UNLIKELY(detail::count_down(state.fast_turns))) {
        state.fast_turns = 0;
        tick();
        ++stats_.switches;  // a turn that was taken counts by itself
    }
    Coroutine* next = next_ready();
    if (TA_UNLIKELY(next == nullptr)) {
        next = own_.get();
        ++stats_.scheduler_switches;
    }
    return next;
}

/// Drops the runtime's reference to a coroutine that has ended, in the turn of the next one.
TA_INLINE void Scheduler::drop(Coroutine& ended, bool is_given) noexcept {
    if (is_given || ended.release_shared()) {
        return;
    }
    if (ended.body() == Coroutine::kHollow && ended.is_bare() && ended.can_end_easily()) {
        ended.set_body(Coroutine::kNothing);
        ended.end_easily();
    } else {
        drop_last(ended);
    }
}

void Scheduler::drop_last(Coroutine& ended) noexcept {
    const CallbackSection section(*this);  // what its result holds may be destroyed here: that must not suspend
    ended.release();
}

void Scheduler::look_ahead() noexcept {
    look_ahead_in_steps();
    while (detail::hot.ahead != Ahead::Done) {
        look_on_slow();
    }
}

void Scheduler::look_ahead_in_steps() noexcept {
    detail::hot.ahead = Ahead::Stack;
    look_on_slow();
}

void Scheduler::look_on_slow() noexcept {
    detail::Hot& state = detail::hot_here();
    const Ahead step = state.ahead;
    const Coroutine* soon = state.queue.head();
    if (soon == nullptr || !soon->is_started()) {
        state.ahead = Ahead::Done;
        return;
    }
    state.ahead = static_cast<Ahead>(static_cast<int>(step) + 1);
    const Coroutine* later = state.queue.second();
    if (step == Ahead::Stack) {
        soon->context_.prefetch();
        if (later != nullptr) {
            __builtin_prefetch(&later->context_);
        }
    }
    if (HostHook* host = state.scheduler->host_hook_) {
        host->coming(*soon, later, step);
    }
}

/// Waits right here for the next coroutine to start, which then needs neither stack nor frame.
TA_INLINE void Scheduler::wait_as_spare(
    detail::Hot& state, ExecutionContext& here, Coroutine& ended, bool is_given, Coroutine& next
) noexcept {
    state.spare = &here;
    ++state.promises;  // whoever then starts on it has a promise of its own, which it need not use
    drop(ended, is_given);
    ExecutionContext::switch_to(here, next.context_);
}

/// The first frame of every stack. Runs one coroutine after the other as long as unstarted ones follow.
void Scheduler::context_main() noexcept {
    ExecutionContext::annotate_arrived(nullptr);
    ExecutionContext here;  // of nobody in particular: where this stack waits between two coroutines
    here.inherit(hot.current->context_);
    for (;;) {
        detail::Hot& state = detail::hot_here();
        Coroutine& self = *state.current;
        Scheduler& scheduler = *state.scheduler;
        if (TA_UNLIKELY((self.attention_ & (Coroutine::kHooks | Coroutine::kHost)) != 0)) {
            if (scheduler.host_hook_ != nullptr) {
                scheduler.host_hook_->start(self);
            }
            scheduler.fire_handlers(self, SwitchKind::Enter);
        }
        try {
            self.run();
        } catch (...) {
            self.fail(ExceptionError::capture());
        }
        bool is_given = false;
        Coroutine* waiter = scheduler.finish_simple(self, is_given);
        if (TA_LIKELY(
                waiter != nullptr && state.queue.empty() && waiter->waker_state_ == WakerState::Waiting &&
                state.spare == nullptr && !detail::count_down(state.fast_turns)
            )) {
            // Alone in the queue: no need to go through it.
            waiter->waker_state_ = WakerState::NoStatus;
            state.current = waiter;
            scheduler.wait_as_spare(state, here, self, is_given, *waiter);
            continue;
        }
        Coroutine& next = *scheduler.next_after(state, self, waiter, is_given);
        state.current = &next;
        if (TA_UNLIKELY((next.attention_ & Coroutine::kUnstarted) != 0)) {
            ++scheduler.stats_.handovers;
            ++state.promises;
            next.context_.inherit(self.context_);
            next.begin_turn();
            scheduler.drop(self, is_given);
            continue;
        }
        next.waker_state_ = WakerState::NoStatus;
        look_ahead();
        if (TA_LIKELY(state.spare == nullptr)) {
            scheduler.wait_as_spare(state, here, self, is_given, next);
            continue;
        }
        std::byte* const top = self.context_.stack_top();
        void* fiber = self.context_.fiber();
        scheduler.drop(self, is_given);
        scheduler.stacks_.release_top(top);  // not touched before we have left it: only this thread takes from the pool
        ExecutionContext::leave_for_good(next.context_, fiber);
    }
}

// --- the tick

void Scheduler::grant_turns(std::uint32_t turns) noexcept {
    stats_.switches += turns_granted_ - static_cast<std::uint32_t>(std::max(hot.fast_turns, 0));
    turns_granted_ = turns;
    hot.fast_turns = static_cast<std::int32_t>(turns);
}

void Scheduler::tick() noexcept {
    const bool is_interrupted = !run_microtasks();
    if (hot.fast_turns > 0) {
        return;
    }
    if (!reactor_.has_real_clock()) {
        tick_reactor();
    } else {
        const Instant now = reactor_.now();
        const Duration passed = now - last_tick_;
        if (last_tick_ == Instant()) {  // it has slept since, and did not look at the clock for that
            last_tick_ = now;
        } else if (passed >= settings_.tick_interval) {
            // Turns took longer than thought: look at the clock sooner next time.
            const auto share = passed / settings_.tick_interval;
            turns_wanted_ = share > turns_wanted_ ? 1 : std::max(1U, turns_wanted_ / static_cast<std::uint32_t>(share));
            last_tick_ = now;
            tick_reactor();
        } else {
            turns_wanted_ = std::min(turns_wanted_ * 2, settings_.turns_per_tick);
        }
    }
    if (!is_interrupted) {
        run_microtasks();  // what the reactor's callbacks added
    }
    grant_turns(microtasks_.empty() ? turns_wanted_ : 0);
}

void Scheduler::tick_reactor() noexcept {
    ++stats_.ticks;
    if (runtime_.is_grace_over()) {
        runtime_.go_final();
    }
    const CallbackSection section(*this);
    // A call on the reactor's own stack, so that no coroutine's stack grows by a loop's buffers.
    reactor_caller_ = &hot.current->context_;
    const detail::ExceptionState exceptions = std::exchange(*hot.exceptions, {});
    ExecutionContext::switch_to(*reactor_caller_, reactor_context_);
    *hot.exceptions = exceptions;
}

void Scheduler::reactor_main() noexcept {
    ExecutionContext::annotate_arrived(nullptr);
    for (;;) {
        Scheduler& scheduler = *hot.scheduler;
        if (Status status = scheduler.reactor_.execute(true); !status) {
            scheduler.runtime_.unhandled(nullptr, *status.error());
        }
        ExecutionContext::switch_to(scheduler.reactor_context_, *scheduler.reactor_caller_);
    }
}

/// False when one failed: the rest waits for the next turn.
bool Scheduler::run_microtasks() noexcept {
    if (TA_LIKELY(microtasks_.empty())) {
        return true;
    }
    Status status;
    {
        const CallbackSection section(*this);
        status = microtasks_.run_all();
    }
    if (!status) {
        runtime_.unhandled(nullptr, *status.error());
    }
    return status.ok();
}

void Scheduler::add_microtask(Microtask& task) noexcept {
    microtasks_.push(task);
    if (!is_inside_callback()) {
        grant_turns(0);
    }
}

// --- the scheduler's own coroutine

void Scheduler::loop() noexcept {
    for (;;) {
        run_microtasks();
        Coroutine* next = next_ready();
        if (next == nullptr) {
            if (idle() == Idle::Poll) {
                ++stats_.blocks;
                const CallbackSection section(*this);
                if (Status status = reactor_.execute(false); !status) {
                    runtime_.unhandled(nullptr, *status.error());
                }
                if (host_hook_ != nullptr) {
                    host_hook_->woke();
                }
                last_tick_ = Instant();
                if (reactor_.has_real_clock()) {
                    turns_wanted_ =
                        1;  // how long turns take now is not known; the first two are not worth a look at the clock
                    grant_turns(2);
                }
            }
            continue;
        }
        ExecutionContext* to = start(*next);
        if (to == nullptr) {
            finish_unstarted(*next, Error::make(ErrorCode::OutOfMemory, "no memory for the stack of " + next->info()));
            continue;
        }
        ++stats_.switches;
        next->waker_state_ = WakerState::NoStatus;
        hot.current = next;
        ExecutionContext::switch_to(own_->context_, *to);
    }
}

Scheduler::Idle Scheduler::idle() noexcept {
    if (reactor_.active().visible != 0 && !runtime_.is_grace_over()) {
        return Idle::Poll;
    }
    if (alive_.empty()) {  // the queue is empty: all have stopped, so all are listed
        if (is_draining_) {
            enqueue(*main_);
        }
        return Idle::Again;
    }
    runtime_.stuck();
    return Idle::Again;
}

// --- coroutines

Status Scheduler::spawn(Coroutine& coroutine, Owner* owner) noexcept {
    if (TA_UNLIKELY(coroutine.id_ != 0)) {
        return Status::failure(ErrorCode::IllegalState, "a coroutine is spawned only once: " + coroutine.info());
    }
    if (TA_UNLIKELY(!is_accepting_) &&
        (!coroutine.is_cancel_requested_ || runtime_.state() != Runtime::State::Stopping)) {
        return refuse_spawn();
    }
    return spawn_in(coroutine, owner);
}

Status Scheduler::spawn_in(Coroutine& coroutine, Owner* owner, bool is_handler) noexcept {
    if (owner != nullptr && !is_handler) {
        if (Status status = owner->admit(); TA_UNLIKELY(!status)) {
            return status;
        }
    }
    if (TA_UNLIKELY(hot.scheduler != this || !reserve_stack(hot))) {
        return refuse_spawn();
    }
    coroutine.add_ref();
    coroutine.id_ = ++hot.spawned;
    if (TA_UNLIKELY(host_hook_ != nullptr)) {
        coroutine.attention_ |= Coroutine::kHost;
    }
    if (TA_UNLIKELY(owner != nullptr)) {
        coroutine.set_owner(owner);
        is_handler ? owner->adopt_helper(coroutine) : owner->adopt(coroutine);
    }
    enqueue(coroutine);
    if (TA_UNLIKELY(coroutine.is_cancel_requested_)) {
        coroutine.waker_state_ = WakerState::Ignored;
    }
    return {};
}

Status Scheduler::can_spawn() noexcept {
    if (!is_accepting_ || hot.scheduler != this || !reserve_stack(hot)) {
        return refuse_spawn();
    }
    stacks_.unreserve();
    return {};
}

Status Scheduler::refuse_spawn() {
    if (hot.scheduler != this) {
        return Status::failure(
            ErrorCode::NotRunning, "a coroutine can be spawned only on the thread of a running runtime"
        );
    }
    if (!is_accepting_) {
        return Status::failure(ErrorCode::ShuttingDown, "no coroutine can be spawned: the runtime is shutting down");
    }
    return Status::failure(
        ErrorCode::OutOfMemory,
        "no memory for the stack of one more coroutine; " + std::to_string(alive_count()) + " are alive"
    );
}

void Scheduler::cancel(Coroutine& coroutine, Ref<Error> cancellation, bool even_protected) noexcept {
    if (coroutine.is_finished() || &coroutine == own_.get()) {
        return;
    }
    const bool is_deferred = coroutine.has_pending_cancellation();
    if (is_deferred && !(even_protected && coroutine.is_protected())) {
        return;
    }
    coroutine.is_cancel_requested_ = true;
    if (!is_deferred) {
        coroutine.rare().cancellation = cancellation != nullptr
                                            ? std::move(cancellation)
                                            : Error::cancellation(CancelReason::UserRequest, "Coroutine cancelled");
    }
    if (!coroutine.is_started()) {
        coroutine.attention_ |= Coroutine::kCancel;
        if (coroutine.waker_state_ == WakerState::Queued && (coroutine.extras_ & Coroutine::kMustBegin) == 0) {
            coroutine.waker_state_ = WakerState::Ignored;
        }
        return;
    }
    if (coroutine.is_protected() && !even_protected) {
        return;
    }
    coroutine.attention_ |= Coroutine::kCancel;
    wake(coroutine);
}

void Scheduler::interrupt(Coroutine& coroutine, Ref<Error> error) noexcept {
    const bool was_requested = coroutine.is_cancel_requested_;
    cancel(coroutine, std::move(error));
    coroutine.is_cancel_requested_ = was_requested;
}

void Scheduler::finish(Coroutine& coroutine) noexcept {
    if (TA_UNLIKELY(coroutine.has_pending_cancellation())) {
        const Ref<Error> cancellation = std::move(coroutine.rare_->cancellation);
        if (coroutine.error() == nullptr) {  // an error of its own says more than that it was asked to stop
            coroutine.fail(cancellation);
        }
    }
    if (TA_UNLIKELY((coroutine.attention_ & Coroutine::kHooks) != 0)) {
        fire_handlers(coroutine, SwitchKind::Finish);
    }
    if (TA_UNLIKELY(host_hook_ != nullptr) && coroutine.is_started()) {
        host_hook_->finish(coroutine);
    }
    const CallbackSection section(*this);  // what is told now runs in the turn of one that has ended
    if (coroutine.is_listed()) {
        static_cast<ListNode<AliveTag>&>(coroutine).unlink();
    } else {
        coroutine.complete();  // nobody lists it any more
    }
    Error* error = coroutine.error();
    coroutine.fire(error == nullptr ? coroutine.result() : nullptr, error).ignore();
    const bool is_kept = error != nullptr && coroutine.ref_count() != 1 &&  // before its handlers keep it
                         (coroutine.extras_ & Coroutine::kCalled) == 0;
    if (TA_UNLIKELY(coroutine.has_rare() && !coroutine.rare_->finally.empty())) {
        run_finally(coroutine);
    }
    const bool is_handled = coroutine.owner() != nullptr && coroutine.owner_->finished(coroutine, error);
    if (TA_UNLIKELY(error != nullptr)) {
        if (coroutine.has(EventFlag::ExceptionCaught) || is_handled) {
            coroutine.mark_exception_handled();
        } else if (!is_kept || coroutine.ref_count() == 1) {
            coroutine.report_leftovers();  // nobody is left who could ask for it
        }
    }
}

void Scheduler::finish_unstarted(Coroutine& coroutine, Ref<Error> error) noexcept {
    if (coroutine.has_rare()) {
        coroutine.rare_->cancellation.reset();
    }
    const CallbackSection section(*this);  // in somebody else's turn
    coroutine.fail(std::move(error));
    coroutine.waker_state_ = WakerState::NoStatus;
    stacks_.unreserve();
    coroutine.drop_body();
    finish(coroutine);
    coroutine.release();
}

// --- life cycle

Status Scheduler::begin(Coroutine& main, const SwitchHandlers& main_handlers) noexcept {
    own_ = std::make_unique<OwnCoroutine>(*this);
    const Stack reactor_stack = stacks_.acquire();
    if (!reactor_stack || !stacks_.reserve() || !prepare(*own_)) {
        if (reactor_stack) {
            stacks_.release(reactor_stack);
        }
        return Status::failure(ErrorCode::OutOfMemory, "no memory for the scheduler's own stacks");
    }
    own_->attention_ = 0;
    reactor_context_.prepare(stacks_, reactor_stack.top, &Scheduler::reactor_main);
    main_ = &main;
    main.add_ref();
    main.id_ = ++hot.spawned;
    main.attention_ = 0;
    enlist(main);
    if (host_hook_ != nullptr) {
        main.attention_ |= Coroutine::kHost;
    }
    main.context_.adopt_thread();
    hot.current = &main;
    hot.exceptions = reinterpret_cast<detail::ExceptionState*>(abi::__cxa_get_globals());
    hot.scheduler = this;
    set_accepting(true);
    stacks_.set_spare_probe([]() noexcept { return hot.spare != nullptr; });
    last_tick_ = reactor_.now();
    hot.fast_turns = 0;
    turns_granted_ = 0;
    grant_turns(turns_wanted_);
    if (!main_handlers.empty()) {
        main.rare().handlers.add_all(main_handlers);
        main.attention_ |= Coroutine::kHooks;
        fire_handlers(main, SwitchKind::Enter);
    }
    return {};
}

void Scheduler::finish_main(Ref<Error> error) noexcept {
    if (error != nullptr) {
        main_->fail(std::move(error));
    }
    main_->attention_ &= ~(Coroutine::kCancel | Coroutine::kNoSuspend);
    finish(*main_);
    main_->attention_ &=
        ~(Coroutine::kHooks | Coroutine::kHost | Coroutine::kEnter);  // it has ended: draining is not its turn
}

void Scheduler::drain() noexcept {
    is_draining_ = true;
    main_->waker_state_ = WakerState::Waiting;
    park_slow(*main_);
    arrived(*main_);
    is_draining_ = false;
}

/// Takes away the stack of a suspended coroutine that does not stop.
void Scheduler::abandon(Coroutine& coroutine) noexcept {
    Ref<Error> error = Error::cancellation(CancelReason::Abandoned, "abandoned: it did not stop when asked to");
    if (!coroutine.is_started()) {
        finish_unstarted(coroutine, std::move(error));
        return;
    }
    if (coroutine.wait_ != nullptr) {
        std::exchange(coroutine.wait_, nullptr)->abandon(coroutine);
    } else {
        coroutine.waker_.leave_simple();
    }
    if (coroutine.has_rare()) {
        coroutine.rare_->cancellation.reset();
    }
    coroutine.fail(std::move(error));
    coroutine.waker_state_ = WakerState::NoStatus;
    std::byte* const top = coroutine.context_.stack_top();
    void* fiber = coroutine.context_.fiber();
    finish(coroutine);
    drop(coroutine, false);
    ExecutionContext::annotate_destroyed(fiber);
    stacks_.release_top(top);
}

void Scheduler::end() noexcept {
    grant_turns(0);
    if (ExecutionContext* spare = hot.spare; spare != nullptr) {
        ExecutionContext::annotate_destroyed(spare->fiber());
        stacks_.release_top(spare->stack_top());
        --hot.promises;
    }
    stacks_.unreserve(std::exchange(hot.promises, 0));
    ExecutionContext::annotate_destroyed(reactor_context_.fiber());
    ExecutionContext::annotate_destroyed(own_->context_.fiber());
    stacks_.release_top(reactor_context_.stack_top());
    stacks_.release_top(own_->context_.stack_top());
    stats_.spawned = hot.spawned;
    hot = {};
    take_wait_error();
    std::exchange(main_, nullptr)->release();
    own_.reset();
}

}  // namespace trueasync
