#include "waiting.hpp"

#include <trueasync/reactor/system_error.hpp>

#include "kind.hpp"
#include "state.hpp"

namespace trueasync::hooked {

IoReactor* find_reactor() noexcept {
    Scheduler* scheduler = Scheduler::current();
    look_if_due();
    if (!is_on() || is_in_signal_handler() || Scheduler::is_inside_callback() ||
        detail::hot.current == &scheduler->own_coroutine()) {
        return nullptr;
    }
    return scheduler->reactor().io();
}

namespace {

Waited to_waited(TransparentHost::Answer answer) noexcept {
    switch (answer) {
        case TransparentHost::Answer::Suspend:
            return Waited::Ready;
        case TransparentHost::Answer::Fail:
            errno = ECANCELED;
            return Waited::Failed;
        default:
            return Waited::Blocks;
    }
}

}  // namespace

bool is_in_shared() noexcept {
    TransparentHost* host = state.host;
    return host != nullptr && host->is_in_shared(*detail::hot.current);
}

bool is_cut_off_slow() noexcept {
    Coroutine* self = detail::hot.current;
    if (self == nullptr || find_reactor() == nullptr || !state.host->is_cut_off(*self)) {
        return false;
    }
    errno = ECANCELED;
    return true;
}

Waited before_wait() noexcept {
    TransparentHost* host = state.host;
    return host != nullptr ? to_waited(host->may_suspend(*detail::hot.current)) : Waited::Ready;
}

Waited after_wait(WaitResult result) noexcept {
    switch (result) {
        case WaitResult::Ready:
            return Waited::Ready;
        case WaitResult::TimedOut:
            return Waited::TimedOut;
        case WaitResult::Cancelled: {
            Coroutine& self = *detail::hot.current;
            Ref<Error> cancellation = Scheduler::take_wait_error();
            if (TransparentHost* host = state.host) {
                if (!host->cancelled(self, std::move(cancellation))) {
                    return Waited::Blocks;
                }
            } else {
                Scheduler::current()->cancel(
                    self, std::move(cancellation)
                );  // comes again, until somebody can throw it
            }
            errno = ECANCELED;
            return Waited::Failed;
        }
        case WaitResult::Failed: {
            const int error = SystemError::number_of(Scheduler::take_wait_error().get());
            if (error == EBADF) {
                errno = EBADF;
                return Waited::Failed;
            }
            return Waited::Blocks;
        }
        default:
            Scheduler::take_wait_error();
            return Waited::Blocks;
    }
}

Waited tell_cut_off(Waited waited, int fd) noexcept {
    if (waited == Waited::Failed && errno == ECANCELED && state.host != nullptr) {
        state.host->cut_off(*detail::hot.current, fd);
        errno = ECANCELED;
    }
    return waited;
}

Waited wait_descriptor(IoReactor& reactor, int fd, PollMask mask, Deadline deadline) noexcept {
    Coroutine& self = *detail::hot.current;
    TransparentHost* const host = state.host;
    if (const Waited answer = host != nullptr ? to_waited(host->begin_wait(self, fd)) : Waited::Ready;
        answer != Waited::Ready) {
        return tell_cut_off(answer, fd);
    }
    const std::uint32_t files = files_of(fd);
    reactor.mark_drained(fd, mask, files);
    const WaitResult result = wait_ready(reactor, fd, mask, deadline);
    Scheduler::look_ahead_in_steps();
    if (host != nullptr) {
        host->end_wait(self);
    }
    if (TA_UNLIKELY(result != WaitResult::Ready)) {
        return tell_cut_off(after_wait(result), fd);
    }
    if (TA_UNLIKELY(files_of(fd) != files)) {  // closed by who did not know that we wait
        errno = EBADF;
        return Waited::Failed;
    }
    return Waited::Ready;
}

bool let_others_on() noexcept {
    if (suspending_reactor() == nullptr || before_wait() != Waited::Ready) {
        return false;
    }
    const ProtectGuard protect;  // whoever is cancelled here has its answer already
    Scheduler::suspend(std::source_location::current());
    return true;
}

namespace {

constexpr unsigned kPatience = 16;
thread_local constinit unsigned refusals __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

void begin_refusing() noexcept { refusals = 0; }

void refuse_closing() noexcept {
    if (++refusals % kPatience == 0) {
        let_others_on();
    }
}

Waited wait_time(Deadline deadline) noexcept {
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    const Waited waited = after_wait(sleep_until(deadline));
    return waited == Waited::TimedOut ? Waited::Ready : waited;
}

}  // namespace trueasync::hooked
