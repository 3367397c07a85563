#pragma once

/// @file trueasync/api/iterate.hpp
/// Doing something with each element of a range, several at a time.

#include <ranges>
#include <source_location>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/structured/iterate.hpp>

namespace trueasync {

namespace detail {

template <typename Range, typename F>
class RangeIteration final : public Iteration {
public:
    RangeIteration(Range& range, F& function)
        : next_(std::ranges::begin(range)), end_(std::ranges::end(range)), function_(function) {}

    std::unique_ptr<IterationItem> next(Ref<Error>& error) override {
        try {
            if (next_ == end_) {
                return nullptr;
            }
            auto item = std::make_unique<Item>(function_, next_);
            ++next_;
            return item;
        } catch (...) {
            error = to_error();
            return nullptr;
        }
    }

private:
    using Iterator = std::ranges::iterator_t<Range>;

    class Item final : public IterationItem {
    public:
        Item(F& function, Iterator place) : function_(function), place_(std::move(place)) {}
        bool call(Ref<Error>& error) override {
            try {
                if constexpr (std::is_same_v<decltype(function_(*place_)), bool>) {
                    return function_(*place_);
                } else {
                    function_(*place_);
                }
            } catch (...) {
                error = to_error();
            }
            return true;
        }

    private:
        F& function_;
        Iterator place_;
    };

    Iterator next_;
    std::ranges::sentinel_t<Range> end_;
    F& function_;
};

}  // namespace detail

/// Calls `function` for each element and returns when all is done. May suspend. When a call suspends, the next element is begun, up to
/// `settings.concurrency` at a time. A function that returns `bool` ends the iteration with false. What one throws is thrown here, after the
/// others were cancelled.
///
/// @snippet unit/structured/iterate_test.cpp  iterate
template <std::ranges::forward_range Range, typename F>
void iterate(
    Range&& range,
    F function,
    const IterateSettings& settings = {},
    std::source_location where = std::source_location::current()
) {
    detail::RangeIteration<std::remove_reference_t<Range>, F> iteration(range, function);
    detail::check(iterate(static_cast<Iteration&>(iteration), settings, ScopeEvent::current(), where));
}

}  // namespace trueasync
