#include <trueasync/reactor/process.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <trueasync/reactor/system_error.hpp>

#include "orphans.hpp"
#include "pidfd.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Process, sizeof(ProcessEvent));

Ref<Error> refusal(pid_t pid, int failure) {
    return SystemError::make(
        failure, "wait for process " + std::to_string(pid) +
                     (failure == ECHILD ? ", which is no child or was collected by somebody else" : "")
    );
}

/// Zero and `info.si_pid` is zero while it runs; else the errno.
int ask([[maybe_unused]] int pidfd, pid_t pid, siginfo_t& info, int options = 0) noexcept {
    info.si_pid = 0;
    int result = -1;
#if defined(__linux__)
    constexpr auto kByPidfd = static_cast<idtype_t>(3);
    if (pidfd >= 0) {
        do {
            result = ::waitid(kByPidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | options);
        } while (result != 0 && errno == EINTR);
        if (result == 0 || errno != EINVAL) {
            return result == 0 ? 0 : errno;
        }  // a kernel that has pidfds but cannot wait for them
    }
#endif
    do {
        result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | options);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

}  // namespace

std::string to_string(const ProcessExit& exit) {
    if (exit.signal != 0) {
        return "killed by " + signal_name(exit.signal);
    }
    return "exit code " + std::to_string(exit.code);
}

ProcessEvent::ProcessEvent(Reactor& reactor, pid_t pid, int pidfd) noexcept
    : ReactorEvent(reactor, EventType::Process, Firing::OneShot),
      DescriptorWatch(pidfd, PollMask::Readable),
      SignalWatch(SIGCHLD),
      pid_(pid),
      is_open_(pidfd >= 0) {}

ProcessEvent::~ProcessEvent() = default;

Ref<ProcessEvent> ProcessEvent::create(Reactor& reactor, pid_t pid) {
    const int pidfd = pid > 0 && reactor.io() != nullptr ? detail::open_pidfd(pid) : -1;
    auto process = Ref<ProcessEvent>::adopt(new ProcessEvent(reactor, pid, pidfd));
    if (process->is_closed()) {
        process->close_descriptor();
    } else if (pidfd >= 0) {
        reactor.io()->descriptor_opened(pidfd);
        reactor.io()->introduce(*process);
    }
    return process;
}

Status ProcessEvent::enter_loop() {
    if (reactor() == nullptr) {
        return refuse_ended();
    }
    if (pid_ <= 0) {
        return Status(refusal(pid_, EINVAL));
    }
    siginfo_t info{};
    if (const int failure = ask(pidfd(), pid_, info, WNOWAIT); failure != 0) {
        return Status(refusal(pid_, failure));
    }
    if (is_open_) {
        if (Status status = reactor()->io()->watch(*this); status.ok()) {
            return status;
        }
        close_descriptor();
    }
    Status status = watch_signal(*reactor());
    if (status.ok()) {
        poke();  // it may have ended before
    }
    return status;
}

void ProcessEvent::leave_loop() noexcept {
    if (is_watching()) {
        reactor()->io()->unwatch(*this);
    }
    unwatch_signal();
}

void ProcessEvent::close_descriptor() noexcept {
    if (!is_open_) {
        return;
    }
    if (is_watching()) {
        reactor()->io()->unwatch(*this);
    }
    is_open_ = false;
    if (reactor() != nullptr && reactor()->io() != nullptr) {
        reactor()->io()->descriptor_closing(watched_descriptor());
    }
    ::close(watched_descriptor());
}

void ProcessEvent::on_reactor_close() noexcept {
    close_descriptor();
    if (self_ != nullptr) {
        detail::adopt_orphan(pid_);
        self_.reset();
    }
}

void ProcessEvent::on_ready(PollMask /*what*/) noexcept { look(); }

void ProcessEvent::on_signal() noexcept {
    take_signals();
    look();
}

void ProcessEvent::on_lost(Error& error) noexcept {
    is_open_ = false;  // whoever closed it has closed it
    error_ = Ref<Error>(&error);
    finish();
}

void ProcessEvent::look() noexcept {
    if (collect()) {
        finish();
    }
}

bool ProcessEvent::collect() noexcept {
    siginfo_t info{};
    if (const int failure = ask(pidfd(), pid_, info); failure != 0) {
        error_ = refusal(pid_, failure);
        return true;
    }
    if (info.si_pid == 0) {
        return false;
    }
    exit_.code = info.si_code == CLD_EXITED ? info.si_status : 0;
    exit_.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    exit_.has_core = info.si_code == CLD_DUMPED;
    return true;
}

void ProcessEvent::finish() noexcept {
    const Ref<ProcessEvent> keep(this);
    is_finished_ = true;
    close_descriptor();
    unwatch_signal();
    notify(&exit_, error_.get()).ignore();
    self_.reset();
    detail::collect_orphans();
}

Status ProcessEvent::kill(int number) noexcept {
    const auto attempted = [&] { return "send " + signal_name(number) + " to process " + std::to_string(pid_); };
    if (is_finished_) {
        return system_failure(ESRCH, attempted());
    }
    int failure = is_open_ ? detail::signal_pidfd(pidfd(), number) : ENOSYS;
    if (failure == ENOSYS || failure == EPERM) {
        failure = pid_ > 0 && ::kill(pid_, number) == 0 ? 0 : pid_ > 0 ? errno : EINVAL;
    }
    return failure == 0 ? Status() : system_failure(failure, attempted());
}

void ProcessEvent::abandon() noexcept {
    if (is_finished_ || self_ != nullptr || pid_ <= 0) {
        return;
    }
    set_hidden(true);
    if (is_closed() || !start()) {
        detail::adopt_orphan(pid_);
        return;
    }
    self_ = Ref<ProcessEvent>(this);
}

bool ProcessEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_finished_ && hand_out(&exit_, error_.get(), callback, result, error);
}

std::string ProcessEvent::info() const {
    std::string text = "Process(pid=" + std::to_string(pid_);
    if (is_finished_) {
        text += ", " + (error_ != nullptr ? std::string("not known how it ended") : to_string(exit_));
    }
    return text + ")";
}

}  // namespace trueasync
