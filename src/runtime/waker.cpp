#include <trueasync/runtime/waker.hpp>

#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/coroutine.hpp>
#include <trueasync/runtime/scheduler.hpp>

namespace trueasync {

void WakeCallback::call(Event& /*event*/, void* result, Error* error) {
    if (is_single_wake_) {
        is_subscribed_ = false;  // taken out of the list by whoever fires
    } else if (Waker& waker = coroutine_->waker_; !waker.has_fired()) {
        waker.first_fired_ = index_;
    }
    if (is_lent_) {
        end_loan();
    }
    fired_ = error == nullptr ? Fired::Well : Fired::Badly;
    result_ = result;
    if (error != nullptr) {
        error_ = Ref<Error>(error);
    }
    Scheduler::wake(*coroutine_);
}

void WakeCallback::dispose(Event* event) noexcept {
    if (is_subscribed_) {  // not our own leaving: the event has ended
        is_subscribed_ = false;
        if (is_lent_) {
            end_loan();
        }
        if (!has_fired()) {
            const Ref<Error> closed = Error::make(
                ErrorCode::EventClosed,
                "the event was closed while it was waited for" + (event != nullptr ? ": " + event->info() : "")
            );
            call(*event_, nullptr, closed.get());
        }
        if (event_ != nullptr && event_->has(EventFlag::NoFreeMemory) && !event_->has(EventFlag::HostObject)) {
            event_.reset();  // its storage may be gone before this wait is left
        }
    }
    if (!is_single_wake_) {
        release();
    }
}

bool WakeCallback::takes_error() const noexcept { return coroutine_->waker_state_ != WakerState::Queued; }

void WakeCallback::end_loan() noexcept {
    is_lent_ = false;
    if (event_->is_ending()) {
        event_.set_adopted(nullptr);
    } else {
        event_->add_ref();
    }
}

void* WakeCallback::result() const noexcept {
    if (event_ != nullptr && event_->type() == EventType::Coroutine) {
        return error_ == nullptr ? static_cast<Coroutine*>(event_.get())->result() : nullptr;
    }
    return result_;
}

void WakeCallback::destroy() noexcept {
    if (!is_inline_) {
        delete this;
    }
}

WakeCallback& Waker::further(std::size_t index) noexcept { return *first_.coroutine_->rare().subscriptions[index - 1]; }

Status Waker::subscribe(Coroutine& owner, Event& event, WakeRole role) {
    WakeCallback* callback = &first_;
    if (TA_UNLIKELY(count_ != 0)) {
        if (count_ == UINT16_MAX) {
            return Status::failure(ErrorCode::IllegalState, "one wait takes at most 65535 events");
        }
        auto& others = owner.rare().subscriptions;
        if (others.size() < count_) {
            others.emplace_back(new WakeCallback(owner, false));
        }
        callback = others[count_ - 1U].get();
    }
    callback->prepare(role, count_);
    if (TA_UNLIKELY(event.is_closed())) {
        return subscribe_closed(*callback, event);
    }
    if (Status status = event.add_callback(*callback); TA_UNLIKELY(!status)) {
        return status;
    }
    callback->event_ = Ref<Event>(&event);
    callback->is_subscribed_ = true;
    ++count_;
    return {};
}

Status Waker::subscribe_closed(WakeCallback& callback, Event& event) {
    callback.event_ = Ref<Event>(&event);
    ++count_;
    if (event.replay(&callback, nullptr, nullptr)) {
        return {};
    }
    const char* why = event.why_closed();
    const std::string text = (why != nullptr ? std::string(why) + ", " : std::string()) +
                             "waiting for a closed event, which can never fire: " + event.info();
    report_sink().warning(Warning::ClosedEvent, &event, text);
    return Status::failure(ErrorCode::EventClosed, text);
}

Status Waker::start_events() {
    for (std::size_t i = 0; i < count_ && !has_fired(); ++i) {
        WakeCallback& callback = at(i);
        if (TA_LIKELY(!callback.is_subscribed_ || callback.event_->is_passive())) {
            continue;
        }
        if (Status status = callback.event_->start(); !status) {
            return status;
        }
        callback.is_started_ = true;
    }
    return {};
}

void Waker::leave_one(WakeCallback& callback) noexcept {
    if (callback.is_subscribed_) {
        callback.is_subscribed_ = false;
        if (TA_UNLIKELY(callback.is_started_) && callback.event_->is_in_loop()) {
            callback.event_->stop().ignore();
        }
        callback.event_->del_callback(callback);
    }
    callback.is_started_ = false;
    callback.fired_ = WakeCallback::Fired::No;
    callback.result_ = nullptr;
    if (std::exchange(callback.is_lent_, false)) {
        callback.event_.set_adopted(nullptr);
    }
    callback.event_.reset();
    callback.error_.reset();
}

void Waker::leave() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        leave_one(at(i));
    }
    if (TA_UNLIKELY(count_ > 1)) {
        first_.coroutine_->rare().subscriptions.clear();
    }
    first_.rest();
    count_ = 0;
    first_fired_ = 0;
}

}  // namespace trueasync
