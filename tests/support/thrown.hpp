#pragma once

/// @file support/thrown.hpp
/// What was thrown, as a text.

#include <exception>
#include <string>
#include <trueasync/api/exceptions.hpp>
#include <vector>

namespace trueasync::testing {

using Steps = std::vector<std::string>;

inline std::string what(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        return error.what();
    } catch (const Cancellation& cancellation) {
        return "cancelled: " + cancellation.message();
    }
}

/// What `body` throws; `nothing` when it does not.
template <typename F>
std::string thrown_by(F&& body) {
    try {
        body();
    } catch (...) {
        return what(std::current_exception());
    }
    return "nothing";
}

}  // namespace trueasync::testing
