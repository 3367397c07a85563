#include <trueasync/reactor/trigger.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <trueasync/reactor/loop_return.hpp>
#include <utility>

#include "fork_generation.hpp"

#if defined(__linux__)
#include <sys/eventfd.h>
#endif

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Trigger, sizeof(TriggerEvent));

}  // namespace

// --- the event

TriggerEvent::TriggerEvent(Reactor& reactor) noexcept
    : ReactorEvent(reactor, EventType::Trigger, Firing::Repeating), queue_(&reactor.triggers()) {}

TriggerEvent::~TriggerEvent() = default;

Ref<TriggerEvent> TriggerEvent::create(Reactor& reactor) { return Ref<TriggerEvent>::adopt(new TriggerEvent(reactor)); }

void TriggerEvent::fire() noexcept {
    if (!is_fired_.exchange(true, std::memory_order_acq_rel)) {
        const Ref<TriggerQueue> queue(queue_);  // once it is pushed the trigger may fire, and its owner end it
        queue->push(*this);
    }
}

void TriggerEvent::on_destroy() noexcept { queue_->forget(*this); }

// --- the queue

Ref<TriggerQueue> TriggerQueue::create() {
    detail::watch_forks();
    auto queue = Ref<TriggerQueue>::adopt(new TriggerQueue());
    queue->open();
    return queue;
}

TriggerQueue::~TriggerQueue() { close(); }

bool TriggerQueue::open_ends(int (&ends)[2]) noexcept {
#if defined(__linux__)
    ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ends[0] >= 0;
#else
    if (pipe(ends) != 0) {
        return false;
    }
    for (const int end : ends) {
        fcntl(end, F_SETFD, FD_CLOEXEC);
        fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
    }
    return true;
#endif
}

bool TriggerQueue::open() noexcept {
    fork_generation_ = detail::fork_generation();
    return open_ends(ends_);
}

void TriggerQueue::close() noexcept {
    if (ends_[1] >= 0 && ends_[1] != ends_[0]) {
        ::close(ends_[1]);
    }
    if (ends_[0] >= 0) {
        ::close(ends_[0]);
    }
    ends_[0] = ends_[1] = -1;
}

bool TriggerQueue::renew() noexcept {
    int fresh[2];
    if (!open_ends(fresh)) {
        return false;
    }
    bool is_done = true;
    for (std::size_t i = 0; i < (ends_[0] == ends_[1] ? 1 : 2); ++i) {
        is_done = dup2(fresh[i], ends_[i]) >= 0 && fcntl(ends_[i], F_SETFD, FD_CLOEXEC) == 0 && is_done;
        ::close(fresh[i]);
    }
    end_sleep();
    fork_generation_ = detail::fork_generation();
    return is_done;
}

bool TriggerQueue::is_forked() const noexcept { return fork_generation_ != detail::fork_generation(); }

bool TriggerQueue::push(TriggerEvent& trigger) noexcept {
    TriggerEvent* head = fired_.load(std::memory_order_relaxed);
    do {
        trigger.next_fired_ = head;
    } while (!fired_.compare_exchange_weak(head, &trigger, std::memory_order_seq_cst, std::memory_order_relaxed));
    // Either this sees that the loop sleeps, or the loop, which says so first, sees what was pushed.
    if (is_asleep_.load(std::memory_order_seq_cst) && is_asleep_.exchange(false, std::memory_order_seq_cst)) {
        wake();
        return true;
    }
    return false;
}

bool TriggerQueue::begin_sleep() noexcept {
    if (first_ != nullptr) {
        return false;
    }
    if (ref_count_.load(std::memory_order_acquire) == 1) {
        return true;  // there is no trigger that anybody could fire, and only this thread makes one
    }
    is_asleep_.store(true, std::memory_order_seq_cst);
    if (fired_.load(std::memory_order_seq_cst) != nullptr) {
        end_sleep();
        return false;
    }
    return true;
}

void TriggerQueue::wake() noexcept {
    if (is_forked()) {
        return;  // the descriptor is the parent's; the child's first turn does not sleep
    }
    const int before = errno;  // this may be a signal handler
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(ends_[1], &one, ends_[0] == ends_[1] ? sizeof(one) : 1);
    errno = before;  // a full pipe wakes as well
}

void TriggerQueue::drain() noexcept {
    std::uint64_t count[8];
    while (::read(ends_[0], count, sizeof(count)) == static_cast<ssize_t>(sizeof(count))) {}
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

bool TriggerQueue::deliver() noexcept {
    if (empty()) {
        return false;
    }
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
    return true;
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
