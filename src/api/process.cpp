#include <trueasync/api/process.hpp>

#include "io.hpp"

namespace trueasync {

Process::Process(Ref<ProcessEvent> event, const SpawnedProcess& process) noexcept
    : event_(std::move(event)),
      in_(OwnedDescriptor(process.in)),
      out_(OwnedDescriptor(process.out)),
      err_(OwnedDescriptor(process.err)) {
    for (const int end : {process.in, process.out, process.err}) {
        if (end >= 0) {
            announce_opened(end);
        }
    }
}

Process& Process::operator=(Process&& other) noexcept {
    if (this != &other) {
        if (event_ != nullptr) {
            event_->abandon();
        }
        event_ = std::move(other.event_);
        in_ = std::move(other.in_);
        out_ = std::move(other.out_);
        err_ = std::move(other.err_);
    }
    return *this;
}

Process::~Process() {
    if (event_ != nullptr) {
        event_->abandon();
    }
}

Process Process::start(const ProcessOptions& options) {
    IoReactor& io = detail::need_io("starting a process");
    SpawnedProcess process;
    detail::check(spawn_process(options, process));
    return {ProcessEvent::create(io, process.pid), process};
}

ProcessExit Process::wait(const Limit& limit, std::source_location where) {
    if (event_->is_finished()) {
        if (event_->error() != nullptr) {
            detail::throw_error(Ref<Error>(event_->error()));
        }
    } else {
        await(event_, limit, where);
    }
    return event_->exit();
}

void Process::kill(int number) { detail::check(event_->kill(number)); }

}  // namespace trueasync
