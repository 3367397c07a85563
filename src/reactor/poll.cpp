#include <trueasync/reactor/poll.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Poll, sizeof(PollEvent)) &&
                                         detail::register_event_size(EventType::PollProxy, sizeof(PollProxyEvent));

}  // namespace

PollEvent::PollEvent(Reactor* reactor, EventType type, int fd, PollMask events) noexcept
    : ReactorEvent(reactor, type, Firing::Repeating), DescriptorWatch(fd, events) {
    use_own_subscription();
}

Ref<PollEvent> PollEvent::create(Reactor& reactor, int fd, PollMask events) {
    auto poll = Ref<PollEvent>::adopt(new PollEvent(&reactor, EventType::Poll, fd, events));
    if (IoReactor* io = reactor.io(); io != nullptr && !poll->is_closed()) {
        io->introduce(*poll);
    }
    return poll;
}

Status PollEvent::enter_loop() {
    if (!any(events())) {
        return Status::failure(ErrorCode::IllegalState, "there is nothing to wait for: " + info());
    }
    IoReactor* io = nullptr;
    Status status = find_io(io);
    return status.ok() ? io->watch(*this) : status;
}

void PollEvent::leave_loop() noexcept {
    if (is_watching()) {
        reactor()->io()->unwatch(*this);
    }
}

Status PollEvent::add_callback(Callback& callback) {
    if (Status status = Event::add_callback(callback); !status) {
        return status;
    }
    if (is_in_loop() && !is_watching()) {  // it had fallen silent, since nobody listened
        if (Status status = enter_loop(); !status) {
            del_callback(callback);
            return status;
        }
    }
    return {};
}

void PollEvent::on_destroy() noexcept {
    if (has(EventFlag::CloseDescriptor) && reactor() != nullptr && reactor()->io() != nullptr) {
        leave_loop();
        reactor()->io()->descriptor_closing(descriptor());
    }
}

void PollEvent::record(PollMask what) noexcept {
    const std::uint64_t turn = reactor()->io()->io_stats().turns;
    triggered_ = turn == triggered_turn_ ? triggered_ | what : what;
    triggered_turn_ = turn;
}

void PollEvent::on_ready(PollMask what) noexcept {
    const Ref<PollEvent> keep(this);
    record(what & events());
    notify(&triggered_, nullptr).ignore();
    if (callbacks_.empty() && is_watching()) {
        leave_loop();  // still counted, but the loop does not turn for nobody
    }
}

void PollEvent::on_lost(Error& error) noexcept {
    const Ref<PollEvent> keep(this);
    notify(nullptr, &error).ignore();
    close();
}

std::string PollEvent::info() const {
    return "Poll(fd=" + std::to_string(descriptor()) + ", " + to_string(events()) + ")";
}

// --- the proxy

PollProxyEvent::PollProxyEvent(PollEvent& poll, PollMask events) noexcept
    : PollEvent(poll.reactor(), EventType::PollProxy, poll.descriptor(), events), poll_(&poll) {
    bind_as(poll);
}

Ref<PollProxyEvent> PollProxyEvent::create(PollEvent& poll, PollMask events) {
    return Ref<PollProxyEvent>::adopt(new PollProxyEvent(poll, events));
}

Status PollProxyEvent::enter_loop() {
    if (poll_->is_closed()) {
        return Status::failure(ErrorCode::EventClosed, "the poll of this proxy is closed: " + info());
    }
    return PollEvent::enter_loop();
}

void PollProxyEvent::on_ready(PollMask what) noexcept {
    poll_->record(what & events());
    PollEvent::on_ready(what);
}

std::string PollProxyEvent::info() const {
    return "PollProxy(fd=" + std::to_string(descriptor()) + ", " + to_string(events()) + ")";
}

}  // namespace trueasync
