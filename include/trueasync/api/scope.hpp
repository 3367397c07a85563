#pragma once

/// @file trueasync/api/scope.hpp
/// Coroutines that end together.

#include <functional>
#include <trueasync/api/await.hpp>
#include <trueasync/api/spawn.hpp>
#include <trueasync/structured/scope.hpp>

namespace trueasync {

class Context;

namespace detail {

/// Spawns into an owner. Takes over the reference; drops it when it throws.
TA_API void spawn_into(Coroutine& coroutine, Owner& owner);

}  // namespace detail

/// Holds a scope: everything spawned into it, and by what was spawned into it, belongs to it. When the last handle goes, what still runs
/// is cancelled; it is not waited for.
///
/// An error of a coroutine that nobody awaits goes to `on_error` of its scope, or cancels the others there and goes to who waits for
/// the scope, or on to the scope above, and at last ends the program's `run`.
///
/// @snippet unit/api/scope_test.cpp  scope
class TA_API Scope {
public:
    /// A root: its coroutines are cancelled with it; nobody above answers for it.
    explicit Scope(std::source_location where = std::source_location::current());

    /// A child of the running coroutine's scope (a root where there is none), or of `parent`.
    static Scope inherit(std::source_location where = std::source_location::current());
    static Scope inherit(const Scope& parent, std::source_location where = std::source_location::current());

    Scope(Scope&&) noexcept = default;
    Scope& operator=(Scope&& other) noexcept {
        std::swap(event_, other.event_);
        return *this;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

    /// Whether coroutines that have begun get a cancellation, or may run to their end as zombies. Children take it over when they are
    /// made.
    Scope& as_not_safely() noexcept;
    Scope& allow_zombies() noexcept;

    /// As `trueasync::spawn`, into this scope. Throws `AsyncError` (`ScopeClosed`) after `cancel` and its kind.
    template <typename F>
    auto spawn(F&& function, std::source_location where = std::source_location::current()) {
        using Function = std::decay_t<F>;
        using T = std::invoke_result_t<Function&>;
        auto* coroutine = new detail::ClosureCoroutine<Function, T>(std::forward<F>(function), where);
        detail::spawn_into(*coroutine, *event_);
        return Handle<T>::adopt(coroutine);
    }

    /// Closes the scope and those below and stops their coroutines. Never suspends.
    void cancel(std::string message = {});
    void dispose() { cancel(); }
    /// Closes the scope; what has begun runs to its end.
    void dispose_safely() { event_->dispose_safely(); }
    /// `cancel` after a while; does nothing when nothing belongs to the scope yet.
    template <typename Rep, typename Period>
    void dispose_after(std::chrono::duration<Rep, Period> delay) {
        detail::check(event_->dispose_after(Deadline::saturate(delay)));
    }

    /// Waits until no coroutine is active here or below. May suspend. Throws what one of them failed with, if nobody took that before;
    /// `Cancellation` when the scope is cancelled; `AsyncError` when called from inside.
    /// Cancel safety: the scope goes on.
    void await_completion(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        detail::check(event_->await_completion(limit, where));
    }

    /// After `cancel`: waits until all have ended, zombies too. May suspend. Throws the first error of one of them; with a function
    /// `void(std::exception_ptr)` that gets each, and only what it throws is thrown.
    void await_after_cancellation(
        const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        detail::check(event_->await_after_cancellation(nullptr, limit, where));
    }
    template <typename F>
        requires std::invocable<F&, std::exception_ptr>
    void await_after_cancellation(
        F&& function, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        struct Observer final : ScopeEvent::ErrorObserver {
            explicit Observer(F& callee) : function(callee) {}
            Ref<Error> call(Error& error, ScopeEvent& /*scope*/) override {
                try {
                    function(detail::to_exception(Ref<Error>(&error)));
                } catch (...) {
                    return detail::to_error();
                }
                return {};
            }
            F& function;
        } observer(function);
        detail::check(event_->await_after_cancellation(&observer, limit, where));
    }

    bool is_finished() const noexcept { return event_->is_finished(); }
    bool is_closed() const noexcept { return event_->is_closed(); }
    bool is_cancelled() const noexcept { return event_->is_cancelled(); }

    /// A function `void(std::exception_ptr)`, or `void(std::exception_ptr, Coroutine&)`, for errors of this scope's coroutines and of
    /// those below; called at once, where nothing can suspend. What it throws takes the place of the error and goes on upwards.
    template <typename F>
    Scope& on_error(F&& function) {
        event_->set_error_handler(std::make_shared<ErrorHandler<std::decay_t<F>>>(std::forward<F>(function)));
        return *this;
    }
    /// The same for errors that come from scopes below; goes before `on_error` then.
    template <typename F>
    Scope& on_child_error(F&& function) {
        event_->set_child_error_handler(std::make_shared<ErrorHandler<std::decay_t<F>>>(std::forward<F>(function)));
        return *this;
    }

    /// Has `function` called when the scope has ended: cancelled, disposed or dropped, and nothing left in it; at once when it has.
    template <typename F>
    Scope& finally(F&& function) {
        std::unique_ptr<FinallyHandler> handler = detail::make_finally(std::forward<F>(function));
        if (!event_->add_finally(handler)) {
            detail::call_finally(*handler);
        }
        return *this;
    }

    /// The values that belong to this scope; see context.hpp.
    Context context() const;

    ScopeEvent& event() const noexcept { return *event_; }

private:
    explicit Scope(Ref<ScopeEvent> event) noexcept : event_(std::move(event)) {}

    template <typename F>
    class ErrorHandler final : public ScopeErrorHandler {
    public:
        template <typename G>
        explicit ErrorHandler(G&& function) : function_(std::forward<G>(function)) {}
        Ref<Error> call(ScopeEvent& /*scope*/, Coroutine& coroutine, Error& error) override {
            try {
                if constexpr (std::is_invocable_v<F&, std::exception_ptr, Coroutine&>) {
                    function_(detail::to_exception(Ref<Error>(&error)), coroutine);
                } else {
                    function_(detail::to_exception(Ref<Error>(&error)));
                }
            } catch (...) {
                return detail::to_error();
            }
            return {};
        }

    private:
        F function_;
    };

    Ref<ScopeEvent> event_;
};

}  // namespace trueasync
