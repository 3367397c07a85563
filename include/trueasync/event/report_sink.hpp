#pragma once

/// @file trueasync/event/report_sink.hpp
/// Where warnings and reports go: one replaceable place.

#include <span>
#include <string_view>
#include <trueasync/base/error.hpp>

namespace trueasync {

class Event;

enum class Warning : std::uint8_t {
    UnusedResult,      ///< a result was produced and nobody asked for it
    ClosedEvent,       ///< someone waits for an event that can no longer fire
    ReleasedPastZero,  ///< an object was released once too often
    UnhandledFuture,   ///< a future failed and nobody took the error
    CallbackThrew,     ///< a callback, microtask destructor or switch handler threw; it was contained
    WrongUse,          ///< a call that cannot return an error did nothing
};

/// Receives what the runtime has to tell a person. The default writes to standard error (room `debug/`); an
/// embedding runtime replaces it.
///
/// Thread rule: set per thread; called on the thread concerned. An implementation must not suspend nor throw.
class TA_API ReportSink {
public:
    virtual ~ReportSink() = default;

    virtual void warning(Warning kind, const Event* event, std::string_view text) noexcept = 0;

    /// An error that nobody took. `event` may be null (a microtask).
    virtual void unhandled_error(const Event* event, const Error& error) noexcept = 0;

    /// Nothing can wake these coroutines any more; they are about to be cancelled.
    virtual void deadlock(std::span<const Event* const> waiting, std::size_t active_events) noexcept = 0;

    /// The graceful shutdown is over and these coroutines have not stopped.
    virtual void did_not_stop(std::span<const Event* const> coroutines) noexcept = 0;
};

/// The sink of this thread; one that drops everything when none was set.
TA_API ReportSink& report_sink() noexcept;

/// Replaces the sink of this thread (null: drop everything) and returns the one before (null: none).
TA_API ReportSink* set_report_sink(ReportSink* sink) noexcept;

}  // namespace trueasync
