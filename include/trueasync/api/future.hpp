#pragma once

/// @file trueasync/api/future.hpp
/// A value that comes later: `FutureState` is the side that writes, `Future` the side that reads.

#include <exception>
#include <source_location>
#include <trueasync/api/await.hpp>
#include <trueasync/sync/future.hpp>

namespace trueasync {

template <typename T>
class Future;

namespace detail {

template <typename T>
using FutureValue = std::conditional_t<std::is_void_v<T>, Nothing, T>;

/// Calls `function` with the value of a future, or with nothing when there is none.
template <typename T, typename F>
decltype(auto) call_with(F& function, FutureOf<FutureValue<T>>& future) {
    if constexpr (std::is_void_v<T>) {
        return function();
    } else {
        return function(future.get());
    }
}

/// Completes `future` with what `function` returns or throws.
template <typename R, typename F>
void complete_by(FutureOf<FutureValue<R>>& future, F&& function) {
    try {
        if constexpr (std::is_void_v<R>) {
            function();
            future.complete(Nothing{}).ignore();
        } else {
            future.complete(function()).ignore();
        }
    } catch (...) {
        future.fail(to_error()).ignore();
    }
}

/// A link of a chain: `T` comes in, `R` goes out.
template <typename T, typename R, typename F>
class Link : public Continuation {
public:
    Link(F function, Ref<FutureOf<FutureValue<R>>> target)
        : function_(std::move(function)), target_(std::move(target)) {}

    void pass(FutureEvent& source) noexcept override {
        if (source.error() != nullptr) {
            target_->fail(Ref<Error>(source.error())).ignore();
        } else if constexpr (std::is_same_v<T, R>) {
            complete_by<R>(*target_, [&]() -> R {
                if constexpr (!std::is_void_v<R>) {
                    return typed(source).get();
                }
            });
        }
    }

protected:
    static FutureOf<FutureValue<T>>& typed(FutureEvent& source) noexcept {
        return static_cast<FutureOf<FutureValue<T>>&>(source);
    }

    F function_;
    Ref<FutureOf<FutureValue<R>>> target_;
};

template <typename T, typename R, typename F>
class MapLink final : public Link<T, R, F> {
public:
    using Link<T, R, F>::Link;
    bool applies(const Error* error) const noexcept override { return error == nullptr; }
    Ref<Error> run() override {
        complete_by<R>(*this->target_, [&]() -> R {
            return call_with<T>(this->function_, Link<T, R, F>::typed(*this->source()));
        });
        return {};
    }
};

template <typename T, typename F>
class RecoverLink final : public Link<T, T, F> {
public:
    using Link<T, T, F>::Link;
    bool applies(const Error* error) const noexcept override { return error != nullptr; }
    Ref<Error> run() override {
        complete_by<T>(*this->target_, [&]() -> T {
            return this->function_(to_exception(Ref<Error>(this->source()->error())));
        });
        return {};
    }
};

template <typename T, typename F>
class FinallyLink final : public Link<T, T, F> {
public:
    using Link<T, T, F>::Link;
    bool applies(const Error* /*error*/) const noexcept override { return true; }
    bool takes_error() const noexcept override { return false; }
    Ref<Error> run() override {
        try {
            this->function_();
        } catch (...) {
            this->target_->fail(to_error()).ignore();
            return {};
        }
        this->pass(*this->source());
        return {};
    }
};

}  // namespace detail

/// The side that reads. Copies read the same outcome. Who drops a future that nobody ever used, or one whose error nobody took, gets a
/// warning; `ignore` says that this is meant.
///
/// @snippet unit/api/future_test.cpp  future
template <typename T>
class Future {
public:
    using State = FutureOf<detail::FutureValue<T>>;

    explicit Future(Ref<State> state) noexcept : state_(std::move(state)) {}

    /// One that is complete from the start.
    template <typename... V>
    static Future completed(V&&... value) {
        Future future(make_ref<State>(std::source_location::current()));
        future.state_->complete(detail::FutureValue<T>(std::forward<V>(value)...)).ignore();
        return future;
    }
    /// One that has failed from the start.
    static Future failed(std::exception_ptr exception, std::source_location where = std::source_location::current()) {
        Future future(make_ref<State>(where));
        try {
            std::rethrow_exception(std::move(exception));
        } catch (...) {
            future.state_->fail(detail::to_error(), where).ignore();
        }
        return future;
    }

    bool is_completed() const noexcept { return state_->is_completed(); }
    bool is_cancelled() const noexcept { return state_->is_cancelled(); }

    /// Rejects it for everybody; does nothing once it is complete.
    void cancel(std::string message = {}, std::source_location where = std::source_location::current()) const {
        state_->cancel(
            message.empty() ? Ref<Error>() : Error::cancellation(CancelReason::UserRequest, std::move(message)), where
        );
    }
    const Future& ignore() const noexcept {
        state_->ignore();
        return *this;
    }

