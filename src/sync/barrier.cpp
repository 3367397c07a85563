#include <trueasync/sync/barrier.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Barrier, sizeof(BarrierEvent));

}  // namespace

WaitResult BarrierEvent::wait(std::size_t& index, const WaitLimit& limit, std::source_location where) noexcept {
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const Ref<BarrierEvent> kept(this);
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        if (is_closed()) {
            return refuse_closed();
        }
        if (waiting_ + 1 >= parties_) {
            break;
        }
        bool is_served = false;
        const WaitResult result = detail::wait_guarded(*this, 0, &index, rest, where, is_served);
        if (result != WaitResult::Ready || is_served) {
            return result;
        }
    }
    ++generation_;
    waiting_ = 0;
    index = 0;
    while (!line_.empty()) {
        detail::Waiter& first = line_.pop_front();
        *static_cast<std::size_t*>(first.value()) = index++;
        first.tell(detail::Waiter::State::Served);
    }
    return WaitResult::Ready;
}

std::string BarrierEvent::info() const {
    return "Barrier(parties=" + std::to_string(parties_) + ", waiting=" + std::to_string(waiting_count()) +
           ", generation=" + std::to_string(generation_) + closed_mark() + ")";
}

void BarrierEvent::enter(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept {
    line_.push_back(waiter);
    ++waiting_;
}

void BarrierEvent::leave(detail::Waiter& waiter, std::uint8_t /*kind*/) noexcept {
    if (waiter.is_waiting()) {
        line_.remove(waiter);
        --waiting_;
    }
}

}  // namespace trueasync
