#pragma once

/// @file trueasync/base/status.hpp
/// Success, or the error that explains why not.

#include <trueasync/base/error.hpp>
#include <utility>

namespace trueasync {

/// What every fallible function below the front doors returns. Costs one pointer; success allocates nothing.
class [[nodiscard]] Status {
public:
    constexpr Status() noexcept = default;
    explicit Status(Ref<Error> error) noexcept : error_(std::move(error)) {}

    static Status success() noexcept { return {}; }
    static Status failure(ErrorCode code, std::string message = {}) {
        return Status(Error::make(code, std::move(message)));
    }

    bool ok() const noexcept { return error_ == nullptr; }
    explicit operator bool() const noexcept { return ok(); }

    Error* error() const noexcept { return error_.get(); }
    Ref<Error> take() noexcept { return std::move(error_); }
    bool is(ErrorCode code) const noexcept { return error_ != nullptr && error_->code() == code; }

    /// Says in the code that a failure is of no consequence here.
    void ignore() const noexcept {}

private:
    Ref<Error> error_;
};

}  // namespace trueasync
