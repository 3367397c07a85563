#include <trueasync/reactor/uv_reactor.hpp>

#include <uv.h>
#include <cerrno>
#include <ctime>
#include <trueasync/reactor/timer_heap.hpp>

#if defined(__linux__)
#include <sys/epoll.h>
#include <unistd.h>
#endif

namespace trueasync {

namespace {

/// libuv's loop, our own timers and triggers. How it sleeps is left to the two backends.
class UvReactor : public Reactor {
public:
    ~UvReactor() override { close_loop(); }

    Instant now() noexcept final { return Instant(Duration(static_cast<std::int64_t>(uv_hrtime()))); }
    bool is_alive() const noexcept final {
        return !timers_.empty() || !triggers_.empty() || active().visible != 0 || active().hidden != 0;
    }
    Status arm(TimerNode& node, Instant when) final { return timers_.insert(node, when); }
    void disarm(TimerNode& node) noexcept final { timers_.remove(node); }
    void wake_up() noexcept final { uv_async_send(&async_); }
    TriggerQueue& triggers() noexcept final { return triggers_; }

    std::vector<std::string> close() override {
        std::vector<std::string> open;
        if (!timers_.empty()) {
            open.push_back(std::to_string(timers_.size()) + " armed timers");
        }
        close_loop();
        return open;
    }

    bool open_loop() noexcept {
        if (const int status = uv_loop_init(&loop_); status != 0) {
            errno = -status;
            return false;
        }
        is_open_ = true;
        async_.data = this;
        const int status = uv_async_init(&loop_, &async_, [](uv_async_t*) {});
        if (status != 0) {
            errno = -status;
            return false;
        }
        has_async_ = true;
        return open_backend();
    }

protected:
    virtual bool open_backend() noexcept = 0;
    virtual void close_backend() noexcept = 0;

    void deliver() noexcept {
        triggers_.deliver();
        if (!timers_.empty()) {
            timers_.fire_due(now());
        }
    }

    void close_loop() noexcept {
        if (!is_open_) {
            return;
        }
        is_open_ = false;
        close_backend();
        if (has_async_) {
            uv_close(reinterpret_cast<uv_handle_t*>(&async_), nullptr);
        }
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    uv_loop_t loop_{};
    uv_async_t async_{};
    TimerHeap timers_;
    TriggerQueue triggers_;
    bool is_open_ = false;
    bool has_async_ = false;
};

/// libuv alone: one `uv_timer` stands for the nearest deadline.
class PortableReactor final : public UvReactor {
public:
    ~PortableReactor() override { close_loop(); }

    Status execute(bool no_wait) override {
        const bool is_due = !triggers_.empty() || (!timers_.empty() && timers_.nearest() <= now());
        if (no_wait || is_due) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        } else {
            if (!timers_.empty()) {
                uv_update_time(&loop_);  // after CPU work the loop's clock is old and a timer would come early
                const Duration left = timers_.nearest() - now();
                const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::max(left, Duration::zero()));
                // Stopping the loop in the callback is what keeps libuv before 1.45 from sleeping once more.
                uv_timer_start(
                    &timer_, [](uv_timer_t* timer) { uv_stop(timer->loop); }, static_cast<std::uint64_t>(wait.count()),
                    0
                );
            }
            uv_run(&loop_, UV_RUN_ONCE);
            uv_timer_stop(&timer_);
        }
        deliver();
        return {};
    }

protected:
    bool open_backend() noexcept override { return uv_timer_init(&loop_, &timer_) == 0; }
    void close_backend() noexcept override { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

private:
    uv_timer_t timer_{};
};

#if defined(__linux__)

/// Our own epoll set outside, with nanosecond time-outs, and libuv's descriptor inside.
class EpollReactor final : public UvReactor {
public:
    ~EpollReactor() override { close_loop(); }

    Status execute(bool no_wait) override {
        epoll_event events[16];
        timespec timeout{};
        const timespec* limit = &timeout;
        if (!no_wait) {
            Duration wait = Duration::max();
            if (const int milliseconds = uv_backend_timeout(&loop_); milliseconds >= 0) {
                wait = std::chrono::milliseconds(milliseconds);
            }
            if (!triggers_.empty()) {
                wait = Duration::zero();
            } else if (!timers_.empty()) {
                wait = std::min(wait, std::max(timers_.nearest() - now(), Duration::zero()));
            }
            if (wait == Duration::max()) {
                limit = nullptr;
            } else {
                const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
                timeout.tv_sec = static_cast<std::time_t>(seconds.count());
                timeout.tv_nsec = static_cast<long>((wait - seconds).count());
            }
        }
        const int count = wait_for_events(events, limit);
        if (count < 0 && errno != EINTR) {
            return Status::failure(ErrorCode::System, "waiting for events failed: errno " + std::to_string(errno));
        }
        if (count > 0 || uv_backend_timeout(&loop_) == 0) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        }
        deliver();
        return {};
    }

protected:
    bool open_backend() noexcept override {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) {
            return false;
        }
        uv_run(&loop_, UV_RUN_NOWAIT);  // registers the async handle with libuv's own set
        epoll_event event{};
        event.events = EPOLLIN;
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, uv_backend_fd(&loop_), &event) == 0;
    }
    void close_backend() noexcept override {
        if (epoll_ >= 0) {
            ::close(epoll_);
            epoll_ = -1;
        }
    }

private:
    template <std::size_t Size>
    int wait_for_events(epoll_event (&events)[Size], const timespec* limit) noexcept {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
        if (has_pwait2_) {
            const int count = epoll_pwait2(epoll_, events, Size, limit, nullptr);
            if (count >= 0 || errno != ENOSYS) {
                return count;
            }
            has_pwait2_ = false;  // a kernel before 5.11
        }
#endif
        int milliseconds = -1;
        if (limit != nullptr) {
            const auto whole = std::chrono::ceil<std::chrono::milliseconds>(
                std::chrono::seconds(limit->tv_sec) + std::chrono::nanoseconds(limit->tv_nsec)
            );
            milliseconds = static_cast<int>(std::min<std::int64_t>(whole.count(), INT32_MAX));
        }
        return epoll_wait(epoll_, events, Size, milliseconds);
    }

    int epoll_ = -1;
    bool has_pwait2_ = true;
};

#endif

}  // namespace

std::unique_ptr<Reactor> make_uv_reactor([[maybe_unused]] Backend backend) {
    std::unique_ptr<UvReactor> reactor;
#if defined(__linux__)
    if (backend == Backend::Best) {
        reactor = std::make_unique<EpollReactor>();
    }
#endif
    if (reactor == nullptr) {
        reactor = std::make_unique<PortableReactor>();
    }
    if (!reactor->open_loop()) {
        return nullptr;
    }
    return reactor;
}

}  // namespace trueasync
