#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/finally.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Future, sizeof(FutureEvent));

}  // namespace

/// Waits in the future's list for its outcome.
class FutureEvent::ContinuationCallback final : public Callback {
public:
    explicit ContinuationCallback(std::unique_ptr<Continuation> body) noexcept : body_(std::move(body)) {}

    void call(Event& event, void* /*result*/, Error* /*error*/) override {
        if (body_ != nullptr) {
            static_cast<FutureEvent&>(event).begin(std::move(body_));
        }
    }

    bool takes_error() const noexcept override { return body_ == nullptr || body_->takes_error(); }

    Continuation* body() const noexcept { return body_.get(); }

private:
    std::unique_ptr<Continuation> body_;
};

Status FutureEvent::refuse_second() const {
    return Status::failure(
        ErrorCode::AlreadyCompleted, "FutureState is already completed at " + to_string(completed_at())
    );
}

Status FutureEvent::fail(Ref<Error> error, PlaceNote where) {
    if (Status status = open(); !status) {
        return status;
    }
    error_ = std::move(error);
    completed_at_ = std::move(where);
    flags_ |= kSpecialTrait;
    if (Scheduler* scheduler = Scheduler::current();
        callback_count() != 0 && scheduler != nullptr && !scheduler->runtime().is_accepting()) {
        mark_exception_caught();  // who waits is being cancelled by the shutdown: that this fails with it is no news
    }
    fire(nullptr, error_.get()).ignore();
    return {};
}

bool FutureEvent::cancel(Ref<Error> cancellation, PlaceNote where) {
    if (is_completed()) {
        return false;
    }
    if (cancellation == nullptr) {
        cancellation = Error::cancellation(CancelReason::UserRequest, "Future has been cancelled");
    }
    return static_cast<bool>(fail(std::move(cancellation), std::move(where)));
}

void FutureEvent::then(std::unique_ptr<Continuation> body) {
    mark_used();
    if (is_completed()) {
        if (body->takes_error()) {
            mark_exception_handled();
        }
        begin(std::move(body));
        return;
    }
    auto callback = Ref<ContinuationCallback>::adopt(new ContinuationCallback(std::move(body)));
    add_callback(*callback).ignore();
    on_chained();
}

void FutureEvent::each_continuation(const std::function<void(Continuation&)>& visit) const {
    callbacks_.each([&visit](Callback& callback) {
        const auto* waiting = dynamic_cast<ContinuationCallback*>(&callback);
        if (waiting != nullptr && waiting->body() != nullptr) {
            visit(*waiting->body());
        }
    });
}

void FutureEvent::begin(std::unique_ptr<Continuation> body) noexcept {
    if (!body->applies(error())) {
        body->pass(*this);
        return;
    }
    body->source_ = Ref<FutureEvent>(this);
    FinallyList::start_if_none();
    Scheduler* scheduler = Scheduler::current();
    const Status status = scheduler != nullptr
                              ? scheduler->spawn_helper(std::move(body), created_at())
                              : Status::failure(ErrorCode::NotRunning, "a future's callback needs a running runtime");
    if (!status) {
        report_sink().unhandled_error(this, *status.error());
    }
}

WaitResult detail::join_future_slow(
    FutureEvent& future, const WaitLimit& limit, Coroutine* self, std::source_location where
) noexcept {
    Ref<FutureEvent> held(&future);  // alive until here: the caller has it, or the waker
    future.mark_used();              // the simple way does not say so: whoever completes the future for a waiter does
    const WaitResult result = self == nullptr ? wait_long(future, limit, where) : end_wait(*self);
    if (result == WaitResult::Ready) {
        static_cast<void>(held.detach());  // the caller's
    }
    return result;
}

WaitResult detail::join_given_future(FutureEvent& future, Coroutine* self, std::source_location where) noexcept {
    const auto given = Ref<FutureEvent>::adopt(self == nullptr ? &future : nullptr);  // else the waker has it
    return join_future_slow(future, {}, self, where);
}

bool FutureEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_completed() && hand_out(error_ == nullptr ? value() : nullptr, error_.get(), callback, result, error);
}

bool FutureEvent::has_unused_result() const noexcept {
    if (!has(EventFlag::ExceptionHandled)) {
        report_sink().warning(
            Warning::UnusedResult, this,
            "Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. "
            "Created at " +
                to_string(created_at())
        );
    }
    return false;  // said in its own words
}

void FutureEvent::report_unhandled(Error& error) noexcept {
    if (has(EventFlag::ResultUsed) || !error.is_cancellation()) {
        report_sink().warning(
            Warning::UnhandledFuture, this,
            "Unhandled exception in Future: " + error.message() + "; use catch() or ignore() to handle. Created at " +
                to_string(created_at()) + ", completed at " + to_string(completed_at())
        );
    }
}

}  // namespace trueasync
