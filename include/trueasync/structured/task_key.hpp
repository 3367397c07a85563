#pragma once

/// @file trueasync/structured/task_key.hpp
/// The name of a task in its group.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace trueasync {

/// A number or a text. Numbers cost nothing.
class TaskKey {
public:
    TaskKey() noexcept = default;
    template <std::integral I>
    TaskKey(I number) noexcept : number_(static_cast<std::int64_t>(number)) {}
    TaskKey(std::string_view text) : text_(std::make_unique<std::string>(text)) {}
    TaskKey(const char* text) : TaskKey(std::string_view(text)) {}
    TaskKey(const std::string& text) : TaskKey(std::string_view(text)) {}

    TaskKey(TaskKey&&) noexcept = default;
    TaskKey& operator=(TaskKey&&) noexcept = default;
    TaskKey(const TaskKey& other) : number_(other.number_) {
        if (other.text_ != nullptr) {
            text_ = std::make_unique<std::string>(*other.text_);
        }
    }
    TaskKey& operator=(const TaskKey& other) { return *this = TaskKey(other); }
    ~TaskKey() = default;

    bool is_number() const noexcept { return text_ == nullptr; }
    std::int64_t number() const noexcept { return number_; }
    std::string_view text() const noexcept { return text_ != nullptr ? std::string_view(*text_) : std::string_view(); }

    friend bool operator==(const TaskKey& a, const TaskKey& b) noexcept {
        return a.is_number() == b.is_number() && (a.is_number() ? a.number_ == b.number_ : a.text() == b.text());
    }

    struct Hash {
        std::size_t operator()(const TaskKey& key) const noexcept {
            return key.is_number() ? std::hash<std::int64_t>()(key.number_) : std::hash<std::string_view>()(key.text());
        }
    };

private:
    std::int64_t number_ = 0;
    std::unique_ptr<std::string> text_;
};

/// As messages show it: `"text"` or `5`.
inline std::string to_string(const TaskKey& key) {
    return key.is_number() ? std::to_string(key.number()) : "\"" + std::string(key.text()) + "\"";
}

}  // namespace trueasync
