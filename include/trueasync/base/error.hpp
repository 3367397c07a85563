#pragma once

/// @file trueasync/base/error.hpp
/// The error that travels below the front doors: code + message + previous.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <trueasync/base/export.hpp>
#include <trueasync/base/ref.hpp>
#include <vector>

namespace trueasync {

enum class ErrorCode : std::uint8_t {
#define TA_ERROR(name, text) name,
#include <trueasync/base/error_codes.def>
#undef TA_ERROR
};

/// The default text of a code; never empty.
TA_API std::string_view to_string(ErrorCode code) noexcept;

/// Why a coroutine was cancelled.
enum class CancelReason : std::uint8_t { None, UserRequest, Deadline, Deadlock, Shutdown, Abandoned, Token };

TA_API std::string_view to_string(CancelReason reason) noexcept;

/// A counted, immutable failure. Front doors map it to classes of their own, once.
///
/// A subclass may carry what only its front door understands (a C++ exception, a host's exception object).
/// Thread rule: belongs to one thread at a time; counts are plain integers.
class TA_API Error {
public:
    static Ref<Error> make(ErrorCode code, std::string message = {}, Ref<Error> previous = {});
    static Ref<Error> cancellation(CancelReason reason, std::string message = {}, Ref<Error> previous = {});

    /// For a failure on the way out of another: hangs `previous` behind the last of `error`'s own chain, and returns `error`; the one that is
    /// there when the other is null. Only for errors that nobody else holds yet.
    static Ref<Error> chain(Ref<Error> error, Ref<Error> previous);

    Error(const Error&) = delete;
    Error& operator=(const Error&) = delete;

    ErrorCode code() const noexcept { return code_; }
    CancelReason reason() const noexcept { return reason_; }
    bool is_cancellation() const noexcept { return code_ == ErrorCode::Cancelled; }
    const std::string& message() const noexcept { return message_; }
    Error* previous() const noexcept { return previous_.get(); }

    /// The message and those of all previous errors, separated by "; caused by: ".
    std::string describe() const;

    void add_ref() noexcept { ++ref_count_; }
    /// How many hold it. A host shows what it carries to a cycle collector only when nobody else does.
    std::uint32_t ref_count() const noexcept { return ref_count_; }
    void release() noexcept {
        if (--ref_count_ == 0) {
            destroy();
        }
    }

protected:
    Error(ErrorCode code, std::string message, Ref<Error> previous);
    virtual ~Error() = default;

private:
    TA_COLD void destroy() noexcept;  // out of line: errors are rare, and what holds one is everywhere

    std::uint32_t ref_count_ = 1;
    ErrorCode code_;
    CancelReason reason_ = CancelReason::None;
    std::string message_;
    Ref<Error> previous_;
};

/// Several failures at once, in the order they came.
class TA_API CompositeError final : public Error {
public:
    static Ref<Error> make(std::vector<Ref<Error>> errors, std::string message = {});

    const std::vector<Ref<Error>>& errors() const noexcept { return errors_; }

    /// Those of `error` if it is one; null if not.
    static const CompositeError* of(const Error* error) noexcept {
        return error != nullptr && error->code() == ErrorCode::Composite ? static_cast<const CompositeError*>(error)
                                                                         : nullptr;
    }

private:
    CompositeError(std::vector<Ref<Error>> errors, std::string message);

    std::vector<Ref<Error>> errors_;
};

/// A C++ exception on its way through rooms that do not throw.
class TA_API ExceptionError final : public Error {
public:
    /// Wraps the exception now being handled. Call it inside `catch` only.
    static Ref<Error> capture();

    const std::exception_ptr& exception() const noexcept { return exception_; }

private:
    ExceptionError(std::exception_ptr exception, std::string message);

    std::exception_ptr exception_;
};

}  // namespace trueasync
