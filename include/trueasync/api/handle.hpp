#pragma once

/// @file trueasync/api/handle.hpp
/// A spawned coroutine with a typed result.

#include <memory>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/runtime/coroutine.hpp>
#include <type_traits>
#include <utility>

namespace trueasync {

namespace detail {

struct Nothing {};

/// Where a result waits for those who ask.
template <typename T>
class TypedCoroutine : public Coroutine {
public:
    using Stored = std::conditional_t<
        std::is_void_v<T>,
        Nothing,
        std::
            conditional_t<std::is_reference_v<T>, std::add_pointer_t<std::remove_reference_t<T>>, std::remove_cv_t<T>>>;

    void* result() noexcept override { return (this->body() & kHasValue) != 0 ? &value_ : nullptr; }
    Stored& value() noexcept { return value_; }

protected:
    static constexpr std::uint8_t kHasFunction = 1;
    static constexpr std::uint8_t kHasValue = 2;

    TypedCoroutine(std::source_location where, std::uint8_t body) noexcept : Coroutine(where) { this->set_body(body); }
    TypedCoroutine(std::source_location where, std::uint8_t body, std::uint64_t id) noexcept
        : Coroutine(where, Claim{id, body}) {}
    ~TypedCoroutine() override {
        if ((this->body() & kHasValue) != 0) {
            std::destroy_at(&value_);
        }
    }

    template <typename F>
    void store(F& function) {
        if constexpr (std::is_void_v<T>) {
            function();
            new (&value_) Stored();
        } else if constexpr (std::is_reference_v<T>) {
            new (&value_) Stored(&function());
        } else {
            new (&value_) Stored(function());
        }
    }

private:
    union {
        Stored value_;
    };
};

/// The body. The callable, and what it has captured, goes when it has run.
template <typename F, typename T>
class ClosureCoroutine final : public TypedCoroutine<T> {
public:
    template <typename G>
    ClosureCoroutine(G&& function, std::source_location where)
        : TypedCoroutine<T>(where, kFresh), function_(std::forward<G>(function)) {}
    template <typename G>
    ClosureCoroutine(G&& function, std::source_location where, std::uint64_t id)
        : TypedCoroutine<T>(where, kFresh, id), function_(std::forward<G>(function)) {}
    ~ClosureCoroutine() override { drop_body(); }

    static void* operator new(std::size_t size) { return Slab::allocate_kept(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { Slab::release_kept(memory, size); }

protected:
    void run() override {
        try {
            this->store(function_);
        } catch (...) {
            drop_body();
            this->fail(to_error());
            return;
        }
        std::destroy_at(&function_);
        if constexpr (kFresh != Base::kHasValue) {
            this->set_body(Base::kHasValue);
        }
    }
    void drop_body() noexcept override {
        if ((this->body() & Base::kHasFunction) != 0) {
            this->set_body(0);
            std::destroy_at(&function_);
        }
    }
    void end_easily() noexcept override {
        if constexpr (std::is_trivially_destructible_v<typename Base::Stored>) {
            if (TA_LIKELY(this->has_ended_bare() && this->body() == Base::kHasValue)) {
                Slab::release_kept(this, sizeof(*this));
                return;
            }
        }
        Event::end_easily();
    }

private:
    using Base = TypedCoroutine<T>;
    /// Where neither the function nor the value has anything to destroy, nobody asks for the value before it is there, and it need not be
    /// noted when it comes.
    static constexpr std::uint8_t kFresh =
        std::is_trivially_destructible_v<F> && std::is_trivially_destructible_v<typename Base::Stored>
            ? Base::kHasValue
            : Base::kHasFunction;

    union {
        F function_;
    };
};

/// A handler for an end made of a function.
template <typename F>
class FunctionFinally final : public FinallyHandler {
public:
    explicit FunctionFinally(F function) : function_(std::move(function)) {}

    Ref<Error> call() override {
        try {
            function_();
        } catch (...) {
            return to_error();
        }
        return {};
    }

private:
    F function_;
};

template <typename F>
std::unique_ptr<FinallyHandler> make_finally(F&& function) {
    return std::make_unique<FunctionFinally<std::decay_t<F>>>(std::forward<F>(function));
}

/// For a handler that comes too late to be kept: calls it at once.
TA_API void call_finally(FinallyHandler& handler);

}  // namespace detail

/// Holds a spawned coroutine; copies hold the same one. Dropping the last one does not stop it, but an error that nobody has
/// asked for by then is reported and ends the program's `run`.
template <typename T>
class Handle {
public:
    Handle() noexcept = default;
    explicit Handle(Ref<detail::TypedCoroutine<T>> coroutine) noexcept : coroutine_(std::move(coroutine)) {}

    /// Takes over a reference.
    static Handle adopt(detail::TypedCoroutine<T>* coroutine) noexcept { return Handle(coroutine); }

    bool is_finished() const noexcept { return coroutine_->is_finished(); }
    bool is_cancelled() const noexcept { return coroutine_->is_cancelled(); }
    std::uint64_t id() const noexcept { return coroutine_->id(); }

    /// Asks it to end: `Cancellation` is thrown at its next suspension point. Never suspends.
    void cancel(std::string message = {}) const {
        if (Scheduler* scheduler = Scheduler::current()) {
            scheduler->cancel(
                *coroutine_, Error::cancellation(
                                 CancelReason::UserRequest, message.empty() ? "Coroutine cancelled" : std::move(message)
                             )
            );
        }
    }

    /// Gives it a name for dumps. Returns the handle, for use at the spawn.
    const Handle& named(std::string name) const {
        coroutine_->set_name(std::move(name));
        return *this;
    }

    /// Has `function` called when it has ended, however it did, before those who await it go on; at once when it has. Handlers run in a
    /// coroutine of their own, in the order they were added, and may suspend. What they throw goes to the scope of the coroutine, never
    /// to those who await it.
    template <typename F>
    const Handle& finally(F&& function) const {
        std::unique_ptr<FinallyHandler> handler = detail::make_finally(std::forward<F>(function));
        if (!coroutine_->add_finally(handler)) {
            detail::call_finally(*handler);
        }
        return *this;
    }

    explicit operator bool() const noexcept { return coroutine_ != nullptr; }
    detail::TypedCoroutine<T>& coroutine() const noexcept { return *coroutine_; }

private:
    explicit Handle(detail::TypedCoroutine<T>* adopted) noexcept
        : coroutine_(Ref<detail::TypedCoroutine<T>>::adopt(adopted)) {}

    Ref<detail::TypedCoroutine<T>> coroutine_;
};

}  // namespace trueasync
