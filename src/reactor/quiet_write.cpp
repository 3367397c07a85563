#include "quiet_write.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace trueasync::detail {

ssize_t quiet_write(int fd, const void* data, std::size_t size) noexcept {
    // A write raises SIGPIPE in its own thread: held back during the write it can be taken away again, unless one was there before.
    sigset_t pending;
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    sigset_t pipe_only;
    sigset_t before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const ssize_t written = ::write(fd, data, size);
    const int failure = errno;
    if (written < 0 && failure == EPIPE && !was_pending) {
        sigpending(&pending);
        if (sigismember(&pending, SIGPIPE) == 1) {
            int taken = 0;
            sigwait(&pipe_only, &taken);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = failure;
    return written;
}

}  // namespace trueasync::detail
