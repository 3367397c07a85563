#include <algorithm>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/structured/iterate.hpp>
#include <vector>

namespace trueasync {

namespace {

/// Fires when the last worker has gone. Shared by the workers, of which some may outlast the caller.
class IteratorEvent final : public Event {
public:
    IteratorEvent(Iteration& iteration, const IterateSettings& settings, Ref<ScopeEvent> scope, const Place& place)
        : Event(EventType::Iterator),
          iteration_(&iteration),
          limit_(settings.concurrency != 0 ? settings.concurrency : UINT32_MAX),
          scope_(std::move(scope)),
          place_(place) {}

    std::string info() const override { return "iterator-completion"; }

    Status add_worker() noexcept;
    void work();
    /// A switch is near: if everybody is in a callback, somebody else goes on.
    void hand_on() noexcept {
        is_watched_ = false;
        if (!is_over_ && workers_.size() == in_callback_ && workers_.size() < limit_) {
            if (Status status = add_worker(); !status) {
                fail(Ref<Error>(status.error()));
            }
        }
    }
    /// Cancelled by somebody before it began: its element will not come.
    void dropped(Coroutine& worker) noexcept {
        if (!is_over_) {
            fail(Ref<Error>(worker.error()));
        }
    }
    void gone(Coroutine& worker) noexcept;
    void call_off() noexcept {
        is_over_ = true;
        for (const Ref<Coroutine>& worker : std::vector<Ref<Coroutine>>(workers_)) {
            if (worker.get() != Scheduler::current_coroutine()) {
                Scheduler::current()->cancel(
                    *worker, Error::cancellation(CancelReason::UserRequest, "iteration ended")
                );
            }
        }
    }
    const Ref<Error>& error() const noexcept { return error_; }
    bool is_done() const noexcept { return workers_.empty(); }

private:
    class Worker;
    class HandOn;

    void fail(Ref<Error> error) noexcept {
        if (error_ == nullptr) {
            error_ = std::move(error);
        }
        call_off();
    }
    void watch() noexcept;

    Iteration* iteration_;
    std::uint32_t limit_;
    Ref<ScopeEvent> scope_;
    Place place_;
    std::vector<Ref<Coroutine>> workers_;
    std::uint32_t in_callback_ = 0;
    bool is_advancing_ = false;  // somebody is inside `next`
    bool is_over_ = false;       // no further elements
    bool is_watched_ = false;    // a microtask waits for the next switch
    Ref<Error> error_;
};

class IteratorEvent::Worker final : public HelperBody {
public:
    explicit Worker(IteratorEvent& event) noexcept : event_(&event) {}
    ~Worker() override {
        if (coroutine == nullptr) {
            return;
        }
        if (!has_begun_) {
            event_->dropped(*coroutine);
        }
        event_->gone(*coroutine);
    }

    Ref<Error> run() override {
        has_begun_ = true;
        event_->work();
        return {};
    }

    Coroutine* coroutine = nullptr;

private:
    Ref<IteratorEvent> event_;
    bool has_begun_ = false;
};

class IteratorEvent::HandOn final : public Microtask {
public:
    explicit HandOn(IteratorEvent& event) noexcept : event_(&event) {}
    Status run() override {
        event_->hand_on();
        return {};
    }

private:
    Ref<IteratorEvent> event_;
};

Status IteratorEvent::add_worker() noexcept {
    auto body = std::make_unique<Worker>(*this);
    Worker& worker = *body;
    Ref<Coroutine> coroutine;
    Status status =
        Scheduler::current()->spawn_helper(std::move(body), place_, Priority::Normal, scope_.get(), &coroutine);
    if (status) {
        worker.coroutine = coroutine.get();
        workers_.push_back(std::move(coroutine));
    }
    return status;
}

void IteratorEvent::watch() noexcept {
    if (!is_watched_) {
        is_watched_ = true;
        // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): out of memory is the end
        const auto task = Ref<HandOn>::adopt(new HandOn(*this));
        Scheduler::current()->add_microtask(*task);
    }
}

void IteratorEvent::work() {
    while (!is_over_ && !is_advancing_) {
        Ref<Error> error;
        is_advancing_ = true;
        std::unique_ptr<IterationItem> item = iteration_->next(error);
        is_advancing_ = false;
        if (item == nullptr || is_over_) {
            is_over_ = true;
            if (error != nullptr) {
                fail(std::move(error));
            }
            return;
        }
        ++in_callback_;
        watch();
        const bool goes_on = item->call(error);
        item.reset();
        --in_callback_;
        if (error != nullptr) {
            fail(std::move(error));
        }
        is_over_ = is_over_ || !goes_on;
    }
}

void IteratorEvent::gone(Coroutine& worker) noexcept {
    const Ref<IteratorEvent> self(this);
    std::erase_if(workers_, [&](const Ref<Coroutine>& one) { return one.get() == &worker; });
    if (workers_.empty()) {
        notify(nullptr, nullptr).ignore();
    }
}

/// `reason` becomes what it failed with.
WaitResult iterate_all(
    Iteration& iteration,
    const IterateSettings& settings,
    ScopeEvent* parent,
    std::source_location where,
    Ref<Error>& reason
) noexcept {
    const Ref<ScopeEvent> scope = ScopeEvent::create(parent, Place(where));
    scope->set_safe(false);
    const auto event = make_ref<IteratorEvent>(iteration, settings, scope, Place(where));
    WaitResult result = WaitResult::Ready;
    if (Status status = event->add_worker(); !status) {
        result = Scheduler::refuse(Ref<Error>(status.error()));
    } else {
        result = wait_for(*event, {}, where);
    }
    reason = result != WaitResult::Ready ? Scheduler::take_wait_error() : event->error();
    ProtectGuard protect;  // nothing may be left behind, whatever comes meanwhile
    if (!event->is_done()) {
        event->call_off();
        wait_for(*event, {}, where);
    }
    const bool cancels = settings.cancels_pending || reason != nullptr;
    if (cancels) {
        scope->cancel();
    }
    const WaitResult rest =
        cancels ? scope->await_after_cancellation(nullptr, {}, where) : scope->await_completion({}, where);
    if (rest == WaitResult::Failed && reason == nullptr) {
        reason = Scheduler::take_wait_error();
    }
    scope->handle_dropped();
    const WaitResult left = protect.leave();
    Ref<Error> later = left != WaitResult::Ready ? Scheduler::take_wait_error() : nullptr;
    if (result != WaitResult::Ready || reason != nullptr) {
        return result != WaitResult::Ready ? result : WaitResult::Failed;
    }
    reason = std::move(later);
    return left;
}

}  // namespace

WaitResult iterate(
    Iteration& iteration, const IterateSettings& settings, ScopeEvent* parent, std::source_location where
) noexcept {
    Ref<Error> reason;
    const WaitResult result = iterate_all(iteration, settings, parent, where, reason);
    // Only now, when all of it has gone: what a host frees there may wait, and forget what was said here.
    return reason != nullptr ? Scheduler::refuse(std::move(reason), result) : result;
}

}  // namespace trueasync
