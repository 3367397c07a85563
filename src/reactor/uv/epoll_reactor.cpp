#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <ctime>
#include <trueasync/reactor/loop_return.hpp>
#include <trueasync/reactor/system_error.hpp>

#include "base/look_around.hpp"
#include "uv_base.hpp"

namespace trueasync::detail {

namespace {

// Descriptors are reported as number and generation; no descriptor is as large as these.
constexpr std::uint64_t kWakeUp = UINT64_MAX;
constexpr std::uint64_t kLibuv = UINT64_MAX - 1;
constexpr std::uint64_t kAlarm = UINT64_MAX - 2;

/// A sleep so long that a look around before it delays nothing that is due.
constexpr Duration kLongSleep = std::chrono::milliseconds(1);

constexpr PollMask kBothWays = PollMask::Readable | PollMask::Writable;

timespec to_timespec(Duration duration) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    timespec result{};
    result.tv_sec = static_cast<std::time_t>(seconds.count());
    result.tv_nsec = static_cast<long>((duration - seconds).count());
    return result;
}

std::uint32_t to_epoll(PollMask mask) noexcept {
    std::uint32_t events = EPOLLET;
    events |= any(mask & PollMask::Readable) ? EPOLLIN | EPOLLRDHUP | EPOLLPRI : 0U;
    events |= any(mask & PollMask::Writable) ? EPOLLOUT : 0U;
    events |= any(mask & PollMask::Disconnect) ? EPOLLRDHUP : 0U;
    events |= any(mask & PollMask::Priority) ? EPOLLPRI : 0U;
    return events;
}

/// Ends long sleeps. A time-out of `epoll_wait` makes the kernel look at the clock in each of them; this one is set once for very many.
class Alarm {
public:
    Alarm() = default;
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    ~Alarm() { close(); }

    int descriptor() const noexcept { return fd_; }

    bool open() noexcept {
        fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        return fd_ >= 0;
    }
    void close() noexcept {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = -1;
        on_fired();
    }

    void on_fired() noexcept { when_ = Instant::max(); }

    /// It fires at `when`, or has been set to do so earlier. False when that cannot be. The kernel is told how long, not when: a program may
    /// run under a clock of its own.
    bool set(Instant when, Instant now) noexcept {
        if (TA_LIKELY(when_ <= when)) {
            return true;
        }
        itimerspec time{};
        time.it_value = to_timespec(std::max(when - now, Duration(1)));
        if (fd_ < 0 || timerfd_settime(fd_, 0, &time, nullptr) != 0) {
            return false;
        }
        when_ = when;
        return true;
    }

private:
    int fd_ = -1;
    Instant when_ = Instant::max();
};

/// Our own epoll set outside, with nanosecond time-outs, and libuv's descriptor inside.
///
/// Descriptors are registered once, edge-triggered. A report is a picture of all that is asked for, so it replaces what was known.
class EpollReactor final : public UvReactor {
public:
    EpollReactor() : UvReactor(false) {}
    ~EpollReactor() override { close_loop(); }

    Status execute(bool no_wait) override {
        if (Status status = notice_fork(); TA_UNLIKELY(!status)) {
            return status;
        }
        ++stats_.turns;
        bool must_return = no_wait || is_fresh_child_;
        is_fresh_child_ = false;
        if (TA_UNLIKELY(has_pending())) {
            must_return = look_at_pending() || must_return;
        }
        Duration limit = must_return ? Duration::zero() : time_to_sleep();
        if (TA_UNLIKELY(limit > kLongSleep && is_work_out())) {
            limit = look_around_.until([this] { return !triggers_->empty(); }) ? Duration::zero() : time_to_sleep();
        }
        const bool is_asleep = limit != Duration::zero() && triggers_->begin_sleep();
        stats_.sleeps += is_asleep ? 1 : 0;
        const int count = wait_for_events(is_asleep ? limit : Duration::zero());
        if (is_asleep) {
            triggers_->end_sleep();
        }
        if (TA_UNLIKELY(count < 0)) {
            if (errno != EINTR) {
                return system_failure(errno, "wait for events");
            }
            ++stats_.interruptions;
        }
        bool is_libuv_ready = false;
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events_[static_cast<std::size_t>(i)];
            fetch_ahead(i, count);
            if (TA_LIKELY(event.data.u64 < kAlarm)) {
                deliver(event);
            } else if (event.data.u64 == kAlarm) {
                alarm_.on_fired();
            } else {
                is_libuv_ready = is_libuv_ready || event.data.u64 == kLibuv;
            }
        }
        // After a sleep without end nothing can be due by its clock; what callbacks have just begun is seen before the next sleep.
        if (is_libuv_ready || (is_loop_used_ && limit != Duration::max() && uv_backend_timeout(&loop_) == 0)) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        }
        if (!is_asleep || count <= 0) {
            rough_now();
        }
        UvReactor::deliver();
        return {};
    }

