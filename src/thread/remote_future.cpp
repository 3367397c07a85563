#include <trueasync/thread/remote_future.hpp>

#include <typeinfo>

namespace trueasync {

namespace {

bool is_held_once(const Error* error) noexcept {
    for (; error != nullptr; error = error->previous()) {
        if (error->ref_count() != 1 || CompositeError::of(error) != nullptr) {
            return false;
        }
    }
    return true;
}

Ref<Error> copy(const Error* error) {
    if (error == nullptr) {
        return {};
    }
    Ref<Error> previous = copy(error->previous());
    if (error->is_cancellation()) {
        return Error::cancellation(error->reason(), error->message(), std::move(previous));
    }
    if (const auto* composite = CompositeError::of(error)) {
        std::vector<Ref<Error>> errors;
        for (const Ref<Error>& part : composite->errors()) {
            errors.push_back(copy(part.get()));
        }
        return CompositeError::make(std::move(errors), composite->message());
    }
    if (const auto* carried = dynamic_cast<const ExceptionError*>(error)) {
        try {
            std::rethrow_exception(carried->exception());
        } catch (...) {
            return Error::chain(ExceptionError::capture(), std::move(previous));
        }
    }
    return Error::make(error->code(), error->message(), std::move(previous));
}

}  // namespace

Ref<Error> portable_error(Ref<Error> error) { return is_held_once(error.get()) ? std::move(error) : copy(error.get()); }

// --- any thread

bool RemoteState::claim() noexcept {
    Phase pending = Phase::Pending;
    return phase_.compare_exchange_strong(pending, Phase::Claimed, std::memory_order_acq_rel);
}

void RemoteState::settle(Ref<Error> error) noexcept {
    error_ = std::move(error);
    post();
}

void RemoteState::break_off() noexcept {
    if (claim()) {
        is_broken_ = true;
        settle({});
    }
}

// --- the loop's thread

bool RemoteState::withdraw() noexcept {
    Phase pending = Phase::Pending;
    return phase_.compare_exchange_strong(pending, Phase::Unwanted, std::memory_order_acq_rel);
}

Status RemoteState::connect(Reactor& reactor, FutureEvent& future) {
    if (Status status = expect(reactor); !status) {
        return status;
    }
    add_ref();  // the loop's
    reactor_ = &reactor;
    future_ = &future;
    count(future.callback_count() != 0);
    return {};
}

void RemoteState::count(bool is_counted) noexcept {
    if (is_counted != is_counted_ && reactor_ != nullptr) {
        is_counted_ = is_counted;
        is_counted ? ++reactor_->active().visible : --reactor_->active().visible;
    }
}

void RemoteState::set_watched(bool is_watched) noexcept {
    count(is_watched && future_ != nullptr);
    if (!is_watched && future_ != nullptr && needs_watchers()) {
        const Ref<FutureEvent> kept(future_);
        kept->ignore();
        kept->cancel();
    }
}

void RemoteState::disconnect(bool is_cancelled) noexcept {
    if (future_ == nullptr) {
        return;
    }
    count(false);
    future_ = nullptr;
    const Ref<FutureEvent> chained = std::move(kept_);
    if (is_cancelled) {
        abandon();
    }
    if (!is_cancelled && needs_watchers()) {
        return;  // nobody asks for the outcome any more; the work goes on
    }
    if (is_expected() && withdraw()) {
        forget();
        release();  // the loop's
    }
}

void RemoteState::done() noexcept {
    FutureEvent* future = std::exchange(future_, nullptr);
    const Ref<FutureEvent> chained = std::move(kept_);
    if (future != nullptr) {
        const Ref<FutureEvent> kept(future);
        count(false);
        if (is_lost()) {
            future
                ->fail(Error::make(ErrorCode::ThreadFailed, "the process forked; the outcome goes to the parent only"))
                .ignore();
        } else if (error_ != nullptr) {
            future->fail(std::move(error_)).ignore();
        } else if (!is_broken_) {
            deliver(*future);
        }
    }
    if (!is_torn()) {
        release();  // the loop's
    }
}

void RemoteState::detach() noexcept {
    if (future_ == nullptr) {
        return;
    }
    count(false);
    const Ref<FutureEvent> kept(std::exchange(future_, nullptr));
    kept_.reset();
    reactor_ = nullptr;
    kept->ignore();
    kept->fail(Error::make(ErrorCode::ShuttingDown, "the runtime has ended")).ignore();
}

}  // namespace trueasync
