#include <cerrno>
#include <trueasync/api/await.hpp>
#include <trueasync/api/channel.hpp>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/api/run.hpp>
#include <trueasync/api/spawn.hpp>
#include <trueasync/debug/dump.hpp>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/reactor/system_error.hpp>
#include <trueasync/reactor/uv_reactor.hpp>

#include "io.hpp"

namespace trueasync {

IoError::IoError(const Error& error) : AsyncError(error), number_(SystemError::number_of(&error)) {}

CompositeException::CompositeException(const Error& error) : AsyncError(error), error_(const_cast<Error*>(&error)) {
    if (const CompositeError* composite = CompositeError::of(&error)) {
        for (const Ref<Error>& one : composite->errors()) {
            exceptions_.push_back(detail::to_exception(one));
        }
    }
}

namespace detail {

void throw_error(const Ref<Error>& error) {
    if (const auto* carried = dynamic_cast<const ExceptionError*>(error.get())) {
        std::rethrow_exception(carried->exception());
    }
    switch (error->code()) {
        case ErrorCode::Cancelled:
            throw Cancellation(error);
        case ErrorCode::Timeout:
            throw TimeoutError(*error);
        case ErrorCode::Deadlock:
            throw DeadlockError(*error);
        case ErrorCode::PoolClosed:
            throw PoolClosed(*error);
        case ErrorCode::ServiceUnavailable:
            throw ServiceUnavailable(*error);
        case ErrorCode::ThreadPoolClosed:
        case ErrorCode::ThreadFailed:
            throw ThreadPoolError(*error);
        case ErrorCode::Resolve:
            throw ResolveError(*error);
        case ErrorCode::System:
            throw IoError(*error);
        case ErrorCode::ChannelClosed:
            throw ChannelClosed(*error);
        case ErrorCode::Composite:
            throw CompositeException(*error);
        default:
            throw AsyncError(*error);
    }
}

std::exception_ptr to_exception(const Ref<Error>& error) noexcept {
    try {
        throw_error(error);
    } catch (...) {
        return std::current_exception();
    }
}

void check_spawn() {
    need_reactor("spawn");
    check(Scheduler::current()->can_spawn());
}

void spawn_or_throw(Coroutine& coroutine) {
    Ref<Coroutine> holder = Ref<Coroutine>::adopt(&coroutine);
    check(Scheduler::current()->spawn(coroutine, Scheduler::current_owner()));
    static_cast<void>(holder.detach());  // the caller's again
}

Ref<Error> to_error() noexcept {
    try {
        throw;
    } catch (const Cancellation& cancellation) {
        return cancellation.error();
    } catch (const CompositeException& composite) {
        return composite.error();
    } catch (...) {
        return ExceptionError::capture();
    }
}

void throw_wait_error(WaitResult result) {
    Ref<Error> error = Scheduler::take_wait_error();
    if (error == nullptr) {
        error = Error::make(result == WaitResult::TimedOut ? ErrorCode::Timeout : ErrorCode::Cancelled);
    }
    throw_error(error);
}

void report(const Event& about, const Status& status) noexcept {
    if (!status && !status.error()->is_cancellation()) {
        report_sink().unhandled_error(&about, *status.error());
    }
}

Timeout make_timeout(Duration limit) { return Timeout(TimerEvent::create_limit(need_reactor("timeout"), limit)); }

void run_main(RunOptions options, const std::function<void()>& body) {
    if (Runtime::current() != nullptr) {
        throw_error(
            Error::make(ErrorCode::AlreadyRunning, "trueasync::run cannot be called inside another run: use spawn")
        );
    }
    if (options.reactor == nullptr) {
        options.reactor = make_uv_reactor();
        if (options.reactor == nullptr) {
            throw_error(
                Error::make(ErrorCode::System, "the event loop could not be made: errno " + std::to_string(errno))
            );
        }
    }
    // Never destroyed: handles that outlive every run still have something to report to.
    static StreamReportSink& standard = *new StreamReportSink();
    ReportSink* const before = set_report_sink(options.sink != nullptr ? options.sink : &standard);
    Ref<Error> outcome;
    {
        Runtime runtime(std::move(options.reactor), options.settings);
        if (Status status = runtime.start(); !status) {
            outcome = status.take();
        } else {
            Ref<Error> error;
            try {
                body();
            } catch (...) {
                error = to_error();
            }
            outcome = runtime.finish(std::move(error));
        }
    }
    set_report_sink(before != nullptr ? before : &standard);
    if (outcome != nullptr && !outcome->is_cancellation()) {
        throw_error(outcome);
    }
}

}  // namespace detail

Coroutine& current() {
    Coroutine* coroutine = Scheduler::current_coroutine();
    if (coroutine == nullptr) {
        detail::throw_error(Error::make(ErrorCode::NotInCoroutine));
    }
    return *coroutine;
}

void shutdown() {
    if (Runtime* runtime = Runtime::current()) {
        runtime->shutdown();
    }
}

}  // namespace trueasync