protected:
    bool open_backend() noexcept override {
        // Does nothing, but a loop without an active handle would not look at those that are there and do not count.
        if (const int status = uv_async_init(&loop_, &anchor_, nullptr); status != 0) {
            errno = -status;
            return false;
        }
        return open_epoll();
    }

    void close_backend() noexcept override {
        if (epoll_ >= 0) {
            ::close(epoll_);
            epoll_ = -1;
        }
        alarm_.close();
    }

    bool fork_backend() noexcept override {
        close_backend();
        if (!open_epoll()) {
            return false;
        }
        for (int fd = 0; fd < static_cast<int>(table_.size()); ++fd) {
            Descriptor& descriptor = *table_.find(fd);
            if (descriptor.state == Descriptor::State::Registered &&
                !control(EPOLL_CTL_ADD, fd, descriptor, descriptor.registered)) {
                lose(fd, descriptor, DescriptorWait::End::Closed);
            }
        }
        return true;
    }

    Status attach(int fd, Descriptor& descriptor, PollMask mask) noexcept override {
        const PollMask all = descriptor.registered | mask;
        if (descriptor.state == Descriptor::State::Registered) {
            if (control(EPOLL_CTL_MOD, fd, descriptor, all)) {
                descriptor.registered = all;
                return {};
            }
            if (!is_gone()) {
                return refuse(fd, mask);
            }
            lose(fd, descriptor, end_from_errno());
        } else if (descriptor.state == Descriptor::State::AlwaysReady) {
            if (is_same_file(fd, descriptor)) {
                return {};
            }
            lose(fd, descriptor, end_from_errno());
        }
        if (control(EPOLL_CTL_ADD, fd, descriptor, mask) ||
            (errno == EEXIST && control(EPOLL_CTL_MOD, fd, descriptor, mask))) {
            descriptor.state = Descriptor::State::Registered;
            descriptor.registered = mask;
            descriptor.ready = descriptor.sticky = PollMask::None;
            return {};
        }
        if (errno != EPERM) {
            descriptor.state = Descriptor::State::Unknown;
            descriptor.registered = PollMask::None;
            return refuse(fd, mask);
        }
        descriptor.state = Descriptor::State::AlwaysReady;
        descriptor.registered = PollMask::All;
        descriptor.ready = descriptor.sticky = kBothWays;
        return {};
    }

    bool is_same_file(int fd, Descriptor& descriptor) noexcept override {
        switch (descriptor.state) {
            case Descriptor::State::Registered:  // also brings a report of what is the case, which does no harm
                return control(EPOLL_CTL_MOD, fd, descriptor, descriptor.registered) || !is_gone();
            case Descriptor::State::AlwaysReady:
                return !control(EPOLL_CTL_ADD, fd, descriptor, PollMask::None) && errno == EPERM;
            default:
                return true;
        }
    }

    void detach(int fd, Descriptor& descriptor) noexcept override {
        if (descriptor.state == Descriptor::State::Registered) {
            control(EPOLL_CTL_DEL, fd, descriptor, PollMask::None);
        }
    }

