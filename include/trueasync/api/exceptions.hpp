#pragma once

/// @file trueasync/api/exceptions.hpp
/// What the C++ front door throws.

#include <stdexcept>
#include <string>
#include <trueasync/base/error.hpp>
#include <trueasync/runtime/scheduler.hpp>

namespace trueasync {

/// Thrown at a suspension point of a cancelled coroutine. Not a `std::exception`, on purpose: code that catches every
/// ordinary error and goes on does not swallow a request to stop. Catch it by name or with `catch (...)`, clean up,
/// rethrow. One that leaves a coroutine ends it quietly.
class TA_API Cancellation {
public:
    explicit Cancellation(Ref<Error> error) noexcept : error_(std::move(error)) {}

    CancelReason reason() const noexcept { return error_->reason(); }
    const std::string& message() const noexcept { return error_->message(); }
    const Ref<Error>& error() const noexcept { return error_; }

private:
    Ref<Error> error_;
};

/// Wrong use and failures of the runtime; `code` says which.
class TA_API AsyncError : public std::runtime_error {
public:
    explicit AsyncError(const Error& error) : std::runtime_error(error.describe()), code_(error.code()) {}
    ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

/// The operating system refused something; the message says what was attempted and names the errno.
class TA_API IoError final : public AsyncError {
public:
    explicit IoError(const Error& error);
    /// The errno.
    int number() const noexcept { return number_; }

private:
    int number_;
};

/// A name could not be looked up.
class TA_API ResolveError final : public AsyncError {
public:
    explicit ResolveError(const Error& error);
    /// The number that `getaddrinfo` returned: `EAI_AGAIN` is worth another try, `EAI_NONAME` is not.
    int eai() const noexcept { return eai_; }

private:
    int eai_;
};

/// A deadline passed, or a `timeout` fired.
class TA_API TimeoutError final : public AsyncError {
public:
    using AsyncError::AsyncError;
};

/// Thrown by `run` when coroutines waited for each other, or for nothing. The report was printed before.
class TA_API DeadlockError final : public AsyncError {
public:
    using AsyncError::AsyncError;
};

/// A pool was closed before it gave anything.
class TA_API PoolClosed final : public AsyncError {
public:
    using AsyncError::AsyncError;
};

/// The circuit breaker of a pool is open.
class TA_API ServiceUnavailable final : public AsyncError {
public:
    using AsyncError::AsyncError;
};

/// Several failures at once: of tasks, or of handlers for an end.
class TA_API CompositeException final : public AsyncError {
public:
    explicit CompositeException(const Error& error);
    /// In the order they came; for `std::rethrow_exception`.
    const std::vector<std::exception_ptr>& exceptions() const noexcept { return exceptions_; }
    const Ref<Error>& error() const noexcept { return error_; }

private:
    Ref<Error> error_;
    std::vector<std::exception_ptr> exceptions_;
};

/// A thread pool is closed, or threads could not be had.
class TA_API ThreadPoolError final : public AsyncError {
public:
    using AsyncError::AsyncError;
};

namespace detail {

/// The one place where errors become exceptions: rethrows a carried C++ exception, else throws one of the above.
[[noreturn]] TA_API void throw_error(const Ref<Error>& error);

/// What an error becomes when it is thrown.
TA_API std::exception_ptr to_exception(const Ref<Error>& error) noexcept;

/// The one place where exceptions become errors. Call it inside `catch` only.
TA_API Ref<Error> to_error() noexcept;

/// After a wait that did not end with `Ready`.
[[noreturn]] TA_API TA_COLD void throw_wait_error(WaitResult result);

inline void check(WaitResult result) {
    if (TA_UNLIKELY(result != WaitResult::Ready)) {
        throw_wait_error(result);
    }
}

inline void check(const Status& status) {
    if (TA_UNLIKELY(!status)) {
        throw_error(Ref<Error>(status.error()));
    }
}

/// The same for destructors: reports it, unless it is a cancellation.
TA_API void report(const Event& about, const Status& status) noexcept;

}  // namespace detail

}  // namespace trueasync
