#pragma once

/// @file trueasync/base/place.hpp
/// A place in a program's source: what reports and dumps print.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// File, line and function. The texts must outlive the place: string literals, or strings the host keeps.
struct Place {
    std::string_view file;
    std::uint32_t line = 0;
    std::string_view function;

    Place() = default;
    Place(std::string_view file_name, std::uint32_t line_number, std::string_view function_name = {})
        : file(file_name), line(line_number), function(function_name) {}
    Place(const std::source_location& where)
        : file(where.file_name()), line(where.line()), function(where.function_name()) {}

    bool is_known() const noexcept { return line != 0 && !file.empty(); }
};

/// `file:line`, or `unknown`.
TA_API std::string to_string(const Place& place);

}  // namespace trueasync