private:
    bool open_epoll() noexcept {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) {
            return false;
        }
        uv_run(&loop_, UV_RUN_NOWAIT);  // registers with libuv's own set what waits for it
        // Edge-triggered: each wake-up is an edge, and nobody has to read the count.
        if (!alarm_.open() || !add(alarm_.descriptor(), EPOLLIN | EPOLLET, kAlarm)) {
            return false;
        }
        return add(uv_backend_fd(&loop_), EPOLLIN, kLibuv) && add(triggers_->descriptor(), EPOLLIN | EPOLLET, kWakeUp);
    }

    bool add(int fd, std::uint32_t what, std::uint64_t data) const noexcept {
        epoll_event event{};
        event.events = what;
        event.data.u64 = data;
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
    }

    bool control(int operation, int fd, const Descriptor& descriptor, PollMask mask) noexcept {
        ++stats_.controls;
        epoll_event event{};
        event.events = to_epoll(mask);
        event.data.u64 = std::uint64_t{descriptor.generation} << 32 | static_cast<std::uint32_t>(fd);
        return epoll_ctl(epoll_, operation, fd, &event) == 0;
    }

    /// After a registration could not be changed: whether it has gone, with its file. ENOENT, EBADF, or EPERM for a regular file.
    static bool is_gone() noexcept { return errno != ENOMEM; }
    static DescriptorWait::End end_from_errno() noexcept {
        return errno == EBADF ? DescriptorWait::End::Closed : DescriptorWait::End::Reused;
    }

    static Status refuse(int fd, PollMask mask) {
        return system_failure(errno, "poll fd " + std::to_string(fd) + " for " + to_string(mask));
    }

    /// With many connections neither the entry of one is in a cache, nor the wait on the stack of its coroutine, nor that: one after the other.
    TA_INLINE void fetch_ahead(int i, int count) const noexcept {
        const auto wait_of = [this](int at) -> const DescriptorWait* {
            Descriptor* descriptor = entry_of(at);
            return descriptor != nullptr && !descriptor->waits.empty() ? &descriptor->waits.front() : nullptr;
        };
        if (i + 6 < count) {
            __builtin_prefetch(entry_of(i + 6));
        }
        if (const DescriptorWait* later = i + 4 < count ? wait_of(i + 4) : nullptr) {
            const auto* begin = reinterpret_cast<const std::byte*>(later);
            __builtin_prefetch(begin, 1);
            __builtin_prefetch(begin + 64, 1);
            __builtin_prefetch(begin + sizeof(DescriptorWait) - 1, 1);
        }
        if (const DescriptorWait* soon = i + 2 < count ? wait_of(i + 2) : nullptr;
            soon != nullptr && soon->coroutine()) {
            soon->coroutine()->prefetch_state();
        }
    }

    TA_INLINE Descriptor* entry_of(int i) const noexcept {
        return table_.find(static_cast<int>(static_cast<std::uint32_t>(events_[static_cast<std::size_t>(i)].data.u64)));
    }

    TA_INLINE void deliver(const epoll_event& event) noexcept {
        const int fd = static_cast<int>(static_cast<std::uint32_t>(event.data.u64));
        Descriptor& descriptor = *table_.find(fd);
        if (TA_UNLIKELY(descriptor.generation != event.data.u64 >> 32)) {
            return;  // of a file that had the number before and is still open elsewhere
        }
        auto ready = static_cast<PollMask>(
            ((event.events & EPOLLIN) != 0 ? 1U : 0U) | ((event.events & EPOLLOUT) != 0 ? 2U : 0U) |
            ((event.events & EPOLLPRI) != 0 ? 8U : 0U)
        );
        PollMask sticky = PollMask::None;
        if (TA_UNLIKELY((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)) {
            const bool is_end = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
            sticky = PollMask::Disconnect | (is_end ? kBothWays : PollMask::Readable);
            ready |= sticky;
        }
        if (TA_UNLIKELY((event.events & EPOLLPRI) != 0)) {  // reads come back short at the mark, with more behind it
            sticky |= PollMask::Readable;
        }
        descriptor.ready = ready;
        descriptor.sticky = sticky;
        if (TA_UNLIKELY(any(descriptor.registered & PollMask::Writable))) {
            narrow(fd, descriptor, PollMask::Writable);
        }
        if (TA_LIKELY(report(fd, descriptor, ready))) {
            descriptor.unwanted = 0;
        } else if (++descriptor.unwanted > 1) {
            // What arrives while its reader is busy is worth knowing; what keeps arriving with no reader is not.
            narrow(fd, descriptor, PollMask::All);
        }
    }

    /// Stops asking for what nobody waits for. Room to write, above all: some kinds of sockets report it after each read of the other
    /// side.
    TA_COLD void narrow(int fd, Descriptor& descriptor, PollMask mask) noexcept {
        const PollMask unwanted = descriptor.registered & mask & ~descriptor.wanted();
        if (!any(unwanted) || descriptor.state != Descriptor::State::Registered) {
            return;
        }
        const PollMask rest = descriptor.registered & ~unwanted;
        if (!any(rest)) {
            control(EPOLL_CTL_DEL, fd, descriptor, PollMask::None);
            descriptor.state = Descriptor::State::Unknown;
        } else if (!control(EPOLL_CTL_MOD, fd, descriptor, rest)) {
            return;
        }
        descriptor.registered = rest;
        descriptor.ready &= rest | descriptor.sticky;
        descriptor.unwanted = 0;
    }

    /// Level-triggered for watches: what still wants something gets another report if it is still so. True: do not sleep.
    TA_COLD bool look_at_pending() noexcept {
        bool has_reported = false;
        each_pending([&](int fd, Descriptor& descriptor) {
            if (descriptor.watches.empty()) {
                return;
            }
            if (descriptor.state == Descriptor::State::AlwaysReady) {
                has_reported = report(fd, descriptor, kBothWays) || has_reported;
            } else if (!control(EPOLL_CTL_MOD, fd, descriptor, descriptor.registered) && is_gone()) {
                lose(fd, descriptor, end_from_errno());
                has_reported = true;
            }
        });
        return has_reported;
    }

    /// Whether another thread has something that will come back.
    bool is_work_out() const noexcept {
        const auto& returns = triggers_->returns();
        return returns != nullptr && returns->expected() != 0;
    }

    /// Until the next thing that is known to come; the longest of all durations when there is none.
    Duration time_to_sleep() noexcept {
        Duration limit = Duration::max();
        if (TA_UNLIKELY(is_loop_used_)) {
            int milliseconds = uv_backend_timeout(&loop_);
            if (milliseconds > 0) {
                uv_update_time(&loop_);  // it counts from its last turn
                milliseconds = uv_backend_timeout(&loop_);
            }
            if (milliseconds >= 0) {
                limit = std::chrono::milliseconds(milliseconds);
            }
        }
        if (!timers_.empty()) {
            const Instant nearest = timers_.nearest();
            const Instant roughly = rough_now();
            // The alarm comes early enough for the rest to be measured exactly.
            if (!is_far(nearest) || !alarm_.set(nearest - far() / 2, roughly)) {
                limit = std::min(limit, std::max(nearest - now(), Duration::zero()));
            }
        }
        return limit;
    }

    int wait_for_events(Duration limit) noexcept {
        const int size = static_cast<int>(events_.size());
        if (limit == Duration::zero()) {
            return epoll_wait(epoll_, events_.data(), size, 0);
        }
        if (limit == Duration::max()) {
            return epoll_wait(epoll_, events_.data(), size, -1);
        }
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
        if (has_pwait2_) {
            const timespec timeout = to_timespec(limit);
            const int count = epoll_pwait2(epoll_, events_.data(), size, &timeout, nullptr);
            if (count >= 0 || errno != ENOSYS) {
                return count;
            }
            has_pwait2_ = false;  // a kernel before 5.11
        }
#endif
        const auto whole = std::chrono::ceil<std::chrono::milliseconds>(limit);
        return epoll_wait(
            epoll_, events_.data(), size, static_cast<int>(std::min<std::int64_t>(whole.count(), INT32_MAX))
        );
    }

    // Not more at a time: with many connections the first would have left the caches when the last has been told.
    std::array<epoll_event, 32> events_;
    uv_async_t anchor_{};
    Alarm alarm_;
    int epoll_ = -1;
    bool has_pwait2_ = true;
    LookAround look_around_;  // for what other threads are about to send
};

}  // namespace

std::unique_ptr<UvReactor> make_epoll_reactor() { return std::make_unique<EpollReactor>(); }

}  // namespace trueasync::detail

#endif