    /// As `trueasync::await`.
    T await(const Limit& limit = {}, std::source_location where = std::source_location::current()) const;

    /// A future of what `function` makes of the value. A failure is passed on and `function` not called. Runs in a coroutine of
    /// its own.
    template <typename F>
    auto map(F function, std::source_location where = std::source_location::current()) const {
        using R = decltype(detail::call_with<T>(function, *state_));
        auto target = make_ref<typename Future<R>::State>(where);
        state_->then(std::make_unique<detail::MapLink<T, R, F>>(std::move(function), target));
        return Future<R>(std::move(target));
    }

    /// A future of the value, or after a failure of what `function(std::exception_ptr)` makes of it.
    template <typename F>
    Future recover(F function, std::source_location where = std::source_location::current()) const {
        return chain<detail::RecoverLink<T, F>>(std::move(function), where);
    }

    /// `function()` is called whatever comes; the outcome is passed on, unless `function` throws.
    template <typename F>
    Future finally(F function, std::source_location where = std::source_location::current()) const {
        return chain<detail::FinallyLink<T, F>>(std::move(function), where);
    }

    State& state() const noexcept { return *state_; }
    /// Gives its reference up to the caller.
    State* detach() noexcept { return state_.detach(); }

private:
    template <typename L, typename F>
    Future chain(F function, std::source_location where) const {
        auto target = make_ref<State>(where);
        state_->then(std::make_unique<L>(std::move(function), target));
        return Future(std::move(target));
    }

    Ref<State> state_;
};

/// The side that writes: completes its futures, once.
template <typename T>
class FutureState {
public:
    TA_INLINE explicit FutureState(std::source_location where = std::source_location::current())
        : state_(Ref<PlainFuture<detail::FutureValue<T>>>::adopt(new PlainFuture<detail::FutureValue<T>>(where))) {}

    Future<T> future() const noexcept { return Future<T>(state_); }
    bool is_completed() const noexcept { return state_->is_completed(); }

    /// Throws `AsyncError` (`AlreadyCompleted`) the second time.
    TA_INLINE void complete(
        detail::FutureValue<T> value = {}, std::source_location where = std::source_location::current()
    ) const {
        detail::check(state_->complete(std::move(value), where));
    }
    void fail(std::exception_ptr exception, std::source_location where = std::source_location::current()) const {
        try {
            std::rethrow_exception(std::move(exception));
        } catch (...) {
            detail::check(state_->fail(detail::to_error(), where));
        }
    }
    template <typename E>
        requires(!std::is_same_v<std::decay_t<E>, std::exception_ptr>)
    void fail(E exception, std::source_location where = std::source_location::current()) const {
        fail(std::make_exception_ptr(std::move(exception)), where);
    }
    void ignore() const noexcept { state_->ignore(); }

private:
    Ref<typename Future<T>::State> state_;
};

namespace detail {

/// The value of a future that is complete: a copy, or itself where there are no copies. Takes over a reference.
template <typename T>
TA_INLINE T take_value(typename Future<T>::State& state) {
    [[maybe_unused]] const auto held = Ref<typename Future<T>::State>::adopt(&state);
    if constexpr (!std::is_void_v<T>) {
        if constexpr (std::is_copy_constructible_v<T>) {
            return held->get();
        } else {
            return std::move(held->get());
        }
    }
}

}  // namespace detail

/// Waits until a future is complete and returns its value, or throws its error. May suspend; does not when it is complete already.
/// Everyone who asks gets the value; one that can only be moved goes to whoever asks first.
/// Cancel safety: cancelling the waiter does nothing to the future.
template <typename T>
TA_INLINE T
await(const Future<T>& future, const Limit& limit, std::source_location where = std::source_location::current()) {
    typename Future<T>::State& state = future.state();
    detail::check(join_future(state, limit, where));
    return detail::take_value<T>(state);
}

template <typename T>
TA_INLINE T await(const Future<T>& future, std::source_location where = std::source_location::current()) {
    return await(future, Limit(), where);
}

/// The same for a future that nobody needs afterwards.
template <typename T>
TA_INLINE T await(Future<T>&& future, std::source_location where = std::source_location::current()) {
    typename Future<T>::State& state = *future.detach();
    Coroutine* self = Scheduler::wait_simple<false>(state, Hold::Given, where);
    if (TA_UNLIKELY(self == nullptr || !Scheduler::end_simple_join(*self))) {
        detail::check(detail::join_given_future(state, self, where));
    }
    return detail::take_value<T>(state);
}

template <typename T>
T Future<T>::await(const Limit& limit, std::source_location where) const {
    return trueasync::await(*this, limit, where);
}

}  // namespace trueasync
