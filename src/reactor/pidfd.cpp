#include "pidfd.hpp"

#include <cerrno>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace trueasync::detail {

constinit std::atomic<bool> is_pidfd_off = false;

int open_pidfd([[maybe_unused]] pid_t pid) noexcept {
#if defined(SYS_pidfd_open)
    if (!is_pidfd_off) {
        return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
    }
#endif
    return -1;
}

int signal_pidfd([[maybe_unused]] int pidfd, [[maybe_unused]] int number) noexcept {
#if defined(SYS_pidfd_send_signal)
    return ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0U) == 0 ? 0 : errno;
#else
    return ENOSYS;
#endif
}

}  // namespace trueasync::detail
