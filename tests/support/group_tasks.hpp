#pragma once

/// @file support/group_tasks.hpp
/// Tasks for groups and sets, and what came of them.

#include <stdexcept>
#include <support/thrown.hpp>
#include <trueasync/api/await.hpp>
#include <trueasync/api/task_group.hpp>

namespace trueasync::testing {

/// The texts of a `CompositeException`.
template <typename F>
Steps all_thrown_by(F&& body) {
    Steps texts;
    try {
        body();
    } catch (const CompositeException& composite) {
        for (const std::exception_ptr& one : composite.exceptions()) {
            texts.push_back(what(one));
        }
    }
    return texts;
}

template <typename Results>
std::string show(const Results& results) {
    std::string text;
    for (const auto& [key, value] : results) {
        text += to_string(key) + "=" + std::to_string(value) + " ";
    }
    return text;
}

/// A task that returns `value` after some turns.
inline auto after(int turns, int value) {
    return [turns, value] {
        for (int i = 0; i < turns; ++i) {
            suspend();
        }
        return value;
    };
}

inline auto failing(int turns, const char* text) {
    return [turns, text]() -> int {
        for (int i = 0; i < turns; ++i) {
            suspend();
        }
        throw std::runtime_error(text);
    };
}

}  // namespace trueasync::testing
