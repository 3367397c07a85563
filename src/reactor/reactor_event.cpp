#include <trueasync/reactor/reactor_event.hpp>

#include <trueasync/reactor/io_reactor.hpp>

namespace trueasync {

ReactorEvent::ReactorEvent(Reactor* reactor, EventType type, Firing firing) noexcept
    : Event(type, firing), reactor_(reactor == nullptr || reactor->is_closed_ ? nullptr : reactor) {
    use_loop();
    if (reactor_ != nullptr) {
        reactor_->events_.push_back(*this);
    } else {
        close();
    }
}

std::vector<std::string> ReactorEvent::close_all(Reactor& reactor) {
    reactor.is_closed_ = true;
    std::vector<std::string> open;
    while (ReactorEvent* event = reactor.events_.pop_front()) {
        const Ref<ReactorEvent> keep(event);  // those who are let go may drop it
        if (event->is_in_loop()) {
            open.push_back(event->info());
        }
        event->close();
        event->on_reactor_close();
        event->reactor_ = nullptr;
    }
    return open;
}

void ReactorEvent::fork_all(Reactor& reactor) noexcept {
    for (ReactorEvent& event : reactor.events_) {
        event.on_fork();
    }
}

Status ReactorEvent::find_io(IoReactor*& io) const {
    if (reactor_ == nullptr) {
        return refuse_ended();
    }
    io = reactor_->io();
    if (io == nullptr) {
        return Status::failure(
            ErrorCode::IllegalState, "this reactor has no descriptors, only timers and triggers: " + info()
        );
    }
    return {};
}

Status ReactorEvent::refuse_ended() const {
    return Status::failure(ErrorCode::EventClosed, "the runtime has ended: " + info());
}

const char* ReactorEvent::why_closed() const noexcept {
    return reactor_ == nullptr ? "the runtime has ended" : nullptr;
}

}  // namespace trueasync
