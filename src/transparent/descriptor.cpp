#include "hooks.hpp"
#include "kind.hpp"
#include "state.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

namespace {

IoReactor* thread_reactor() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? scheduler->reactor().io() : nullptr;
}

/// The number is about to stand for nothing, or for another file. Those who wait for it leave first: they may be inside a library whose
/// state goes with the descriptor.
void let_go(int fd) noexcept {
    IoReactor* reactor = is_on() && !is_in_signal_handler() ? thread_reactor() : nullptr;
    const Descriptor* descriptor = reactor != nullptr ? reactor->find(fd) : nullptr;
    if (descriptor != nullptr) {
        const bool has_waiters = !descriptor->waits.empty() || !descriptor->watches.empty();
        reactor->descriptor_closing(fd);
        if (has_waiters && suspending_reactor() != nullptr && !is_in_shared() && before_wait() == Waited::Ready) {
            set_kind(fd, Kind::Closing);
            const ProtectGuard protect;  // whoever is cancelled here has still to close it
            Scheduler::suspend(std::source_location::current());
        }
    }
    set_kind(fd, Kind::Unknown);
}

}  // namespace

int close(int fd) {
    const int before = errno;
    let_go(fd);
    errno = before;
    return ::close(fd);
}

int dup2(int from, int to) {
    if (from != to) {
        const int before = errno;
        let_go(to);
        errno = before;
    }
    return ::dup2(from, to);
}

int dup3(int from, int to, int flags) {
    if (from != to) {
        const int before = errno;
        let_go(to);
        errno = before;
    }
    return ::dup3(from, to, flags);
}

int close_range(unsigned first, unsigned last, int flags) {
    const int before = errno;
    IoReactor* reactor = (static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) == 0 ? thread_reactor() : nullptr;
    const unsigned known = reactor != nullptr ? 65536 : 0;
    for (unsigned fd = first; fd <= last && fd < known; ++fd) {
        let_go(static_cast<int>(fd));
    }
    forget_kinds(first, last);
    errno = before;
    return ::close_range(first, last, flags);
}

int fclose(FILE* stream) {
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
        hooked::set_kind(fd, hooked::Kind::Closing);
    }
}

void end_closing(int fd) noexcept {
    if (fd >= 0 && hooked::is_closing(fd)) {
        hooked::set_kind(fd, hooked::Kind::Unknown);
    }
}

bool is_being_closed(int fd) noexcept { return hooked::is_closing(fd); }

}  // namespace trueasync
