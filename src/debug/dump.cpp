#include <trueasync/debug/dump.hpp>

#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

namespace {

const char* state_of(const Coroutine& coroutine) {
    if (coroutine.is_finished()) {
        return "finished";
    }
    if (coroutine.is_running()) {
        return "running";
    }
    if (!coroutine.is_started()) {
        return "not started";
    }
    return coroutine.is_queued() ? "ready" : "waiting";
}

}  // namespace

std::string describe(const Coroutine& coroutine) {
    std::string text = "Coroutine " + std::to_string(coroutine.id());
    if (const std::string name = coroutine.name(); !name.empty()) {
        text.append(" '").append(name).append("'");
    }
    text.append(" (").append(state_of(coroutine)).append(")\n");
    text.append("  spawn: ").append(to_string(coroutine.spawned_at())).append("\n");
    text.append("  suspend: ").append(to_string(coroutine.suspended_at())).append("\n");
    text.append("  waiting for:\n");
    const std::vector<std::string> awaited = coroutine.awaiting();
    if (awaited.empty()) {
        text.append("    <nothing>\n");
    }
    for (const std::string& line : awaited) {
        text.append("    - ").append(line).append("\n");
    }
    return text;
}

std::string deadlock_report(std::span<const Event* const> waiting, std::size_t active_events) {
    std::string text = "=== DEADLOCK REPORT START ===\n";
    text.append(
        "Coroutines waiting: " + std::to_string(waiting.size()) + ", active_events: " + std::to_string(active_events) +
        "\n"
    );
    for (const Event* event : waiting) {
        text.append(describe(static_cast<const Coroutine&>(*event)));
    }
    return text.append("=== DEADLOCK REPORT END   ===\n");
}

std::string dump() {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        return "no runtime on this thread\n";
    }
    std::string text = "Coroutines: " + std::to_string(scheduler->alive_count()) +
                       ", ready: " + std::to_string(detail::hot.queue.size()) +
                       ", active_events: " + std::to_string(scheduler->reactor().active().visible) + "\n";
    for (const Coroutine& coroutine : scheduler->alive()) {
        text.append(describe(coroutine));
    }
    return text;
}

void StreamReportSink::warning(Warning /*kind*/, const Event* /*event*/, std::string_view text) noexcept {
    std::fprintf(stream_, "trueasync: warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

void StreamReportSink::unhandled_error(const Event* event, const Error& error) noexcept {
    const std::string who = event != nullptr ? event->info() : std::string("the event loop");
    std::fprintf(stream_, "trueasync: unhandled error in %s: %s\n", who.c_str(), error.describe().c_str());
}

void StreamReportSink::deadlock(std::span<const Event* const> waiting, std::size_t active_events) noexcept {
    std::fputs(deadlock_report(waiting, active_events).c_str(), stream_);
}

void StreamReportSink::did_not_stop(std::span<const Event* const> coroutines) noexcept {
    std::fprintf(stream_, "trueasync: %zu coroutines did not stop and were abandoned:\n", coroutines.size());
    for (const Event* event : coroutines) {
        std::fputs(describe(static_cast<const Coroutine&>(*event)).c_str(), stream_);
    }
}

}  // namespace trueasync
