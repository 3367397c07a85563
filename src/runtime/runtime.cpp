#include <trueasync/runtime/runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/wait.hpp>
#include <utility>

namespace trueasync {

namespace {

thread_local SwitchHandlers main_start_handlers;

/// Main, where the host brings no object of its own.
class PlainMain final : public Coroutine {
public:
    PlainMain() : Coroutine(std::source_location()) { set_name("main"); }
    void run() override {}  // its body is the code that called `start`
};

}  // namespace

/// Ends the patience of a graceful shutdown. Hidden: it keeps nothing alive.
class Runtime::GraceTimer final : public TimerNode {
public:
    explicit GraceTimer(Runtime& runtime) noexcept : runtime_(runtime) {}
    void on_deadline() noexcept override { runtime_.is_grace_over_ = true; }

private:
    Runtime& runtime_;
};

Runtime::Runtime(std::unique_ptr<Reactor> reactor, RuntimeSettings settings)
    : settings_(settings),
      reactor_(std::move(reactor)),
      stacks_(settings.stacks),
      scheduler_(*this, *reactor_, stacks_, settings.scheduler) {}

Runtime::~Runtime() {
    if (state_ == State::Running || state_ == State::Stopping || state_ == State::Final) {
        finish();
    }
}

Runtime* Runtime::current() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? &scheduler->runtime() : nullptr;
}

Status Runtime::start(Coroutine* main) noexcept {
    if (current() != nullptr) {
        return Status::failure(ErrorCode::AlreadyRunning);
    }
    if (state_ != State::Created) {
        return Status::failure(ErrorCode::IllegalState, "a runtime is started only once; make a new one");
    }
    main_ = main != nullptr ? Ref<Coroutine>(main) : Ref<Coroutine>(make_ref<PlainMain>());
    SwitchHandlers handlers = main_start_handlers;
    handlers.add_all(pending_handlers_);
    Status status = scheduler_.begin(*main_, handlers);
    if (status) {
        pending_handlers_.clear();
        state_ = State::Running;
        if (settings_.report_overflow) {
            overflow_guard_ = std::make_unique<OverflowGuard>(stacks_, &Runtime::describe_running);
        }
    }
    return status;
}

void Runtime::add_switch_handler(SwitchHandler handler) {
    if (state_ == State::Created) {
        pending_handlers_.add(handler);
    } else if (Coroutine* coroutine = Scheduler::current_coroutine()) {
        coroutine->add_switch_handler(handler);
    }
}

void Runtime::add_main_start_handler(SwitchHandler handler) { main_start_handlers.add(handler); }

void Runtime::clear_main_start_handlers() noexcept { main_start_handlers.clear(); }

std::size_t Runtime::describe_running(char* buffer, std::size_t size, void* /*context*/) noexcept {
    const Coroutine* coroutine = Scheduler::current_coroutine();
    if (coroutine == nullptr || size == 0) {
        return 0;
    }
    const char* name = coroutine->has_rare() ? coroutine->rare_->name.c_str() : "";
    const Place place = coroutine->spawned_at();
    const int written = std::snprintf(
        buffer, size, "Coroutine %llu%s%s%s spawned at %.*s:%u", static_cast<unsigned long long>(coroutine->id_),
        *name != '\0' ? " '" : "", name, *name != '\0' ? "'" : "", static_cast<int>(place.file.size()),
        place.file.data(), place.line
    );
    return written < 0 ? 0 : std::min(static_cast<std::size_t>(written), size - 1);
}

void Runtime::cancel_all(const Ref<Error>& cancellation) noexcept {
    for (Coroutine& coroutine : scheduler_.alive()) {
        scheduler_.cancel(coroutine, cancellation, true);
    }
}

void Runtime::shutdown(Ref<Error> cause) noexcept {
    if (state_ != State::Running) {
        return;
    }
    state_ = State::Stopping;
    scheduler_.set_accepting(false);
    if (cause == nullptr || !cause->is_cancellation()) {
        cause = Error::cancellation(CancelReason::Shutdown, "Graceful shutdown", std::move(cause));
    }
    for (Coroutine& coroutine : scheduler_.alive()) {
        if ((coroutine.extras_ & Coroutine::kCleansUp) == 0) {
            scheduler_.cancel(coroutine, cause, true);
        }
    }
    if (!settings_.shutdown_grace.is_never()) {
        grace_ = std::make_unique<GraceTimer>(*this);
        if (!reactor_->arm(*grace_, settings_.shutdown_grace.resolve(reactor_->now()))) {
            is_grace_over_ = true;
        }
    }
}

