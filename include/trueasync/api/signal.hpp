#pragma once

/// @file trueasync/api/signal.hpp
/// Waiting for signals: Ctrl-C and its relatives.

#include <initializer_list>
#include <source_location>
#include <trueasync/api/await.hpp>
#include <trueasync/reactor/signal.hpp>
#include <vector>

namespace trueasync {

/// Waits until the process gets the signal, and returns its number. May suspend.
///
/// Only meanwhile the signal has no other effect: before and after, it does what it did (SIGINT ends the process, for example). For
/// more than one wait use `Signals`. Throws `TimeoutError` at the limit, `Cancellation`, and `AsyncError` (`System`) for a signal that
/// cannot be waited for.
/// Cancel safety: everyone who waits for a signal gets it; nothing is taken from others.
///
/// @snippet unit/api/signal_test.cpp  signal
TA_API int signal(int number, const Limit& limit = {}, std::source_location where = std::source_location::current());

/// The same for the first of several.
TA_API int signal(
    std::initializer_list<int> numbers,
    const Limit& limit = {},
    std::source_location where = std::source_location::current()
);

/// Catches signals for as long as it lives, so that none is missed between two waits.
///
/// Thread rule: the thread of the runtime it was made in, which it may outlive.
///
/// @snippet unit/api/signal_test.cpp  signals
class TA_API Signals {
public:
    /// Throws `AsyncError` outside `run`, and for a signal that cannot be waited for.
    explicit Signals(std::initializer_list<int> numbers);
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals();

    /// The next one, or one that has come since the last call; several of a kind count as one. May suspend. Throws like `signal`. If
    /// several coroutines wait, each of them gets it.
    int next(const Limit& limit = {}, std::source_location where = std::source_location::current());

private:
    void show() noexcept;

    std::vector<Ref<SignalEvent>> events_;
    std::vector<int> fired_;  // together with the one that was returned
    std::size_t waiting_ = 0;
};

}  // namespace trueasync
