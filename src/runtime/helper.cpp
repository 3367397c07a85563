#include <trueasync/runtime/helper.hpp>

#include <algorithm>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

namespace {

/// In a program without a host.
class HelperCoroutine final : public Coroutine {
public:
    HelperCoroutine(std::unique_ptr<HelperBody> body, const Place& where) : body_(std::move(body)), where_(where) {}

    Place spawned_at() const override { return where_; }

protected:
    void run() override {
        if (Ref<Error> error = body_->run()) {
            fail(std::move(error));
        }
        body_.reset();
    }
    void drop_body() noexcept override { body_.reset(); }

private:
    std::unique_ptr<HelperBody> body_;
    Place where_;
};

}  // namespace

Status Scheduler::spawn_helper(
    std::unique_ptr<HelperBody> body, const Place& where, Priority priority, Owner* owner, Ref<Coroutine>* made
) noexcept {
    if (!is_accepting_ && runtime_.state() != Runtime::State::Stopping) {
        return refuse_spawn();
    }
    const bool must_begin = body->must_begin();
    const bool cleans_up = body->cleans_up();
    const bool is_called = body->is_called();
    Ref<Coroutine> coroutine = helper_factory_ != nullptr ? helper_factory_->make(std::move(body), where)
                                                          : make_ref<HelperCoroutine>(std::move(body), where);
    if (coroutine == nullptr) {
        return Status::failure(ErrorCode::OutOfMemory, "no memory for a helper coroutine");
    }
    coroutine->note(Coroutine::kMustBegin, must_begin);
    coroutine->note(Coroutine::kCleansUp, cleans_up);
    coroutine->note(Coroutine::kCalled, is_called);
    coroutine->set_priority(priority);
    if (Status status = spawn_in(*coroutine, owner, priority == Priority::High); !status) {
        return status;
    }
    coroutine->set_priority(Priority::Normal);  // only its start is urgent
    if (made != nullptr) {
        *made = std::move(coroutine);
    }
    return {};
}

WaitResult Scheduler::run_head(std::source_location where) noexcept {
    Coroutine* self = detail::hot.current;
    if (const WaitResult result = departing_slow(self); result != WaitResult::Ready || detail::hot.queue.empty()) {
        return result;
    }
    Coroutine* head = detail::hot.queue.pop();
    self->suspended_at_ = where;
    self->waker_state_ = WakerState::Queued;
    detail::hot.queue.push_front(*self);
    detail::hot.queue.push_front(*head);
    detail::hot.scheduler->switch_from(*self);
    return arrived(*self);
}

bool Scheduler::ask_stuck_handlers() noexcept {
    IntrusiveList<StuckHandler, StuckTag> asked;
    bool is_relieved = false;
    while (StuckHandler* handler = stuck_handlers_.pop_front()) {
        asked.push_back(*handler);
        is_relieved = handler->relieve() || is_relieved;
    }
    while (StuckHandler* handler = asked.pop_front()) {
        stuck_handlers_.push_back(*handler);
    }
    return is_relieved;
}

/// Handlers overtake everybody; what they fail with goes to who is responsible for the coroutine, never to those who await it.
void Scheduler::run_finally(Coroutine& coroutine) noexcept {
    coroutine.rare_->finally.run(
        true, coroutine.spawned_at(),
        [holder = Ref<Coroutine>(&coroutine)](const Ref<Error>& error) {
            Owner* owner = current_owner();  // of the helper; that of the coroutine itself has forgotten it
            if (owner == nullptr || !owner->failed(*holder, *error)) {
                Runtime::current()->unhandled(holder.get(), *error);
            }
        },
        coroutine.owner()
    );
}

SchedulerStats Scheduler::stats() const noexcept {
    SchedulerStats stats = stats_;
    if (detail::hot.scheduler == this) {
        stats.spawned = detail::hot.spawned;
        stats.switches += turns_granted_ - static_cast<std::uint32_t>(std::max(detail::hot.fast_turns, 0));
    }
    stats.switches -= stats.handovers;  // each took a turn, which was counted as one
    stats.finished = stats.spawned - alive_count();
    return stats;
}

}  // namespace trueasync
