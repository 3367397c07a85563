#include <trueasync/sync/semaphore.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Semaphore, sizeof(SemaphoreEvent));

std::size_t wanted(const detail::Waiter& waiter) noexcept { return *static_cast<const std::size_t*>(waiter.value()); }

}  // namespace

WaitResult SemaphoreEvent::acquire_slow(
    std::size_t count, const WaitLimit& limit, std::source_location where
) noexcept {
    if (count == 0 || count > permits_) {
        return Scheduler::refuse(
            ErrorCode::InvalidArgument, "between 1 and " + std::to_string(permits_) + " permits can be acquired, not " +
                                            std::to_string(count) + ": " + info()
        );
    }
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const Ref<SemaphoreEvent> kept(this);
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        if (is_closed()) {
            return refuse_closed();
        }
        if (try_acquire(count)) {
            return WaitResult::Ready;
        }
        bool is_served = false;
        const WaitResult result = detail::wait_guarded(*this, 0, &count, rest, where, is_served);
        if (result != WaitResult::Ready || is_served) {
            return result;
        }
    }
}

void SemaphoreEvent::serve() noexcept {
    while (!line_.empty() && wanted(line_.front()) <= available_) {
        detail::Waiter& first = line_.pop_front();
        available_ -= wanted(first);
        first.tell(detail::Waiter::State::Served);
    }
}

Status SemaphoreEvent::refuse_back(std::size_t count) const noexcept {
    return Status::failure(
        ErrorCode::IllegalState, "more permits were given back than are out: " + std::to_string(count) + " to " + info()
    );
}

std::string SemaphoreEvent::info() const {
    return "Semaphore(permits=" + std::to_string(permits_) + ", available=" + std::to_string(available_) +
           ", waiting=" + std::to_string(waiting_count()) + closed_mark() + ")";
}

void SemaphoreEvent::enter(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept { line_.push_back(waiter); }

void SemaphoreEvent::leave(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept {
    if (waiter.is_served()) {
        available_ += wanted(waiter);
    } else if (waiter.is_waiting()) {
        line_.remove(waiter);  // those behind it may want less
    }
    serve();
}

}  // namespace trueasync
