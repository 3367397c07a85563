#include <trueasync/reactor/trigger.hpp>

#include <utility>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Trigger, sizeof(TriggerEvent));

}  // namespace

TriggerEvent::TriggerEvent(Reactor& reactor) noexcept
    : Event(EventType::Trigger, Firing::Repeating), reactor_(reactor) {
    use_loop();
}

Ref<TriggerEvent> TriggerEvent::create(Reactor& reactor) { return Ref<TriggerEvent>::adopt(new TriggerEvent(reactor)); }

void TriggerEvent::fire() noexcept {
    if (!is_fired_.exchange(true, std::memory_order_acq_rel) && reactor_.triggers().push(*this)) {
        reactor_.wake_up();
    }
}

void TriggerEvent::on_destroy() noexcept { reactor_.triggers().forget(*this); }

bool TriggerQueue::push(TriggerEvent& trigger) noexcept {
    TriggerEvent* head = fired_.load(std::memory_order_relaxed);
    do {
        trigger.next_fired_ = head;
    } while (!fired_.compare_exchange_weak(head, &trigger, std::memory_order_release, std::memory_order_relaxed));
    return head == nullptr;
}

/// Appends what threads have pushed to the loop's own list, oldest first.
void TriggerQueue::collect() noexcept {
    TriggerEvent* taken = fired_.exchange(nullptr, std::memory_order_acquire);
    TriggerEvent* oldest = nullptr;
    while (taken != nullptr) {
        TriggerEvent* next = std::exchange(taken->next_fired_, oldest);
        oldest = std::exchange(taken, next);
    }
    TriggerEvent** end = &first_;
    while (*end != nullptr) {
        end = &(*end)->next_fired_;
    }
    *end = oldest;
}

void TriggerQueue::deliver() noexcept {
    collect();
    while (first_ != nullptr) {
        TriggerEvent& trigger = *first_;
        first_ = std::exchange(trigger.next_fired_, nullptr);
        // Cleared first: a `fire` during the notification brings another one. An exchange, not a store: it reads what the calls that
        // found the flag set have published.
        trigger.is_fired_.exchange(false, std::memory_order_acq_rel);
        if (trigger.is_in_loop()) {
            trigger.notify(nullptr, nullptr).ignore();
        }
    }
}

void TriggerQueue::forget(TriggerEvent& trigger) noexcept {
    collect();
    for (TriggerEvent** link = &first_; *link != nullptr; link = &(*link)->next_fired_) {
        if (*link == &trigger) {
            *link = trigger.next_fired_;
            return;
        }
    }
}

}  // namespace trueasync
