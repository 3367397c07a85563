#include <trueasync/api/remote_future.hpp>
#include <trueasync/api/thread.hpp>
#include <trueasync/api/thread_pool.hpp>
#include <trueasync/debug/dump.hpp>

#include "io.hpp"

namespace trueasync::detail {

/// On a thread that the library has started nobody else has said where reports go.
void use_standard_sink() {
    static thread_local StreamReportSink sink;
    set_report_sink(&sink);
}

Ref<ThreadEvent> make_thread(std::unique_ptr<ThreadBody> body, std::string name) {
    Status status;
    Ref<ThreadEvent> event =
        ThreadEvent::create(need_reactor("spawn_thread"), std::move(body), std::move(name), status);
    check(status);
    return event;
}

void add_finally(ThreadEvent& thread, std::function<void()> function, std::source_location where) {
    thread.add_finally(make_finally(std::move(function)), Place(where));
}

Reactor& remote_reactor() { return need_reactor("remote_future"); }

std::shared_ptr<ThreadPoolCore> make_thread_pool(ThreadPoolOptions options) {
    ThreadPoolSettings settings;
    settings.workers = options.workers;
    settings.queue_size = options.queue_size;
    settings.has_runtime = options.coroutines;
    settings.concurrency = options.concurrency;
    settings.name = std::move(options.name);
    settings.bootloader = [bootloader = std::move(options.bootloader)]() -> Ref<Error> {
        use_standard_sink();
        try {
            if (bootloader) {
                bootloader();
            }
        } catch (...) {
            return to_error();
        }
        return {};
    };
    Status status;
    std::shared_ptr<ThreadPoolCore> core = ThreadPoolCore::create(std::move(settings), status);
    check(status);
    return core;
}

}  // namespace trueasync::detail
