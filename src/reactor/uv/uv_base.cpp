#include "uv_base.hpp"

#include <cerrno>
#include <trueasync/reactor/system_error.hpp>

#include "../fork_generation.hpp"

namespace trueasync::detail {

UvReactor::UvReactor(bool is_level_triggered) : IoReactor(is_level_triggered), triggers_(TriggerQueue::create()) {}

UvReactor::~UvReactor() = default;

bool UvReactor::is_alive() const noexcept {
    return timers_.size() > far_timers() || !triggers_->empty() || active().visible != 0 || active().hidden != 0;
}

void* UvReactor::native_loop() noexcept {
    notice_fork().ignore();  // the next turn says it again
    is_loop_used_ = true;
    return &loop_;
}

bool UvReactor::open() noexcept {
    fork_generation_ = detail::fork_generation();
    if (triggers_->descriptor() < 0) {
        return false;  // errno is still that of the attempt
    }
    if (const int status = uv_loop_init(&loop_); status != 0) {
        errno = -status;
        return false;
    }
    is_open_ = true;
    return open_backend();
}

std::vector<std::string> UvReactor::close() {
    std::vector<std::string> open = ReactorEvent::close_all(*this);
    if (const std::size_t armed = timers_.size() - far_timers(); armed != 0) {
        open.push_back(std::to_string(armed) + " armed timers");
    }
    close_loop();
    return open;
}

void UvReactor::close_loop() noexcept {
    if (!is_open_) {
        return;
    }
    notice_fork().ignore();
    ReactorEvent::close_all(*this);
    is_open_ = false;
    close_backend();
    uv_walk(
        &loop_,
        [](uv_handle_t* handle, void*) {
            if (uv_is_closing(handle) == 0) {
                uv_close(handle, nullptr);  // forgotten by its owner: better this than a loop that never ends
            }
        },
        nullptr
    );
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
}

void UvReactor::deliver() noexcept {
    triggers_->deliver();
    if (!timers_.empty() && !is_far(timers_.nearest())) {
        timers_.fire_due(now());
    }
}

bool UvReactor::is_forked() const noexcept { return fork_generation_ != detail::fork_generation(); }

Status UvReactor::after_fork() noexcept {
    if (!triggers_->renew()) {
        return system_failure(errno, "make the event loop anew after fork");
    }
    const int status = uv_loop_fork(&loop_);
    if (status != 0 || !fork_backend()) {
        return system_failure(status != 0 ? -status : errno, "make the event loop anew after fork");
    }
    fork_generation_ = detail::fork_generation();
    is_fresh_child_ = true;
    ReactorEvent::fork_all(*this);
    return {};
}

}  // namespace trueasync::detail
