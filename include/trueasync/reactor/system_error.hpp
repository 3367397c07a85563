#pragma once

/// @file trueasync/reactor/system_error.hpp
/// What the operating system refused, and what was attempted.

#include <string>
#include <trueasync/base/status.hpp>

namespace trueasync {

/// An error with an errno. Its message reads "connect 127.0.0.1:81: ECONNREFUSED (connection refused)".
class TA_API SystemError final : public Error {
public:
    /// `attempted` says what was tried, with its object: "connect 127.0.0.1:81", "poll fd 5 for READABLE".
    static Ref<Error> make(int number, std::string attempted);

    /// The errno.
    int number() const noexcept { return number_; }

    /// The errno of any error; zero when it has none.
    static int number_of(const Error* error) noexcept;

private:
    SystemError(int number, std::string message);

    int number_;
};

/// The name of an errno: "ECONNREFUSED".
TA_API std::string errno_name(int number);

/// A failed `Status` that holds a `SystemError`.
inline Status system_failure(int number, std::string attempted) {
    return Status(SystemError::make(number, std::move(attempted)));
}

}  // namespace trueasync
