#pragma once

/// @file trueasync/api/await_many.hpp
/// Waiting for several coroutines, futures or events at once.

#include <exception>
#include <optional>
#include <ranges>
#include <source_location>
#include <trueasync/api/future.hpp>
#include <trueasync/sync/multi_wait.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace trueasync {

namespace detail {

/// What can be awaited, its event, and the value that it has afterwards (`Nothing` where there is none).
template <typename X>
struct Awaited;

template <typename T>
struct Awaited<Handle<T>> {
    using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;
    static Event& event(const Handle<T>& handle) noexcept { return handle.coroutine(); }
    static Value take(const Handle<T>& handle) {
        if constexpr (std::is_void_v<T>) {
            take_value(handle.coroutine());
            return {};
        } else {
            return take_value(handle.coroutine());
        }
    }
};

template <typename T>
struct Awaited<Future<T>> {
    using Value = FutureValue<T>;
    static Event& event(const Future<T>& future) noexcept { return future.state(); }
    static Value take(const Future<T>& future) {
        if constexpr (std::is_copy_constructible_v<Value>) {
            return future.state().get();
        } else {
            return std::move(future.state().get());
        }
    }
};

template <typename E>
struct Awaited<Ref<E>> {
    using Value = Nothing;
    static Event& event(const Ref<E>& event) noexcept { return *event; }
    static Value take(const Ref<E>& /*event*/) { return {}; }
};

template <typename Range>
using AwaitedIn = Awaited<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>;

/// Adds everything, waits, throws what ended the wait early.
template <typename Range>
void wait_many(MultiWait& wait, Range&& range, const Limit& limit, std::source_location where) {
    for (const auto& item : range) {
        check(wait.add(AwaitedIn<Range>::event(item)));
    }
    check(wait.wait(limit, where));
}

inline void throw_first(const MultiWait& wait) {
    if (Error* error = wait.first_error()) {
        throw_error(Ref<Error>(error));
    }
}

}  // namespace detail

/// How one of several ended; neither: it is still pending.
template <typename T>
struct Outcome {
    std::optional<T> value;
    std::exception_ptr error;
};

/// Which of several it was, counted from 0, and its value.
template <typename T>
struct Winner {
    std::size_t number;
    T value;
};

/// All values, in the order of `range`. The first failure is thrown as soon as it comes; the others go on.
///
/// @snippet unit/api/await_many_test.cpp  await_all
template <std::ranges::forward_range Range>
auto await_all(Range&& range, const Limit& limit = {}, std::source_location where = std::source_location::current()) {
    using A = detail::AwaitedIn<Range>;
    MultiWait wait(MultiWait::kAll, true);
    detail::wait_many(wait, range, limit, where);
    detail::throw_first(wait);
    std::vector<typename A::Value> values;
    for (const auto& item : range) {
        values.push_back(A::take(item));
    }
    return values;
}

/// The same for a few of different types: `auto [user, orders] = await_all(spawn(load_user), spawn(load_orders));`
template <typename... X>
    requires(sizeof...(X) > 1) && (requires { typename detail::Awaited<X>::Value; } && ...)
auto await_all(const X&... items) {
    MultiWait wait(MultiWait::kAll, true);
    (detail::check(wait.add(detail::Awaited<X>::event(items))), ...);
    detail::check(wait.wait());
    detail::throw_first(wait);
    return std::tuple<typename detail::Awaited<X>::Value...>(detail::Awaited<X>::take(items)...);
}

/// Waits until all are through, however they end, and says how.
template <std::ranges::forward_range Range>
auto await_settled(
    Range&& range, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    using A = detail::AwaitedIn<Range>;
    MultiWait wait;
    detail::wait_many(wait, range, limit, where);
    std::vector<Outcome<typename A::Value>> outcomes;
    for (const auto& item : range) {
        Error* error = wait.error(outcomes.size());
        auto& outcome = outcomes.emplace_back();
        if (error != nullptr) {
            outcome.error = detail::to_exception(Ref<Error>(error));
        } else {
            outcome.value.emplace(A::take(item));
        }
    }
    return outcomes;
}

/// The first `enough` to succeed, in the order they came; all that succeeded before the caller went on are there, so it may be more,
/// and fewer when there are no more. The first failure is thrown.
template <std::ranges::forward_range Range>
auto await_any_of(
    std::size_t enough,
    Range&& range,
    const Limit& limit = {},
    std::source_location where = std::source_location::current()
) {
    using A = detail::AwaitedIn<Range>;
    std::vector<Winner<typename A::Value>> winners;
    if (enough == 0) {
        return winners;
    }
    MultiWait wait(enough, true);
    detail::wait_many(wait, range, limit, where);
    detail::throw_first(wait);
    for (const std::size_t number : wait.order()) {
        winners.push_back({number, A::take(*std::ranges::next(std::ranges::begin(range), number))});
    }
    return winners;
}

/// The first to end, well or not: its value, or its error is thrown. Nothing for an empty range.
template <std::ranges::forward_range Range>
auto await_any(Range&& range, const Limit& limit = {}, std::source_location where = std::source_location::current()) {
    using W = Winner<typename detail::AwaitedIn<Range>::Value>;
    auto winners = await_any_of(1, std::forward<Range>(range), limit, where);
    return winners.empty() ? std::optional<W>() : std::optional<W>(std::move(winners.front()));
}

/// The first to succeed; failures do not count. Throws the last failure when all have failed. Nothing for an empty range.
template <std::ranges::forward_range Range>
auto await_first_success(
    Range&& range, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    using A = detail::AwaitedIn<Range>;
    MultiWait wait(1);
    detail::wait_many(wait, range, limit, where);
    std::optional<Winner<typename A::Value>> winner;
    for (const std::size_t number : wait.order()) {
        if (wait.error(number) == nullptr) {
            winner.emplace(number, A::take(*std::ranges::next(std::ranges::begin(range), number)));
            return winner;
        }
    }
    if (!wait.order().empty()) {
        detail::throw_error(Ref<Error>(wait.error(wait.order().back())));
    }
    return winner;
}

}  // namespace trueasync
