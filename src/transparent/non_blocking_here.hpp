#pragma once

#include <fcntl.h>
#include <cerrno>

namespace trueasync::hooked {

/// For the one system call that cannot be told by an argument not to block.
class NonBlockingHere {
public:
    explicit NonBlockingHere(int fd) noexcept : fd_(fd), flags_(::fcntl(fd, F_GETFL)) {
        if (flags_ >= 0 && !was_non_blocking()) {
            ::fcntl(fd, F_SETFL, flags_ | O_NONBLOCK);
        }
    }
    NonBlockingHere(const NonBlockingHere&) = delete;
    NonBlockingHere& operator=(const NonBlockingHere&) = delete;
    ~NonBlockingHere() {
        if (flags_ >= 0 && !was_non_blocking()) {
            const int error = errno;
            ::fcntl(fd_, F_SETFL, flags_);
            errno = error;
        }
    }
    bool was_non_blocking() const noexcept { return (flags_ & O_NONBLOCK) != 0; }

private:
    int fd_;
    int flags_;
};

}  // namespace trueasync::hooked
