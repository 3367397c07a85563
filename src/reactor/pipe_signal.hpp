#pragma once

#include <cerrno>
#include <csignal>

namespace trueasync::detail {

/// While it lives, a write to a pipe without readers does not raise SIGPIPE. One that was pending before stays pending.
class PipeSignalGuard {
public:
    PipeSignalGuard() noexcept {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    PipeSignalGuard(const PipeSignalGuard&) = delete;
    PipeSignalGuard& operator=(const PipeSignalGuard&) = delete;
    ~PipeSignalGuard() {
        const int error = errno;
        if (error == EPIPE && !was_pending_) {
            sigset_t pending;
            int number = 0;
            if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1) {
                sigwait(&pipe_, &number);
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }

private:
    sigset_t pipe_;
    sigset_t before_;
    bool was_pending_;
};

}  // namespace trueasync::detail
