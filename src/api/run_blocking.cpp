#include <trueasync/api/run_blocking.hpp>

#include <string_view>

#include "io.hpp"

namespace trueasync::detail {

Ref<TaskEvent> make_task(std::unique_ptr<TaskBody> body, std::string name, std::source_location where) {
    Reactor& reactor = need_reactor("run_blocking");
    if (name.empty()) {
        const std::string_view file = where.file_name();
        name = std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line());
    }
    return TaskEvent::create(reactor, std::move(body), std::move(name));
}

}  // namespace trueasync::detail