void Runtime::unhandled(const Event* event, Error& error) noexcept {
    report_sink().unhandled_error(event, error);
    if (first_error_ == nullptr) {
        first_error_ = Ref<Error>(&error);
    }
    if (state_ == State::Running) {
        shutdown(Ref<Error>(&error));
    } else if (settings_.second_error_ends) {
        go_final();
    }
}

/// Ends the patience: main goes next, can no longer wait, and abandons the others.
void Runtime::go_final() noexcept {
    if (state_ != State::Stopping) {
        return;
    }
    state_ = State::Final;
    if (main_->is_finished()) {
        Scheduler::wake(*main_);
        return;
    }
    main_->attention_ |= Coroutine::kNoSuspend;
    scheduler_.cancel(*main_, Error::cancellation(CancelReason::Shutdown, "Graceful shutdown"), true);
}

void Runtime::stuck() noexcept {
    if (scheduler_.ask_stuck_handlers()) {
        return;
    }
    if (state_ == State::Running) {
        std::vector<const Event*> waiting;
        for (const Coroutine& coroutine : scheduler_.alive()) {
            waiting.push_back(&coroutine);
        }
        report_sink().deadlock(waiting, reactor_->active().visible);
        Ref<Error> error = Error::make(
            ErrorCode::Deadlock,
            "Deadlock detected: no active coroutines, " + std::to_string(waiting.size()) + " coroutines in waiting"
        );
        const bool is_first = scheduler_.stats_.deadlocks++ == 0;
        if (first_error_ == nullptr) {
            first_error_ = error;
        }
        if (is_first) {
            cancel_all(Error::cancellation(CancelReason::Deadlock, "Deadlock detected", std::move(error)));
        } else {  // they caught it and wait again: ask them to stop
            shutdown(Error::cancellation(CancelReason::Shutdown, "Deadlock detected", std::move(error)));
        }
        return;
    }
    if (!was_cancelled_again_ && !is_grace_over_) {
        was_cancelled_again_ = true;
        const char* why = scheduler_.stats_.deadlocks > 1 ? "Deadlock detected" : "Graceful shutdown";
        cancel_all(Error::cancellation(CancelReason::Shutdown, why));
        return;
    }
    go_final();
    if (!main_->is_finished() && main_->waker_state() == WakerState::Waiting) {
        scheduler_.cancel(*main_, Error::cancellation(CancelReason::Shutdown, "Graceful shutdown"), true);
    } else if (main_->is_finished()) {
        Scheduler::wake(*main_);
    }
}

void Runtime::abandon_all() noexcept {
    std::vector<const Event*> survivors;
    for (const Coroutine& coroutine : scheduler_.alive()) {
        survivors.push_back(&coroutine);
    }
    if (survivors.empty()) {
        return;
    }
    report_sink().did_not_stop(survivors);
    while (!scheduler_.alive_.empty()) {
        detail::hot.queue = {};  // who waited for an abandoned one was queued, and is abandoned too
        scheduler_.abandon(scheduler_.alive_.front());
    }
    detail::hot.queue = {};
}

Ref<Error> Runtime::finish(Ref<Error> main_error) noexcept {
    if (state_ == State::Created || state_ == State::Stopped) {
        return {};
    }
    if (Scheduler::current_coroutine() != main_.get()) {
        return Error::make(ErrorCode::IllegalState, "only the code that became the main coroutine finishes a runtime");
    }
    if (main_error != nullptr && !main_error->is_cancellation()) {
        if (first_error_ == nullptr) {
            first_error_ = main_error;
        }
        shutdown(main_error);
    }
    main_->mark_exception_caught();
    Ref<Error> outcome = main_error;
    scheduler_.finish_main(std::move(main_error));
    if (state_ != State::Final) {
        scheduler_.drain();
    }
    state_ = State::Final;
    scheduler_.set_accepting(false);
    abandon_all();
    scheduler_.microtasks().clear();
    if (grace_ != nullptr && grace_->is_armed()) {
        reactor_->disarm(*grace_);
    }
    left_open_ = reactor_->close();
    overflow_guard_.reset();
    scheduler_.end();
    main_.reset();
    state_ = State::Stopped;
    return first_error_ != nullptr ? std::move(first_error_) : std::move(outcome);
}

}  // namespace trueasync
