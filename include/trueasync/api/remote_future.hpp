#pragma once

/// @file trueasync/api/remote_future.hpp
/// A value that another thread gives.

#include <exception>
#include <source_location>
#include <trueasync/api/await_many.hpp>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/api/handle.hpp>
#include <trueasync/thread/remote_future.hpp>
#include <utility>

namespace trueasync {

namespace detail {

template <typename T>
using RemoteStored = std::conditional_t<std::is_void_v<T>, Nothing, T>;

/// The reactor of this thread; throws `AsyncError` (`NotRunning`) when there is none.
TA_API Reactor& remote_reactor();

}  // namespace detail

/// Waits for what another thread does. Copies are the same future.
///
/// Thread rule: the thread of the runtime that made it.
template <typename T>
class RemoteFuture {
public:
    using Event = RemoteFutureOf<detail::RemoteStored<T>>;

    RemoteFuture() noexcept = default;
    explicit RemoteFuture(Ref<Event> event) noexcept : event_(std::move(event)) {}

    bool is_completed() const noexcept { return event_->is_completed(); }
    bool is_cancelled() const noexcept { return event_->is_cancelled(); }
    /// Fails it with a cancellation, and stops the work for it: what is queued never runs, what runs is asked to stop. Does nothing
    /// when it is completed. Never suspends.
    void cancel() const {
        event_->ignore();
        event_->cancel();
    }
    /// Its outcome is nobody's business.
    void ignore() const noexcept { event_->ignore(); }

    explicit operator bool() const noexcept { return event_ != nullptr; }
    Event& event() const noexcept { return *event_; }

private:
    Ref<Event> event_;
};

namespace detail {

template <typename T>
struct Awaited<RemoteFuture<T>> {
    using Value = RemoteStored<T>;
    static Event& event(const RemoteFuture<T>& future) noexcept { return future.event(); }
    static Value take(const RemoteFuture<T>& future) {
        if constexpr (std::is_copy_constructible_v<Value>) {
            return future.event().get();
        } else {
            return std::move(future.event().get());
        }
    }
};

}  // namespace detail

/// The other end: completes the future, once, on any thread. If it goes without having done so the future stays pending.
///
/// Thread rule: any thread, one at a time.
template <typename T>
class RemotePromise {
public:
    RemotePromise() noexcept = default;
    explicit RemotePromise(Ref<RemoteValue<detail::RemoteStored<T>>> state) noexcept : state_(std::move(state)) {}
    RemotePromise(RemotePromise&&) noexcept = default;
    RemotePromise& operator=(RemotePromise&& other) noexcept {
        RemotePromise taken(std::move(other));
        std::swap(state_, taken.state_);
        return *this;
    }
    ~RemotePromise() {
        if (state_ != nullptr) {
            state_->break_off();
        }
    }

    /// False when nobody wants the value any more, or there is one already.
    bool complete(detail::RemoteStored<T> value = {}) { return state_->complete(std::move(value)); }
    bool fail(const std::exception_ptr& exception) {
        try {
            std::rethrow_exception(exception);
        } catch (...) {
            return state_->fail(detail::to_error());
        }
    }
    bool is_completed() const noexcept { return !state_->is_pending(); }
    /// False once the future was cancelled or dropped: there is no need to go on.
    bool is_wanted() const noexcept { return state_->is_wanted(); }

private:
    Ref<RemoteValue<detail::RemoteStored<T>>> state_;
};

/// A future and the promise for it. Throws `AsyncError` outside `run`. Never suspends.
///
/// @snippet unit/thread/remote_future_test.cpp  remote_future
template <typename T>
std::pair<RemoteFuture<T>, RemotePromise<T>> remote_future(
    std::source_location where = std::source_location::current()
) {
    using Stored = detail::RemoteStored<T>;
    Reactor& reactor = detail::remote_reactor();
    const auto state = make_ref<RemoteValue<Stored>>();
    auto event = make_ref<RemoteFutureOf<Stored>>(state, where);
    detail::check(state->connect(reactor, *event));
    return {RemoteFuture<T>(std::move(event)), RemotePromise<T>(state)};
}

/// Waits for the value, or throws what the other thread failed with. May suspend. A value that can only be moved goes to who asks first.
/// Cancel safety: other waiters and the other thread go on; for a task of a `ThreadPool` the last one to leave cancels it.
template <typename T>
T await(
    const RemoteFuture<T>& future, const Limit& limit = {}, std::source_location where = std::source_location::current()
) {
    const RemoteFuture<T> kept = future;
    detail::check(wait_future(kept.event(), limit, where));
    if constexpr (!std::is_void_v<T>) {
        return detail::Awaited<RemoteFuture<T>>::take(kept);
    }
}

}  // namespace trueasync
