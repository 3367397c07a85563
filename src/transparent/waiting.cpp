#include "waiting.hpp"

#include <trueasync/reactor/system_error.hpp>

#include "state.hpp"

namespace trueasync::hooked {

IoReactor* find_reactor() noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (!is_on() || is_in_signal_handler() || Scheduler::is_inside_callback() ||
        detail::hot.current == &scheduler->own_coroutine()) {
        return nullptr;
    }
    return scheduler->reactor().io();
}

Waited before_wait() noexcept {
    TransparentHost* host = state().host;
    if (host == nullptr) {
        return Waited::Ready;
    }
    switch (host->may_suspend(*detail::hot.current)) {
        case TransparentHost::Answer::Suspend:
            return Waited::Ready;
        case TransparentHost::Answer::Fail:
            errno = ECANCELED;
            return Waited::Failed;
        default:
            return Waited::Blocks;
    }
}

bool is_in_shared() noexcept {
    TransparentHost* host = state().host;
    return host != nullptr && host->is_in_shared(*detail::hot.current);
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
            if (TransparentHost* host = state().host) {
                host->cancelled(self, std::move(cancellation));
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

Waited wait_descriptor(IoReactor& reactor, int fd, PollMask mask, Deadline deadline) noexcept {
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    reactor.mark_drained(fd, mask);
    return after_wait(wait_ready(reactor, fd, mask, deadline));
}

Waited wait_time(Deadline deadline) noexcept {
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    const Waited waited = after_wait(sleep_until(deadline));
    return waited == Waited::TimedOut ? Waited::Ready : waited;
}

}  // namespace trueasync::hooked
