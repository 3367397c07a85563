#pragma once

/// @file trueasync/base/place.hpp
/// A place in a program's source: what reports and dumps print.

#include <bit>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <trueasync/base/export.hpp>
#include <utility>

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

/// A place that is noted often and looked at rarely: one of this program is a word, whose texts are measured when somebody asks. Of any
/// other place it keeps a copy.
class TA_API PlaceNote {
public:
    PlaceNote() noexcept = default;
    PlaceNote(const std::source_location& where) noexcept : word_(std::bit_cast<std::uintptr_t>(where)) {}
    PlaceNote(const Place& place) noexcept;
    PlaceNote(const PlaceNote& other) noexcept : word_(other.is_own() ? 0 : other.word_) {
        if (TA_UNLIKELY(other.is_own())) {
            *this = PlaceNote(other.get());
        }
    }
    PlaceNote(PlaceNote&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    PlaceNote& operator=(PlaceNote other) noexcept {
        std::swap(word_, other.word_);
        return *this;
    }
    ~PlaceNote() {
        if (TA_UNLIKELY(is_own())) {
            drop();
        }
    }

    /// Notes a place in a note that is empty.
    void fill(PlaceNote&& other) noexcept { word_ = std::exchange(other.word_, 0); }
    void fill(const std::source_location& where) noexcept { word_ = std::bit_cast<std::uintptr_t>(where); }

    Place get() const noexcept;
    /// Its destructor has nothing to do.
    bool is_trivial() const noexcept { return !is_own(); }

private:
    static_assert(
        sizeof(std::source_location) == sizeof(std::uintptr_t) && std::is_trivially_copyable_v<std::source_location>,
        "a place of the program is a pointer to what the compiler has laid down"
    );
    static constexpr std::uintptr_t kOwn = 1;

    bool is_own() const noexcept { return (word_ & kOwn) != 0; }
    TA_COLD void drop() noexcept;

    std::uintptr_t word_ = 0;  // a `std::source_location`, or a `Place` that is ours
};

/// `file:line`, or `unknown`.
TA_API std::string to_string(const Place& place);

}  // namespace trueasync
