#pragma once

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/reactor/descriptor_io.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::detail {

[[noreturn]] TA_COLD inline void throw_system(int number, std::string attempted) {
    throw_error(SystemError::make(number, std::move(attempted)));
}

[[noreturn]] TA_COLD inline void throw_not_running(const char* what) {
    throw_error(Error::make(
        ErrorCode::NotRunning, std::string(what) + " needs a running runtime: call it inside trueasync::run"
    ));
}

[[noreturn]] TA_COLD inline void throw_without_io(const char* what) {
    throw_error(Error::make(
        ErrorCode::IllegalState,
        std::string(what) + " needs a reactor that knows descriptors; this one has a virtual clock only"
    ));
}

/// The reactor of this thread.
inline Reactor& need_reactor(const char* what) {
    Scheduler* scheduler = Scheduler::current();
    if (TA_UNLIKELY(scheduler == nullptr)) {
        throw_not_running(what);
    }
    return scheduler->reactor();
}

/// The reactor of this thread, with descriptors.
inline IoReactor& need_io(const char* what) {
    IoReactor* io = need_reactor(what).io();
    if (TA_UNLIKELY(io == nullptr)) {
        throw_without_io(what);
    }
    return *io;
}

/// Throws unless it went well; `describe` says what was attempted.
template <typename Describe>
inline void check(const IoOutcome& outcome, Describe&& describe) {
    if (TA_UNLIKELY(outcome.error != 0)) {
        throw_system(outcome.error, describe());
    }
    if (TA_UNLIKELY(outcome.wait != WaitResult::Ready)) {
        throw_wait_error(outcome.wait);
    }
}

/// Everything that `read` gives until it gives nothing.
template <typename Read>
std::string collect(std::size_t most, const std::string& name, Read&& read) {
    std::string all;
    for (;;) {
        const std::size_t had = all.size();
        all.resize(had + std::max<std::size_t>(had, 4096));
        const std::size_t count = read(std::as_writable_bytes(std::span(all.data() + had, all.size() - had)));
        all.resize(had + count);
        if (all.size() > most) {
            throw_system(EMSGSIZE, "read at most " + std::to_string(most) + " bytes from " + name);
        }
        if (count == 0) {
            return all;
        }
    }
}

}  // namespace trueasync::detail
