#include <trueasync/api/exec.hpp>

#include "io.hpp"

namespace trueasync {

ExecResult execute(ExecOptions options, const Limit& limit, std::source_location where) {
    const Ref<ExecEvent> event = ExecEvent::create(detail::need_reactor("execute"), std::move(options));
    await(event, limit, where);
    return event->result();
}

std::string shell_exec(std::string command, const Limit& limit, std::source_location where) {
    return execute({.mode = ExecMode::ShellExec, .command = std::move(command)}, limit, where).output;
}

}  // namespace trueasync
