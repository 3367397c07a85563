#include <trueasync/api/run_blocking.hpp>

#include <string_view>

namespace trueasync::detail {

Ref<TaskEvent> make_task(std::unique_ptr<TaskBody> body, std::string name, std::source_location where) {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        throw_error(
            Error::make(ErrorCode::NotRunning, "run_blocking needs a running runtime: call it inside trueasync::run")
        );
    }
    if (name.empty()) {
        const std::string_view file = where.file_name();
        name = std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line());
    }
    return TaskEvent::create(scheduler->reactor(), std::move(body), std::move(name));
}

}  // namespace trueasync::detail
