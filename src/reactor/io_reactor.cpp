#include <trueasync/reactor/io_reactor.hpp>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

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

/// Stays armed when the wait that it was armed for is over.
class IoReactor::FarTimer final : public TimerNode {
public:
    FarTimer(IoReactor& reactor, int fd) noexcept : reactor_(reactor), fd_(fd) {}
    void on_deadline() noexcept override { reactor_.look(fd_, when); }

private:
    IoReactor& reactor_;
    int fd_;
};

IoReactor::IoReactor(bool is_level_triggered) noexcept : is_level_triggered_(is_level_triggered) {}
IoReactor::~IoReactor() = default;

/// Null, and errno says why, when there is none to be had.
Descriptor* IoReactor::reach(int fd) noexcept {
    if (Descriptor* descriptor = table_.find(fd)) {
        return descriptor;
    }
    if (::fcntl(fd, F_GETFD) < 0) {
        return nullptr;  // no memory for all the numbers below a wrong one
    }
    try {
        pending_.reserve(DescriptorTable::size_for(fd) * 2);  // those looked at, and the same ones again
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return nullptr;
    }
    return table_.reach(fd);
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
        const int failure = errno;
        return system_failure(failure, attempt(fd, watch.wanted_));
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

void IoReactor::look_again(int fd, Descriptor& descriptor, std::uint32_t files) noexcept {
    descriptor.files = files;
    if (descriptor.state != Descriptor::State::Unknown && notice_fork() && !is_same_file(fd, descriptor)) {
        detach(fd, descriptor);
        lose(fd, descriptor, DescriptorWait::End::Reused);
    }
}

void IoReactor::unwatch(DescriptorWatch& watch) noexcept {
    watch.unlink();
    if (is_level_triggered_) {
        if (Descriptor* descriptor = table_.find(watch.fd_)) {
            pend(watch.fd_, *descriptor);
        }
    }
}

// --- far deadlines

Instant IoReactor::rough_now() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    rough_now_ = Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
#else
    rough_now_ = now();
#endif
    return rough_now_;
}

Deadline IoReactor::fixed(Deadline deadline) noexcept {
    if (deadline.is_never()) {
        return deadline;
    }
    if (const Duration delay = deadline.resolve(Instant{}) - Instant{}; deadline.is_delay() && delay >= far_) {
        // Never early: the rough clock is one or two ticks behind.
        return Deadline::at(
            deadline.resolve(rough_now() + std::max<Duration>(delay / 1000, std::chrono::milliseconds(10)))
        );
    }
    return Deadline::at(deadline.resolve(now()));
}

/// False: keep it yourself.
bool IoReactor::keep_deadline(DescriptorWait& wait, Descriptor& descriptor, Deadline deadline) noexcept {
    const Instant when = deadline.resolve(Instant::max());
    if (deadline.is_never() || deadline.is_delay() || !is_far(when)) {
        return false;
    }
    wait.set_deadline(when);
    return TA_LIKELY(descriptor.look_at <= when) || look_at(wait.descriptor(), descriptor, when);
}

bool IoReactor::look_at(int fd, Descriptor& descriptor, Instant when) noexcept {
    try {
        std::unique_ptr<FarTimer>& timer = timers_of_descriptors_[fd];
        if (timer == nullptr) {
            timer = std::make_unique<FarTimer>(*this, fd);
        }
        const bool was_armed = timer->is_armed();
        if (!arm(*timer, when)) {
            return false;
        }
        far_timers_ += was_armed ? 0 : 1;
    } catch (const std::bad_alloc&) {
        return false;
    }
    descriptor.look_at = when;
    return true;
}

void IoReactor::look(int fd, Instant now) noexcept {
    Descriptor& descriptor = *table_.find(fd);
    descriptor.look_at = Instant::max();
    --far_timers_;
    Instant next = Instant::max();
    for (DescriptorWait& wait : descriptor.waits) {
        if (wait.deadline() <= now) {
            wait.expire();
        } else {
            next = std::min(next, wait.deadline());
        }
    }
    if (next != Instant::max() && !look_at(fd, descriptor, next)) {
        for (DescriptorWait& wait : descriptor.waits) {  // no memory to go on: too early is better than never
            wait.expire();
        }
    }
}

// --- coroutines

WaitResult IoReactor::park_ready(int fd, PollMask mask, const WaitLimit& limit, std::source_location where) noexcept {
    Descriptor* descriptor = table_.find(fd);
    if (TA_UNLIKELY(descriptor == nullptr || !descriptor->covers(mask))) {
        descriptor = reach(fd);
        if (descriptor == nullptr) {
            const int failure = errno;
            return Scheduler::refuse(SystemError::make(failure, attempt(fd, mask)), WaitResult::Failed);
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
    const bool is_kept = limit.token() == nullptr && keep_deadline(wait, *descriptor, limit.deadline());
    const WaitResult result = is_kept ? wait.park(Deadline::never()) : wait.park(limit);
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
    descriptor.short_read = Descriptor::ShortRead::Unknown;
    if (std::exchange(descriptor.look_at, Instant::max()) != Instant::max()) {
        disarm(*timers_of_descriptors_[fd]);
        --far_timers_;
    }
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
