#if defined(__linux__)

#include <sys/epoll.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>

#include "uv_base.hpp"

namespace trueasync::detail {

namespace {

constexpr std::uint64_t kWakeUp = UINT64_MAX;
constexpr std::uint64_t kLibuv = UINT64_MAX - 1;

timespec to_timespec(Duration duration) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    timespec result{};
    result.tv_sec = static_cast<std::time_t>(seconds.count());
    result.tv_nsec = static_cast<long>((duration - seconds).count());
    return result;
}

/// Our own epoll set outside, with nanosecond time-outs, and libuv's descriptor inside.
class EpollReactor final : public UvReactor {
public:
    ~EpollReactor() override { close_loop(); }

    Status execute(bool no_wait) override {
        if (Status status = notice_fork(); !status) {
            return status;
        }
        const Duration limit = no_wait || is_fresh_child_ ? Duration::zero() : time_to_sleep();
        is_fresh_child_ = false;
        const bool is_asleep = limit != Duration::zero() && triggers_->begin_sleep();
        const int count = wait_for_events(is_asleep ? limit : Duration::zero());
        const int failure = errno;
        if (is_asleep) {
            triggers_->end_sleep();
        }
        if (count < 0 && failure != EINTR) {
            return Status::failure(ErrorCode::System, "waiting for events failed: errno " + std::to_string(failure));
        }
        bool is_libuv_ready = false;
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events_[static_cast<std::size_t>(i)];
            is_libuv_ready = is_libuv_ready || event.data.u64 == kLibuv;
        }
        if (is_libuv_ready || uv_backend_timeout(&loop_) == 0) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        }
        deliver();
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
    }
    bool fork_backend() noexcept override {
        close_backend();
        return open_epoll();
    }

private:
    bool open_epoll() noexcept {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) {
            return false;
        }
        uv_run(&loop_, UV_RUN_NOWAIT);  // registers with libuv's own set what waits for it
        // Edge-triggered: each wake-up is an edge, and nobody has to read the count.
        return add(uv_backend_fd(&loop_), EPOLLIN, kLibuv) && add(triggers_->descriptor(), EPOLLIN | EPOLLET, kWakeUp);
    }

    bool add(int fd, std::uint32_t what, std::uint64_t data) const noexcept {
        epoll_event event{};
        event.events = what;
        event.data.u64 = data;
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
    }

    /// Until the next thing that is known to come; the longest of all durations when there is none.
    Duration time_to_sleep() noexcept {
        Duration limit = Duration::max();
        if (const int milliseconds = uv_backend_timeout(&loop_); milliseconds >= 0) {
            limit = std::chrono::milliseconds(milliseconds);
        }
        if (!timers_.empty()) {
            limit = std::min(limit, std::max(timers_.nearest() - now(), Duration::zero()));
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

    std::array<epoll_event, 256> events_;
    uv_async_t anchor_{};
    int epoll_ = -1;
    bool has_pwait2_ = true;
};

}  // namespace

std::unique_ptr<UvReactor> make_epoll_reactor() { return std::make_unique<EpollReactor>(); }

}  // namespace trueasync::detail

#endif
