#include <trueasync/event/report_sink.hpp>

namespace trueasync {

namespace {

class SilentSink final : public ReportSink {
public:
    void warning(Warning, const Event*, std::string_view) noexcept override {}
    void unhandled_error(const Event*, const Error&) noexcept override {}
    void deadlock(std::span<const Event* const>, std::size_t) noexcept override {}
    void did_not_stop(std::span<const Event* const>) noexcept override {}
};

thread_local constinit ReportSink* current = nullptr;

}  // namespace

ReportSink& report_sink() noexcept {
    static SilentSink silent;
    return current != nullptr ? *current : silent;
}

ReportSink* set_report_sink(ReportSink* sink) noexcept { return std::exchange(current, sink); }

}  // namespace trueasync
