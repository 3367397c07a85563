#include <trueasync/sync/mutex.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Mutex, sizeof(MutexEvent));

}  // namespace

WaitResult MutexEvent::lock_slow(const WaitLimit& limit, std::source_location where) noexcept {
    if (running() == kNobody) {
        return Scheduler::is_inside_callback()
                   ? Scheduler::refuse(
                         ErrorCode::SuspendRefused, "a callback cannot lock a mutex: spawn a coroutine for it"
                     )
                   : Scheduler::refuse(
                         ErrorCode::NotInCoroutine, "only a coroutine can lock a mutex: there is none running here"
                     );
    }
    if (owner_ == running()) {
        return Scheduler::refuse(
            ErrorCode::IllegalState, "this coroutine has locked the mutex already and would wait for itself: " + info()
        );
    }
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const Ref<MutexEvent> kept(this);
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        if (is_closed()) {
            return refuse_closed();
        }
        if (try_lock(where)) {
            return WaitResult::Ready;
        }
        bool is_served = false;
        const WaitResult result = detail::wait_in_line(place_, &where, rest, where, true, is_served);
        if (result != WaitResult::Ready || is_served) {
            return result;
        }
    }
}

void MutexEvent::serve_first() noexcept {
    detail::Waiter& first = line_.pop_front();
    owner_ = first.coroutine()->id();
    locked_at_ = *static_cast<const std::source_location*>(first.value());
    first.tell(detail::Waiter::State::Served);
}

Status MutexEvent::refuse_unlock(std::uint64_t by) const noexcept {
    if (owner_ == kNobody) {
        return Status::failure(ErrorCode::IllegalState, "the mutex is not locked");
    }
    const std::string who = by == kNobody ? "outside a coroutine" : "by coroutine " + std::to_string(by);
    return Status::failure(ErrorCode::IllegalState, "only its owner unlocks a mutex, not " + who + ": " + info());
}

std::string MutexEvent::info() const {
    if (!is_locked()) {
        return is_closed() ? "Mutex(free, closed)" : "Mutex(free)";
    }
    return "Mutex(owner=" + std::to_string(owner_) + ", locked at " + to_string(locked_at()) +
           ", waiting=" + std::to_string(waiting_count()) + closed_mark() + ")";
}

void MutexEvent::enter(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept { line_.push_back(waiter); }

void MutexEvent::leave(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept {
    if (waiter.is_served()) {
        hand_on();
    } else if (waiter.is_waiting()) {
        line_.remove(waiter);
    }
}

void MutexEvent::abandon(Coroutine& coroutine, std::uint8_t kind) noexcept {
    if (detail::Waiter* waiter = line_.find(coroutine)) {
        leave(*waiter, kind);
    } else if (owner_ == coroutine.id()) {
        hand_on();
    }
}

bool MutexEvent::is_waiting(const Coroutine& coroutine, std::uint8_t /*kind*/) const noexcept {
    return line_.find(coroutine) != nullptr;
}

}  // namespace trueasync
