#pragma once

/// @file trueasync/debug/dump.hpp
/// Who waits for what.

#include <cstdio>
#include <string>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/scheduler.hpp>

namespace trueasync {

/// Every unfinished coroutine of this thread: state, where it was spawned, where it is suspended and what it waits for. The text
/// of a deadlock report, at any time. Never suspends. Without a runtime it says so.
TA_API std::string dump();

/// The block about one coroutine.
TA_API std::string describe(const Coroutine& coroutine);

/// The text of the report about coroutines that nothing can wake any more.
TA_API std::string deadlock_report(std::span<const Event* const> waiting, std::size_t active_events);

/// The sink a program gets when it sets none: everything goes to one stream, standard error by default.
class TA_API StreamReportSink : public ReportSink {
public:
    explicit StreamReportSink(std::FILE* stream = stderr) noexcept : stream_(stream) {}

    void warning(Warning kind, const Event* event, std::string_view text) noexcept override;
    void unhandled_error(const Event* event, const Error& error) noexcept override;
    void deadlock(std::span<const Event* const> waiting, std::size_t active_events) noexcept override;
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override;

private:
    std::FILE* stream_;
};

}  // namespace trueasync
