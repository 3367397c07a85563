#include <trueasync/reactor/virtual_reactor.hpp>

namespace trueasync {

Status VirtualReactor::execute(bool no_wait) {
    const bool has_delivered = !triggers_.empty();
    triggers_.deliver();
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
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return is_woken_; });
    is_woken_ = false;
    lock.unlock();
    triggers_.deliver();
    return {};
}

bool VirtualReactor::is_alive() const noexcept {
    return !timers_.empty() || !triggers_.empty() || active().visible != 0 || active().hidden != 0;
}

Status VirtualReactor::arm(TimerNode& node, Instant when) { return timers_.insert(node, when); }

void VirtualReactor::disarm(TimerNode& node) noexcept { timers_.remove(node); }

void VirtualReactor::wake_up() noexcept {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    woken_.notify_one();
}

std::vector<std::string> VirtualReactor::close() {
    std::vector<std::string> open;
    if (!timers_.empty()) {
        open.push_back(std::to_string(timers_.size()) + " armed timers");
    }
    return open;
}

}  // namespace trueasync
