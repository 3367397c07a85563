#pragma once

/// Closures for the end of a coroutine, a scope or a group.

#include "../error.hpp"
#include "../value.hpp"

#include <functional>
#include <memory>
#include <trueasync/runtime/finally.hpp>

namespace trueasync::php {

/// Calls a closure with one argument: a value that it holds, or what `subject` makes when it is due (a new reference).
class PhpFinally final : public FinallyHandler {
public:
    using Subject = std::function<zend_object*()>;

    PhpFinally(Callable closure, Value held, Subject subject)
        : callable(std::move(closure)), argument(std::move(held)), subject_(std::move(subject)) {}

    Ref<Error> call() override;
    void abandoned() noexcept override;

    /// A fatal error does not spare it: then it is called behind the shutdown functions.
    void set_owed() noexcept { is_owed_ = true; }

    Callable callable;  // both are shown to the cycle collector
    Value argument;

private:
    Subject subject_;
    bool is_owed_ = false;
};

std::unique_ptr<PhpFinally> make_finally(zval* closure, zend_object* held, PhpFinally::Subject subject = {});

/// It is too late to wait: calls it here and lets what it throws out.
void call_finally_now(FinallyHandler& handler) noexcept;

/// Behind the shutdown functions: starts those that a fatal error has kept from being called.
void start_owed_finally() noexcept;
bool has_owed_finally() noexcept;

}  // namespace trueasync::php
