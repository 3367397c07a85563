#include <trueasync/sync/line.hpp>

namespace trueasync {

void LineEvent::close() noexcept {
    if (is_closed()) {
        return;
    }
    Event::close();
    while (!line_.empty()) {
        line_.pop_front().tell(detail::Waiter::State::Ended);
    }
}

WaitResult LineEvent::refuse_closed() const noexcept {
    return Scheduler::refuse(ErrorCode::EventClosed, std::string(to_string(type())) + " is closed");
}

}  // namespace trueasync
