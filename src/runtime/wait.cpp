#include <trueasync/runtime/wait.hpp>

#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

void WaitGuard::refuse_begin() noexcept {
    if (result_ == WaitResult::Ready) {
        result_ = Scheduler::refuse(ErrorCode::IllegalState, "this coroutine is already preparing another wait");
    }
}

WaitResult WaitGuard::add(Event& event, WakeRole role) noexcept {
    if (TA_UNLIKELY(result_ != WaitResult::Ready)) {
        return result_;
    }
    if (TA_UNLIKELY(&event == self_)) {
        return result_ = Scheduler::refuse(ErrorCode::AwaitSelf, "a coroutine cannot await itself: " + event.info());
    }
    if (Status status = self_->waker_.subscribe(*self_, event, role); TA_UNLIKELY(!status)) {
        result_ = Scheduler::refuse(status.take());
    }
    return result_;
}

bool WaitGuard::depart(Deadline deadline) noexcept {
    if (TA_UNLIKELY(result_ != WaitResult::Ready)) {
        return false;
    }
    if (self_->waker_.has_fired() || is_woken_) {
        Scheduler::count_fast_return();
        return false;
    }
    if (Status status = self_->waker_.start_events(); TA_UNLIKELY(!status)) {
        result_ = Scheduler::refuse(status.take());
        return false;
    }
    if (TA_UNLIKELY(self_->waker_.has_fired())) {
        Scheduler::count_fast_return();
        return false;
    }
    if (TA_UNLIKELY(!deadline.is_never()) && !arm(deadline)) {
        return false;
    }
    self_->waker_state_ = WakerState::Waiting;
    return true;
}

bool WaitGuard::arm(Deadline deadline) noexcept {
    Reactor& reactor = Scheduler::current()->reactor();
    const Instant now = deadline.is_delay() ? reactor.now() : Instant();
    if (Status status = reactor.arm(timeout_, deadline.resolve(now)); !status) {
        result_ = Scheduler::refuse(status.take());
        return false;
    }
    ++reactor.active().visible;
    return true;
}

void WaitGuard::Timeout::on_deadline() noexcept {
    --Scheduler::current()->reactor().active().visible;
    guard_.expire();
}

WaitResult WaitGuard::arrive() noexcept {
    if (TA_UNLIKELY(result_ != WaitResult::Ready)) {
        return result_;
    }
    if (WaitResult result = Scheduler::arrived(*self_); TA_UNLIKELY(result != WaitResult::Ready)) {
        return result_ = result;
    }
    self_->waker_state_ = WakerState::Result;
    const WakeCallback* fired = self_->waker_.fired();
    if (TA_LIKELY(fired != nullptr && fired->role() == WakeRole::Wake)) {
        if (TA_UNLIKELY(fired->error() != nullptr && fired->error()->code() == ErrorCode::EventClosed)) {
            result_ = Scheduler::refuse(Ref<Error>(fired->error()));
        }
        return result_;
    }
    if (is_outcome_ || (fired == nullptr && is_woken_)) {
        return result_;
    }
    if (fired != nullptr && fired->role() == WakeRole::Cancel) {
        return result_ = Scheduler::refuse(
                   Error::cancellation(CancelReason::Token, "Operation has been cancelled", Ref<Error>(fired->error())),
                   WaitResult::Cancelled
               );
    }
    if (fired != nullptr && fired->error() != nullptr) {
        return result_ = Scheduler::refuse(Ref<Error>(fired->error()), WaitResult::TimedOut);
    }
    if (fired != nullptr || timeout_.has_passed) {
        Scheduler::take_wait_error();  // no error is made for a deadline: most only want to know
        return result_ = WaitResult::TimedOut;
    }
    return result_;
}

void WaitGuard::leave() noexcept {
    ListNode<>::unlink();
    if (TA_UNLIKELY(timeout_.is_armed())) {
        Reactor& reactor = Scheduler::current()->reactor();
        reactor.disarm(timeout_);
        --reactor.active().visible;
    }
    self_->waker_.leave();
    self_->waker_state_ = WakerState::NoStatus;
    self_->wait_ = nullptr;
    is_begun_ = false;
}

void Scheduler::cancel_later(Coroutine& coroutine) noexcept {
    if ((coroutine.attention_ & Coroutine::kCancel) == 0 || coroutine.waker_state_ != WakerState::Queued) {
        return;
    }
    const Wait* wait = coroutine.wait();
    if (wait != nullptr ? wait->is_over(coroutine) : coroutine.waker_.fired_simple() != nullptr) {
        coroutine.attention_ ^= Coroutine::kCancelNext | Coroutine::kCancel;
    }
}

std::vector<std::string> Coroutine::awaiting() const {
    std::vector<std::string> lines;
    if (is_finished() || is_running() || !is_listed()) {
        return lines;
    }
    for (std::size_t i = 0; i < waker_.size(); ++i) {
        if (const Event* event = waker_.at(i).event()) {
            lines.push_back(event->info());
        }
    }
    if (wait_ != nullptr) {
        wait_->describe(lines);
    }
    return lines;
}

const Wait::Kind WaitGuard::kGuard = {
    [](const Wait& wait, std::vector<std::string>& lines) {
        static_cast<const WaitGuard&>(wait).describe_guard(lines);
    },
    [](Wait& wait, Coroutine& /*coroutine*/) noexcept { static_cast<WaitGuard&>(wait).leave(); },
    [](const Wait& wait, const Coroutine& /*coroutine*/) noexcept {
        const auto& guard = static_cast<const WaitGuard&>(wait);
        return guard.is_woken_ || guard.waker().has_fired();
    },
};

