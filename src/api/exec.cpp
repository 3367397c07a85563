#include <trueasync/api/exec.hpp>

namespace trueasync {

ExecResult execute(ExecOptions options, const Limit& limit, std::source_location where) {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        detail::throw_error(
            Error::make(ErrorCode::NotRunning, "execute needs a running runtime: call it inside trueasync::run")
        );
    }
    const Ref<ExecEvent> event = ExecEvent::create(scheduler->reactor(), std::move(options));
    await(event, limit, where);
    return event->result();
}

std::string shell_exec(std::string command, const Limit& limit, std::source_location where) {
    return execute({.mode = ExecMode::ShellExec, .command = std::move(command)}, limit, where).output;
}

}  // namespace trueasync
