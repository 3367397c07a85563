#include "hooks.hpp"
#include "kind.hpp"
#include "state.hpp"
#include "thread_read.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

namespace {

IoReactor* thread_reactor() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? scheduler->reactor().io() : nullptr;
}

/// Somebody closes the number, and waits until others have left it.
void await_closer(int to) noexcept {
    while (TA_UNLIKELY(known_kind(to) == Kind::Closed) && let_others_on()) {}
}

/// The number is about to stand for nothing, or for another file. Those who wait for it leave first: they may be inside a library whose
/// state goes with the descriptor. False: somebody else has closed it meanwhile.
bool let_go(int fd) noexcept {
    IoReactor* reactor = is_on() && !is_in_signal_handler() ? thread_reactor() : nullptr;
    const Descriptor* descriptor = reactor != nullptr ? reactor->find(fd) : nullptr;
    const std::uint32_t files = files_of(fd);
    if (descriptor != nullptr) {
        const bool has_waiters = !descriptor->waits.empty() || !descriptor->watches.empty();
        reactor->descriptor_closing(fd);
        if (has_waiters && suspending_reactor() != nullptr && !is_in_shared()) {
            set_kind(fd, Kind::Closed);
            begin_refusing();
            let_others_on();
        }
    }
    if (TA_UNLIKELY(ThreadRead::is_at(fd)) && suspending_reactor() != nullptr) {
        set_kind(fd, Kind::Closed);
        const ProtectGuard protect;
        for (Backoff pauses; ThreadRead::is_at(fd) && pauses.wait() == Waited::Ready;) {}
    }
    if (TA_UNLIKELY(files_of(fd) != files)) {
        return false;
    }
    forget_file(fd);
    return true;
}

/// Whether `dup2` can replace anything.
bool is_open(int fd) noexcept { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

int close(int fd) {
    const int before = errno;
    if (TA_UNLIKELY(known_kind(fd) == Kind::Closed) || !let_go(fd)) {
        errno = EBADF;
        return -1;
    }
    errno = before;
    return ::close(fd);
}

int dup2(int from, int to) {
    if (from != to) {
        const int before = errno;
        await_closer(to);
        if (is_open(from)) {
            let_go(to);
        }
        errno = before;
    }
    return ::dup2(from, to);
}

int dup3(int from, int to, int flags) {
    if (from != to && (flags & ~O_CLOEXEC) == 0) {
        const int before = errno;
        await_closer(to);
        if (is_open(from)) {
            let_go(to);
        }
        errno = before;
    }
    return ::dup3(from, to, flags);
}

int close_range(unsigned first, unsigned last, int flags) {
    const int before = errno;
    if ((static_cast<unsigned>(flags) & ~static_cast<unsigned>(CLOSE_RANGE_UNSHARE)) == 0) {
        for (unsigned fd = first; fd <= last && fd < kRemembered; ++fd) {
            let_go(static_cast<int>(fd));
        }
    }
    errno = before;
    return ::close_range(first, last, flags);
}

int fclose(FILE* stream) {
    if (TA_UNLIKELY(has_child(stream))) {
        return hooked::pclose(stream);
    }
    const int before = errno;
    if (const int fd = stream != nullptr ? ::fileno(stream) : -1; fd >= 0) {
        let_go(fd);
    }
    errno = before;
    return ::fclose(stream);
}

}  // namespace trueasync::hooked

namespace trueasync {

void begin_closing(int fd) noexcept {
    if (IoReactor* reactor = hooked::is_on() ? hooked::thread_reactor() : nullptr; reactor != nullptr && fd >= 0) {
        reactor->descriptor_closing(fd);
        if (!hooked::is_closing(fd)) {
            hooked::set_kind(fd, hooked::Kind::Closing);
        }
    }
}

void end_closing(int fd) noexcept {
    if (fd >= 0 && hooked::known_kind(fd) == hooked::Kind::Closing) {
        hooked::set_kind(fd, hooked::Kind::Unknown);
    }
}

bool is_being_closed(int fd) noexcept { return hooked::is_closing(fd); }

}  // namespace trueasync