namespace {

/// Shown as the timer that one would have made for it.
class Sleep final : public DirectWait {
public:
    Sleep(Duration duration, std::source_location where) noexcept : DirectWait(&describe, where), duration_(duration) {}

    static std::string describe(const WaitGuard& guard) {
        const Duration duration = static_cast<const Sleep&>(guard).duration_;
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
        return "Timer(timeout=" + std::to_string(milliseconds) + "ms, once)";
    }

private:
    Duration duration_;
};

}  // namespace

void WaitGuard::describe_guard(std::vector<std::string>& lines) const {
    if (source_ != nullptr) {
        lines.push_back(source_->info());
    }
    if (describe_ != nullptr) {
        lines.push_back(describe_(*this));
    }
    if (timeout_.is_armed() && describe_ != &Sleep::describe) {
        describe_deadline(timeout_.deadline(), lines);
    }
}

void WaitGuard::describe_deadline(Instant deadline, std::vector<std::string>& lines) {
    const auto left = deadline - Scheduler::current()->reactor().now();
    lines.push_back(
        "Deadline(in " + std::to_string(std::chrono::ceil<std::chrono::milliseconds>(left).count()) + "ms)"
    );
}

WaitResult detail::end_wait(Coroutine& self) noexcept {
    WaitResult result = Scheduler::arrived(self);
    if (result == WaitResult::Ready) {
        if (const WakeCallback* fired = self.waker_.fired_simple(); fired != nullptr && fired->error() != nullptr) {
            const bool is_closed = fired->error()->code() == ErrorCode::EventClosed && fired->event() == nullptr;
            if (fired->event() != nullptr) {
                fired->event()->mark_exception_caught();
            }
            result =
                Scheduler::refuse(Ref<Error>(fired->error()), is_closed ? WaitResult::Refused : WaitResult::Failed);
        }
    }
    self.waker_.leave_simple();
    self.waker_state_ = WakerState::NoStatus;
    return result;
}

WaitResult detail::end_join(Coroutine& self, Coroutine& coroutine) noexcept {
    Ref<Coroutine> held(&coroutine);  // alive until here: it runs on, or the waker has it
    const WaitResult result = end_wait(self);
    if (result == WaitResult::Ready) {
        static_cast<void>(held.detach());  // the caller's
    }
    return result;
}

WaitResult detail::wait_long(Event& event, const WaitLimit& limit, std::source_location where) noexcept {
    WaitGuard guard(where);
    limit.add_to(guard);
    guard.add(event);
    const WaitResult result = guard.park(limit.deadline());
    if (result == WaitResult::Ready && guard.fired() != nullptr && guard.fired()->error() != nullptr) {
        event.mark_exception_caught();
        return Scheduler::refuse(Ref<Error>(guard.fired()->error()), WaitResult::Failed);
    }
    return result;
}

WaitResult detail::join_long(Coroutine& coroutine, const WaitLimit& limit, std::source_location where) noexcept {
    Ref<Coroutine> held(&coroutine);
    const WaitResult result = wait_long(coroutine, limit, where);
    if (result == WaitResult::Ready) {
        static_cast<void>(held.detach());  // the caller's
    }
    return result;
}

WaitResult sleep_until(Deadline deadline, std::source_location where) noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (deadline.is_never()) {
        return WaitGuard(where).park(deadline);
    }
    if (scheduler == nullptr || deadline.resolve(Instant{}) <= Instant{}) {
        return Scheduler::suspend(where);
    }
    const Instant now = scheduler->reactor().now();
    const Instant end = deadline.resolve(now);
    Sleep guard(end - now, where);
    const WaitResult result = guard.park(Deadline::at(end));
    return result == WaitResult::TimedOut ? WaitResult::Ready : result;
}

ProtectGuard::ProtectGuard() noexcept : self_(Scheduler::current_coroutine()) {
    if (self_ != nullptr) {
        ++self_->protect_depth_;
        if (Scheduler::current()->runtime().is_accepting()) {
            // What was requested and not yet delivered waits too; `leave_quietly` sets it again. A shutdown does not wait.
            self_->attention_ &= ~Coroutine::kCancel;
        }
    }
}

WaitResult ProtectGuard::leave() noexcept {
    Coroutine* self = self_;
    leave_quietly();
    return self != nullptr ? Scheduler::arrived(*self) : WaitResult::Ready;
}

void ProtectGuard::leave_quietly() noexcept {
    if (self_ == nullptr) {
        return;
    }
    if (--self_->protect_depth_ == 0 && self_->has_pending_cancellation()) {
        self_->attention_ |= Coroutine::kCancel;  // what came meanwhile is delivered at the next suspension point
    }
    self_ = nullptr;
}

// --- errors of waits

namespace {

thread_local constinit Error* wait_error = nullptr;

}  // namespace

Ref<Error> Scheduler::take_wait_error() noexcept { return Ref<Error>::adopt(std::exchange(wait_error, nullptr)); }

WaitResult Scheduler::refuse(ErrorCode code, std::string message) noexcept {
    return refuse(Error::make(code, std::move(message)));
}

WaitResult Scheduler::refuse(Ref<Error> error, WaitResult as) noexcept {
    take_wait_error();
    wait_error = error.detach();
    return as;
}

}  // namespace trueasync
