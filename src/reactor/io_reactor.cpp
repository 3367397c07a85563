#include <trueasync/reactor/io_reactor.hpp>

#include <cerrno>
#include <new>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync {

namespace {

std::string attempt(int fd, PollMask mask) { return "poll fd " + std::to_string(fd) + " for " + to_string(mask); }

Ref<Error> lost_error(int fd, PollMask mask, DescriptorWait::End end) {
    return SystemError::make(
        EBADF, attempt(fd, mask) + (end == DescriptorWait::End::Closed ? ", which was closed meanwhile"
                                                                       : ", whose number has gone to another file")
    );
}

}  // namespace

Descriptor* IoReactor::reach(int fd) noexcept {
    if (Descriptor* descriptor = table_.find(fd)) {
        return descriptor;
    }
    Descriptor* descriptor = table_.reach(fd);
    try {
        pending_.reserve(std::size_t{table_.size()} * 2);  // those looked at, and the same ones again
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return descriptor;
}

// --- events

void IoReactor::introduce(DescriptorWatch& watch) noexcept {
    if (Descriptor* descriptor = reach(watch.fd_)) {
        if (notice_fork() && !is_same_file(watch.fd_, *descriptor)) {
            detach(watch.fd_, *descriptor);
            lose(watch.fd_, *descriptor, DescriptorWait::End::Reused);
        }
        watch.generation_ = descriptor->generation;
    }
}

Status IoReactor::watch(DescriptorWatch& watch) noexcept {
    const int fd = watch.fd_;
    Descriptor* descriptor = reach(fd);
    if (TA_UNLIKELY(descriptor == nullptr)) {
        return system_failure(fd < 0 ? EBADF : ENOMEM, attempt(fd, watch.wanted_));
    }
    if (watch.generation_ != descriptor->generation) {
        return Status(lost_error(fd, watch.wanted_, DescriptorWait::End::Closed));
    }
    if (Status status = notice_fork(); !status) {
        return status;
    }
    if (Status status = attach(fd, *descriptor, watch.wanted_); !status) {
        return status;
    }
    if (watch.generation_ != descriptor->generation) {
        return Status(lost_error(fd, watch.wanted_, DescriptorWait::End::Reused));
    }
    if (!watch.is_linked()) {
        descriptor->watches.push_back(watch);
    }
    if (is_level_triggered_ || descriptor->state == Descriptor::State::AlwaysReady) {
        pend(fd, *descriptor);
    }
    return {};
}

void IoReactor::unwatch(DescriptorWatch& watch) noexcept {
    watch.unlink();
    if (is_level_triggered_) {
        if (Descriptor* descriptor = table_.find(watch.fd_)) {
            pend(watch.fd_, *descriptor);
        }
    }
}

// --- coroutines

WaitResult IoReactor::park_ready(int fd, PollMask mask, const WaitLimit& limit, std::source_location where) noexcept {
    Descriptor* descriptor = table_.find(fd);
    if (TA_UNLIKELY(descriptor == nullptr || !descriptor->covers(mask))) {
        descriptor = reach(fd);
        if (descriptor == nullptr) {
            return Scheduler::refuse(SystemError::make(fd < 0 ? EBADF : ENOMEM, attempt(fd, mask)), WaitResult::Failed);
        }
        Status status = notice_fork();
        if (status.ok()) {
            status = attach(fd, *descriptor, mask);
        }
        if (!status) {
            return Scheduler::refuse(status.take(), WaitResult::Failed);
        }
    }
    if (any(descriptor->ready & mask) || descriptor->state == Descriptor::State::AlwaysReady) {
        Coroutine* self = nullptr;
        const WaitResult result = Scheduler::departing(self);
        if (result == WaitResult::Ready) {
            Scheduler::count_fast_return();
        }
        return result;
    }
    DescriptorWait wait(fd, mask, where);
    descriptor->waits.push_back(wait);
    if (is_level_triggered_) {
        pend(fd, *descriptor);
    }
    ++active().visible;
    const WaitResult result = wait.park(limit);
    --active().visible;
    if (is_level_triggered_ && wait.is_linked()) {
        pend(fd, *descriptor);
    }
    if (TA_UNLIKELY(result == WaitResult::Ready && wait.end() != DescriptorWait::End::None)) {
        return Scheduler::refuse(lost_error(fd, mask, wait.end()), WaitResult::Failed);
    }
    return result;
}

// --- reports

bool IoReactor::report(int fd, Descriptor& descriptor, PollMask what) noexcept {
    bool is_wanted = false;
    ++stats_.reports;
    for (auto next = descriptor.waits.begin(); next != descriptor.waits.end();) {
        DescriptorWait& wait = *next;
        ++next;
        if (TA_LIKELY(any(wait.wanted() & what))) {
            wait.unlink();
            wait.wake();
            is_wanted = true;
        }
    }
    if (TA_UNLIKELY(!descriptor.watches.empty())) {
        is_wanted = report_to_watches(fd, descriptor, what) || is_wanted;
    }
    return is_wanted;
}

bool IoReactor::report_to_watches(int fd, Descriptor& descriptor, PollMask what) noexcept {
    // Each goes back to the descriptor before it is told, so that it may leave, or lose the descriptor for all.
    reporting_fd_ = fd;
    while (DescriptorWatch* watch = descriptor.watches.pop_front()) {
        reporting_.push_back(*watch);
    }
    bool is_wanted = false;
    bool is_to_come_again = false;
    while (DescriptorWatch* watch = reporting_.pop_front()) {
        descriptor.watches.push_back(*watch);
        if (any(watch->wanted_ & what)) {
            is_wanted = true;
            watch->on_ready(what);
        }
    }
    reporting_fd_ = -1;
    for (const DescriptorWatch& watch : descriptor.watches) {
        is_to_come_again = is_to_come_again || any(watch.wanted_ & what);
    }
    if (is_to_come_again) {
        pend(fd, descriptor);
    }
    return is_wanted;
}

// --- the life of descriptors

void IoReactor::lose(int fd, Descriptor& descriptor, DescriptorWait::End end) noexcept {
    ++descriptor.generation;
    descriptor.registered = descriptor.ready = descriptor.sticky = PollMask::None;
    descriptor.state = Descriptor::State::Unknown;
    descriptor.unwanted = 0;
    while (DescriptorWait* wait = descriptor.waits.pop_front()) {
        wait->set_end(end);
        wait->wake();
    }
    if (reporting_fd_ == fd) {
        while (DescriptorWatch* watch = reporting_.pop_front()) {
            descriptor.watches.push_back(*watch);
        }
    }
    // Only those who are there now: who is told may begin to watch the number again.
    IntrusiveList<DescriptorWatch, WatchTag> lost;
    while (DescriptorWatch* watch = descriptor.watches.pop_front()) {
        lost.push_back(*watch);
    }
    while (DescriptorWatch* watch = lost.pop_front()) {
        const Ref<Error> error = lost_error(fd, watch->wanted_, end);
        watch->on_lost(*error);
    }
}

void IoReactor::descriptor_opened(int fd) noexcept {
    Descriptor* descriptor = table_.find(fd);
    if (descriptor == nullptr) {
        return;
    }
    if (notice_fork()) {
        detach(fd, *descriptor);
    }
    lose(fd, *descriptor, DescriptorWait::End::Reused);
}

void IoReactor::descriptor_closing(int fd) noexcept {
    Descriptor* descriptor = table_.find(fd);
    if (descriptor == nullptr) {
        return;
    }
    if (notice_fork()) {
        detach(fd, *descriptor);
    }
    lose(fd, *descriptor, DescriptorWait::End::Closed);
}

}  // namespace trueasync
