#include <trueasync/api/signal.hpp>

#include <span>

#include "io.hpp"

namespace trueasync {

namespace {

std::vector<Ref<SignalEvent>> make_events(std::span<const int> numbers) {
    Reactor& reactor = detail::need_reactor("signal");
    std::vector<Ref<SignalEvent>> events;
    for (const int number : numbers) {
        events.push_back(SignalEvent::create(reactor, number));
    }
    return events;
}

/// The first to fire. All that have fired, also when the wait ended otherwise, are added to `fired`.
WaitResult await_first(
    std::span<const Ref<SignalEvent>> events, const Limit& limit, std::source_location where, std::vector<int>& fired
) {
    WaitGuard guard(where);
    limit.add_to(guard);
    for (const Ref<SignalEvent>& event : events) {
        guard.add(*event);
    }
    const WaitResult result = guard.park(limit.deadline());
    if (guard.fired() == nullptr) {
        return result;
    }
    if (result == WaitResult::Ready && guard.fired()->error() != nullptr) {
        return Scheduler::refuse(Ref<Error>(guard.fired()->error()), WaitResult::Failed);
    }
    for (std::size_t i = 0; i < guard.waker().size(); ++i) {
        const WakeCallback& callback = guard.waker().at(i);
        if (callback.has_fired() && callback.role() == WakeRole::Wake && callback.error() == nullptr) {
            fired.push_back(static_cast<const SignalEvent*>(callback.event())->number());
        }
    }
    return result;
}

int await_one(std::span<const int> numbers, const Limit& limit, std::source_location where) {
    const std::vector<Ref<SignalEvent>> events = make_events(numbers);
    std::vector<int> fired;
    detail::check(await_first(events, limit, where, fired));
    return fired.front();
}

}  // namespace

int signal(int number, const Limit& limit, std::source_location where) { return await_one({&number, 1}, limit, where); }

int signal(std::initializer_list<int> numbers, const Limit& limit, std::source_location where) {
    return await_one({numbers.begin(), numbers.size()}, limit, where);
}

Signals::Signals(std::initializer_list<int> numbers) : events_(make_events({numbers.begin(), numbers.size()})) {
    for (const Ref<SignalEvent>& event : events_) {
        event->set_hidden(true);  // catching keeps nothing alive, waiting does
        detail::check(event->start());
    }
}

Signals::~Signals() = default;

int Signals::next(const Limit& limit, std::source_location where) {
    if (fired_.empty()) {
        ++waiting_;
        show();
        const WaitResult result = await_first(events_, limit, where, fired_);
        --waiting_;
        show();
        detail::check(result);
    }
    const int number = fired_.front();
    fired_.erase(fired_.begin());
    return number;
}

void Signals::show() noexcept {
    for (const Ref<SignalEvent>& event : events_) {
        event->set_hidden(waiting_ == 0);
    }
}

}  // namespace trueasync
