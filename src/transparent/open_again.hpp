#pragma once

#include <sys/ioctl.h>
#include <cstdio>

#include "non_blocking_here.hpp"

namespace trueasync::hooked {

/// Opens the file behind `fd` once more, so that calls on it do not block. Negative: not possible.
inline int open_again(int fd, int access) noexcept {
    const auto terminal_of = [](int one) {
        unsigned device = 0;
        return ::ioctl(one, TIOCGDEV, &device) == 0 ? device : 0;
    };
    const unsigned terminal = terminal_of(fd);
    int number = 0;
    if (terminal != 0 && ::ioctl(fd, TIOCGPTN, &number) == 0) {  // a master: its name makes a new terminal
        return -1;
    }
    char name[32];
    std::snprintf(name, sizeof(name), "/proc/thread-self/fd/%d", fd);
    const int own = ::open(name, access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own >= 0 && terminal_of(own) != terminal) {  // the name of the controlling terminal, which is another now
        ::close(own);
        return -1;
    }
    return own;
}

/// `call` gets a descriptor of the same file that does not block. The flag is one for all processes that share a terminal or a fifo, so it is left
/// alone where that is possible.
template <typename Call>
ssize_t without_blocking(int fd, int access, Call&& call) noexcept {
    const int own = open_again(fd, access);
    if (own < 0) {
        const NonBlockingHere here(fd);
        return call(fd);
    }
    const ssize_t result = call(own);
    const int error = errno;
    ::close(own);
    errno = error;
    return result;
}

}  // namespace trueasync::hooked
