#include <cerrno>

#include "uv_base.hpp"

namespace trueasync::detail {

namespace {

/// libuv alone: one `uv_timer` stands for the nearest deadline.
class PortableReactor final : public UvReactor {
public:
    ~PortableReactor() override { close_loop(); }

    Status execute(bool no_wait) override {
        if (Status status = notice_fork(); !status) {
            return status;
        }
        const bool is_due = is_fresh_child_ || (!timers_.empty() && timers_.nearest() <= now());
        is_fresh_child_ = false;
        if (no_wait || is_due || !triggers_->begin_sleep()) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        } else {
            sleep();
            triggers_->end_sleep();
        }
        deliver();
        return {};
    }

protected:
    bool open_backend() noexcept override {
        if (const int status = uv_poll_init(&loop_, &wake_, triggers_->descriptor()); status != 0) {
            errno = -status;
            return false;
        }
        wake_.data = &*triggers_;
        listen();
        return uv_timer_init(&loop_, &timer_) == 0;
    }
    void close_backend() noexcept override {}  // both handles are closed with the loop
    bool fork_backend() noexcept override {
        listen();
        return true;
    }

private:
    void listen() noexcept {
        uv_poll_start(&wake_, UV_READABLE, [](uv_poll_t* wake, int, int) {
            static_cast<TriggerQueue*>(wake->data)->drain();
        });
    }

    void sleep() noexcept {
        if (!timers_.empty()) {
            uv_update_time(&loop_);  // after CPU work the loop's clock is old and a timer would come early
            const Duration left = timers_.nearest() - now();
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::max(left, Duration::zero()));
            // Stopping the loop in the callback is what keeps libuv before 1.45 from sleeping once more.
            uv_timer_start(
                &timer_, [](uv_timer_t* timer) { uv_stop(timer->loop); }, static_cast<std::uint64_t>(wait.count()), 0
            );
        }
        uv_run(&loop_, UV_RUN_ONCE);
        uv_timer_stop(&timer_);
    }

    uv_poll_t wake_{};
    uv_timer_t timer_{};
};

}  // namespace

std::unique_ptr<UvReactor> make_portable_reactor() { return std::make_unique<PortableReactor>(); }

}  // namespace trueasync::detail
