#include <trueasync/sync/future.hpp>
#include <trueasync/sync/multi_wait.hpp>

namespace trueasync {

class MultiWait::Trigger final : public Callback {
public:
    Trigger(MultiWait& wait, Event& event, std::size_t number) noexcept
        : wait_(&wait), event_(&event), number_(number) {}

    void call(Event& /*event*/, void* /*result*/, Error* error) override {
        if (wait_ != nullptr && !is_done_) {
            wait_->note(*this, error);
        }
    }

    void dispose(Event* event) noexcept override {
        if (wait_ != nullptr && !is_done_ && event != nullptr) {  // closed before it fired
            const Ref<Error> closed =
                Error::make(ErrorCode::EventClosed, "the event was closed while it was waited for: " + event->info());
            wait_->note(*this, closed.get());
        }
        Callback::dispose(event);
    }

    MultiWait* wait_;
    Ref<Event> event_;
    Ref<Error> error_;
    std::size_t number_;
    bool is_done_ = false;
    bool is_started_ = false;
};

MultiWait::MultiWait(std::size_t enough, bool fails_fast) noexcept : enough_(enough), fails_fast_(fails_fast) {}

MultiWait::~MultiWait() {
    for (const Ref<Trigger>& trigger : triggers_) {
        trigger->wait_ = nullptr;
        if (trigger->is_started_ && trigger->event_->is_in_loop()) {
            trigger->event_->stop().ignore();
        }
        trigger->event_->del_callback(*trigger);
    }
}

Status MultiWait::add(Event& event) {
    auto trigger = Ref<Trigger>::adopt(new Trigger(*this, event, triggers_.size()));
    triggers_.push_back(trigger);
    event.mark_result_used();
    if (event.is_closed()) {
        if (event.replay(trigger.get(), nullptr, nullptr)) {
            return {};
        }
        triggers_.pop_back();
        return Status::failure(
            ErrorCode::EventClosed, "waiting for a closed event, which can never fire: " + event.info()
        );
    }
    Status status = event.add_callback(*trigger);
    if (status && !event.is_passive()) {
        status = event.start();
        trigger->is_started_ = static_cast<bool>(status);
    }
    if (!status) {
        trigger->wait_ = nullptr;
        event.del_callback(*trigger);
        triggers_.pop_back();
    }
    return status;
}

void MultiWait::note(Trigger& trigger, Error* error) noexcept {
    trigger.is_done_ = true;
    trigger.error_ = Ref<Error>(error);
    order_.push_back(trigger.number_);
    ++(error == nullptr ? successes_ : failures_);
    if (error != nullptr) {
        trigger.event_->mark_exception_handled();
    }
    wake_if_enough(trigger.event_.get());
}

void MultiWait::wake_if_enough(const Event* cause) noexcept {
    if (waiter_ == nullptr || !is_enough()) {
        return;
    }
    if (cause != nullptr && cause == token_) {
        waiter_->wake();  // as the token it is about to fire too
    } else {
        waiter_->wake_for_good();
    }
}

void MultiWait::seal() noexcept {
    is_open_ = false;
    wake_if_enough();
}

void MultiWait::abort(Ref<Error> error) noexcept {
    abort_ = std::move(error);
    wake_if_enough();
}

namespace {

class GuardedWait final : public DirectWait {
public:
    GuardedWait(const MultiWait& wait, std::source_location where) noexcept
        : DirectWait(&describe, where), wait_(wait) {}

private:
    static std::string describe(const WaitGuard& guard) {
        const MultiWait& wait = static_cast<const GuardedWait&>(guard).wait_;
        std::string text;
        for (std::size_t i = 0; i < wait.size(); ++i) {
            if (!wait.is_done(i)) {
                text += (text.empty() ? "" : ", ") + wait.event(i).info();
            }
        }
        return text.empty() ? "events to come" : text;
    }

    const MultiWait& wait_;
};

}  // namespace

WaitResult MultiWait::wait(const WaitLimit& limit, std::source_location where) noexcept {
    GuardedWait guard(*this, where);
    limit.add_to(guard);
    waiter_ = &guard;
    token_ = limit.token();
    wake_if_enough();
    const WaitResult result = guard.park(limit.deadline());
    waiter_ = nullptr;
    if (result == WaitResult::Ready && abort_ != nullptr) {
        return Scheduler::refuse(abort_, WaitResult::Failed);
    }
    return result;
}

Event& MultiWait::event(std::size_t number) const noexcept { return *triggers_[number]->event_; }
bool MultiWait::is_done(std::size_t number) const noexcept { return triggers_[number]->is_done_; }
Error* MultiWait::error(std::size_t number) const noexcept { return triggers_[number]->error_.get(); }

Error* MultiWait::first_error() const noexcept {
    for (const std::size_t number : order_) {
        if (Error* error = this->error(number)) {
            return error;
        }
    }
    return nullptr;
}

}  // namespace trueasync
