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

    PhpFinally(Callable closure, zend_object* held, Subject subject)
        : callable(std::move(closure)), subject_(std::move(subject)) {
        if (held != nullptr) {
            GC_ADDREF(held);
            argument = Value::adopt(held);
        }
    }

    Ref<Error> call() override {
        if (subject_ != nullptr) {
            argument = Value::adopt(subject_());
        }
        zval result;
        const bool is_well = callable.call(&result, 1, argument.get());
        zval_ptr_dtor(&result);
        callable.reset();
        argument.reset();
        return is_well ? Ref<Error>() : take_exception();
    }

    Callable callable;  // both are shown to the cycle collector
    Value argument;

private:
    Subject subject_;
};

std::unique_ptr<FinallyHandler> make_finally(zval* closure, zend_object* held, PhpFinally::Subject subject = {});

/// It is too late to wait: calls it here and lets what it throws out.
void call_finally_now(FinallyHandler& handler) noexcept;

}  // namespace trueasync::php
