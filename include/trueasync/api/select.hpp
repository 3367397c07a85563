#pragma once

/// @file trueasync/api/select.hpp
/// The first of several: a value comes, a value goes, an event fires, time passes.

#include <array>
#include <optional>
#include <trueasync/api/channel.hpp>
#include <trueasync/sync/select.hpp>
#include <tuple>

namespace trueasync {

namespace detail {

struct SelectArm {
    std::source_location where;
};

struct DoNothing {
    template <typename... A>
    void operator()(A&&... /*anything*/) const noexcept {}
};

template <typename T, typename F, typename C>
struct RecvArm : SelectArm {
    RecvArm(Channel<T> from, F on_value, C on_closed, std::source_location at)
        : SelectArm{at},
          channel(std::move(from)),
          value_handler(std::move(on_value)),
          closed_handler(std::move(on_closed)),
          select_case(channel.event()) {}

    void done() { value_handler(channel.event().take_claimed()); }
    bool failed(const Ref<Error>& /*error*/) {
        if constexpr (std::is_same_v<C, std::nullptr_t>) {
            return false;
        } else {
            closed_handler();
            return true;
        }
    }

    Channel<T> channel;
    F value_handler;
    C closed_handler;
    ReceiveCase select_case;
};

template <typename T, typename F>
struct SendArm : SelectArm {
    SendArm(Channel<T> to, T what, F on_sent, std::source_location at)
        : SelectArm{at},
          channel(std::move(to)),
          value(std::move(what)),
          handler(std::move(on_sent)),
          select_case(channel.event(), value) {}

    void done() { handler(); }
    static bool failed(const Ref<Error>& /*error*/) { return false; }

    Channel<T> channel;
    T value;
    F handler;
    SendCase select_case;
};

template <typename F>
struct EventArm : SelectArm {
    EventArm(Ref<Event> of, F on_fired, std::source_location at)
        : SelectArm{at}, event(std::move(of)), handler(std::move(on_fired)), select_case(*event) {}

    void done() { handler(); }
    static bool failed(const Ref<Error>& /*error*/) { return false; }

    Ref<Event> event;
    F handler;
    EventCase select_case;
};

template <typename A>
concept IsSelectArm = std::is_base_of_v<SelectArm, std::remove_cvref_t<A>>;

TA_API Ref<Event> make_select_timer(Duration delay);

/// Calls what belongs to the case that was chosen, or throws why none, or this one, has failed.
template <typename... Arms>
void end_select(WaitResult result, std::size_t chosen, Arms&... arms) {
    if (chosen == kNoCase) {
        throw_wait_error(result);
    }
    const Ref<Error> error = result == WaitResult::Ready ? nullptr : Scheduler::take_wait_error();
    std::size_t index = 0;
    const auto end_one = [&](auto& arm) {
        if (index++ != chosen) {
            return;
        }
        if (error == nullptr) {
            arm.done();
        } else if (!arm.failed(error)) {
            throw_error(error);
        }
    };
    (end_one(arms), ...);
}

}  // namespace detail

/// For `select`: receives from `channel` and calls `on_value(value)`. When the channel is closed and empty `on_closed()` is called; without
/// one the select throws `ChannelClosed`.
template <typename T, typename F = detail::DoNothing>
auto on_recv(const Channel<T>& channel, F on_value = {}, std::source_location where = std::source_location::current()) {
    return detail::RecvArm<T, F, std::nullptr_t>(channel, std::move(on_value), nullptr, where);
}
template <typename T, typename F, typename C>
    requires std::is_invocable_v<C&>
auto on_recv(
    const Channel<T>& channel, F on_value, C on_closed, std::source_location where = std::source_location::current()
) {
    return detail::RecvArm<T, F, C>(channel, std::move(on_value), std::move(on_closed), where);
}

/// For `select`: sends `value` to `channel`, then calls `on_sent()`.
template <typename T, typename F = detail::DoNothing>
auto on_send(
    const Channel<T>& channel,
    std::type_identity_t<T> value,
    F on_sent = {},
    std::source_location where = std::source_location::current()
) {
    return detail::SendArm<T, F>(channel, std::move(value), std::move(on_sent), where);
}

/// For `select`: waits for an event, then calls `on_fired()`. An event that comes with an error makes the select throw it.
template <typename F = detail::DoNothing>
auto on_event(Event& event, F on_fired = {}, std::source_location where = std::source_location::current()) {
    return detail::EventArm<F>(Ref<Event>(&event), std::move(on_fired), where);
}
template <typename T, typename F = detail::DoNothing>
auto on_end(const Handle<T>& handle, F on_ended = {}, std::source_location where = std::source_location::current()) {
    return detail::EventArm<F>(Ref<Event>(&handle.coroutine()), std::move(on_ended), where);
}

/// For `select`: when that time has passed. Throws `AsyncError` outside `run`.
template <typename Rep, typename Period, typename F = detail::DoNothing>
auto on_timeout(
    std::chrono::duration<Rep, Period> delay,
    F on_passed = {},
    std::source_location where = std::source_location::current()
) {
    return detail::EventArm<F>(detail::make_select_timer(Deadline::saturate(delay)), std::move(on_passed), where);
}

/// Waits until one of the things can be done, does it and calls its handler, which may do anything. May suspend. Returns which one it was.
/// Among several that are ready chance decides.
///
/// Throws what the handler throws, `ChannelClosed`, the error of an event, `Cancellation`, and `TimeoutError` when the limit came first.
/// Cancel safety: nothing is received or sent but by the one case that is chosen.
///
/// @snippet unit/api/select_test.cpp  select
template <typename... Arms>
    requires(sizeof...(Arms) > 0 && (detail::IsSelectArm<Arms> && ...))
std::size_t select(const Limit& limit, Arms&&... arms) {
    const std::array<SelectCase*, sizeof...(Arms)> cases = {&arms.select_case...};
    std::size_t chosen = kNoCase;
    const WaitResult result =
        select(std::span<SelectCase* const>(cases), chosen, limit, std::get<0>(std::tie(arms...)).where);
    detail::end_select(result, chosen, arms...);
    return chosen;
}
template <typename... Arms>
    requires(sizeof...(Arms) > 0 && (detail::IsSelectArm<Arms> && ...))
std::size_t select(Arms&&... arms) {
    return select(Limit(), std::forward<Arms>(arms)...);
}

/// The same without waiting; nothing when none can be done now. Never suspends, but its handler may.
template <typename... Arms>
    requires(sizeof...(Arms) > 0 && (detail::IsSelectArm<Arms> && ...))
std::optional<std::size_t> try_select(Arms&&... arms) {
    const std::array<SelectCase*, sizeof...(Arms)> cases = {&arms.select_case...};
    std::size_t chosen = kNoCase;
    const WaitResult result = try_select(std::span<SelectCase* const>(cases), chosen);
    if (chosen == kNoCase) {
        return std::nullopt;
    }
    detail::end_select(result, chosen, arms...);
    return chosen;
}

}  // namespace trueasync
