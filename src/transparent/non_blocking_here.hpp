#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <mutex>

namespace trueasync::hooked {

/// For the one system call that cannot be told by an argument not to block.
class NonBlockingHere {
public:
    explicit NonBlockingHere(int fd) noexcept : NonBlockingHere(fd, ::fcntl(fd, F_GETFL)) {}
    NonBlockingHere(int fd, int flags) noexcept : fd_(fd), flags_(flags) {
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

/// Keeps everybody else from doing that to the same file at the same time. Its flags are one for all processes that have it: one would put them
/// back right before the call of another, who then blocks, and would take what the other has set for the wish of the program.
///
/// A record lock does it for processes, also those that are not related; it goes with its holder, and nobody has another use for one on a
/// socket. Where there are no such locks there is no protection. Threads of one process have a mutex.
class FlagTurn {
public:
    explicit FlagTurn(int fd) noexcept : fd_(fd), threads_(mutex), is_taken_(set(F_WRLCK) || errno != EAGAIN) {}
    FlagTurn(const FlagTurn&) = delete;
    FlagTurn& operator=(const FlagTurn&) = delete;
    ~FlagTurn() {
        if (is_taken_) {
            const int error = errno;
            set(F_UNLCK);
            errno = error;
        }
    }
    /// False: somebody else is at it.
    bool is_taken() const noexcept { return is_taken_; }

private:
    bool set(short type) const noexcept {
        struct flock whole {};
        whole.l_type = type;
        return ::fcntl(fd_, F_SETLK, &whole) == 0;
    }

    static inline std::mutex mutex;

    int fd_;
    std::lock_guard<std::mutex> threads_;
    bool is_taken_;
};

}  // namespace trueasync::hooked
