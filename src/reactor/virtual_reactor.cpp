#include <trueasync/reactor/virtual_reactor.hpp>

#include <poll.h>

namespace trueasync {

Status VirtualReactor::execute(bool no_wait) {
    if (triggers_->is_forked()) {
        if (!triggers_->renew()) {
            return Status::failure(ErrorCode::System, "no descriptor to wait for triggers on after a fork");
        }
        ReactorEvent::fork_all(*this);
    }
    const bool has_delivered = triggers_->deliver();
    if (!timers_.empty() && timers_.nearest() <= now_) {
        timers_.fire_due(now_);
        return {};
    }
    if (no_wait || has_delivered) {
        return {};
    }
    if (!timers_.empty()) {
        if (is_auto_advancing_) {
            now_ = timers_.nearest();
            timers_.fire_due(now_);
        }
        return {};
    }
    if (triggers_->begin_sleep()) {
        pollfd wake{triggers_->descriptor(), POLLIN, 0};
        if (wake.fd < 0) {
            triggers_->end_sleep();
            return Status::failure(ErrorCode::System, "no descriptor to wait for triggers on");
        }
        if (::poll(&wake, 1, -1) > 0) {
            triggers_->drain();
        }
        triggers_->end_sleep();
    }
    triggers_->deliver();
    return {};
}

bool VirtualReactor::is_alive() const noexcept {
    return !timers_.empty() || !triggers_->empty() || active().visible != 0 || active().hidden != 0;
}

Status VirtualReactor::arm(TimerNode& node, Instant when) { return timers_.insert(node, when); }

void VirtualReactor::disarm(TimerNode& node) noexcept { timers_.remove(node); }

std::vector<std::string> VirtualReactor::close() {
    std::vector<std::string> open = ReactorEvent::close_all(*this);
    if (!timers_.empty()) {
        open.push_back(std::to_string(timers_.size()) + " armed timers");
    }
    return open;
}

}  // namespace trueasync
