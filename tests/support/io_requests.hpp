#pragma once

/// @file support/io_requests.hpp
/// Handles of every kind, and what comes of their requests.

#include <string>
#include <support/descriptors.hpp>
#include <trueasync/reactor/io.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {

class IoRequestTest : public BackendTest {
protected:
    /// What a request ends with: its bytes, or the name of its errno.
    static std::string outcome(const Ref<IoRequest>& request) {
        const WaitResult result = wait_for(*request, Deadline::after(std::chrono::seconds(5)));
        if (result == WaitResult::TimedOut) {
            return "nothing came";
        }
        if (result != WaitResult::Ready) {
            const Ref<Error> error = Scheduler::take_wait_error();
            return errno_name(SystemError::number_of(error.get()));
        }
        return std::string(request->text());
    }
};

struct IoPair {
    Ref<IoEvent> first;
    Ref<IoEvent> second;
};

inline IoPair wrap(
    IoReactor& reactor, FdPair pair, IoKind kind, IoState first = IoState::Both, IoState second = IoState::Both
) {
    return {
        IoEvent::create(reactor, pair.first.release(), kind, first),
        IoEvent::create(reactor, pair.second.release(), kind, second)};
}

inline IoPair pipe_pair(IoReactor& reactor) {
    return wrap(reactor, make_pipe(), IoKind::Pipe, IoState::Readable, IoState::Writable);
}

}  // namespace trueasync::testing
