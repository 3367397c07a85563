#include <cstdarg>

#include "hooks.hpp"
#include "kind.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

namespace {

/// Tries with pauses: a lock has no event. `attempt` does not wait, `block` does.
template <typename Attempt, typename Block>
int lock_later(int fd, Attempt&& attempt, Block&& block) noexcept {
    const KeepErrno keep;
    const std::uint32_t files = files_of(fd);
    for (Backoff backoff;;) {
        if (is_closing(fd) || files_of(fd) != files) {
            refuse_closing();
            errno = EBADF;
            return -1;
        }
        const int result = attempt();
        if (result == 0 || (errno != EAGAIN && errno != EACCES)) {
            return keep(result);
        }
        switch (backoff.wait()) {
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return keep(block());
            default:
                break;
        }
    }
}

int fcntl_with(int fd, int command, void* argument) noexcept {
    const int attempt = command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : 0;
    if (attempt == 0 || suspending_reactor() == nullptr) {
        return ::fcntl(fd, command, argument);
    }
    return lock_later(
        fd, [&] { return ::fcntl(fd, attempt, argument); }, [&] { return ::fcntl(fd, command, argument); }
    );
}

}  // namespace

int flock(int fd, int operation) {
    if ((operation & (LOCK_NB | LOCK_UN)) != 0 || suspending_reactor() == nullptr) {
        return ::flock(fd, operation);
    }
    return lock_later(
        fd, [&] { return ::flock(fd, operation | LOCK_NB); }, [&] { return ::flock(fd, operation); }
    );
}

static_assert(F_SETLKW == F_SETLKW64);

int fcntl(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*);  // as the C library itself: there is at most one
    va_end(arguments);
    return fcntl_with(fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    return fcntl_with(fd, command, argument);
}

int lockf(int fd, int command, off_t size) {
    if (command != F_LOCK || suspending_reactor() == nullptr) {
        return ::lockf(fd, command, size);
    }
    return lock_later(
        fd, [&] { return ::lockf(fd, F_TLOCK, size); }, [&] { return ::lockf(fd, command, size); }
    );
}

int lockf64(int fd, int command, off64_t size) { return hooked::lockf(fd, command, size); }

}  // namespace trueasync::hooked
