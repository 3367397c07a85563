#pragma once

/// Errors of the core and exceptions of PHP: the one place where each becomes the other.

#include "value.hpp"

#include <trueasync/base/error.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/runtime/scheduler.hpp>

namespace trueasync::php {

/// A PHP exception on its way through the core. Everybody who gets it gets the same object.
class PhpError final : public Error {
public:
    /// Takes over a reference to `thrown`.
    static Ref<Error> adopt(zend_object* thrown);
    /// Takes a new reference.
    static Ref<Error> share(zend_object* thrown) {
        GC_ADDREF(thrown);
        return adopt(thrown);
    }

    /// The exception that `error` carries; null when it carries none.
    static zend_object* thrown_by(const Error* error) noexcept;

private:
    friend Ref<PhpError>;

    explicit PhpError(zend_object* thrown);
    ~PhpError() override { OBJ_RELEASE(thrown_); }

    zend_object* thrown_;
};

/// What `exit()` throws: nobody catches it, and it is no object that PHP code ever sees.
bool is_exit(const zend_object* thrown) noexcept;

/// What `getPrevious` would say; null for nothing.
zend_object* previous_of(zend_object* thrown) noexcept;

/// Takes the exception in flight away.
Ref<Error> take_exception() noexcept;

/// The exception that `error` stands for: a new reference.
zend_object* to_exception(const Error& error) noexcept;

/// Lets this stack unwind as `exit()` does: nothing catches it and no `finally` block runs. Takes over the reference.
void throw_exit(zend_object* exit) noexcept;

/// Throws it here.
void throw_in_php(const Error& error) noexcept;

/// True when all is well; else throws.
bool check(const Status& status) noexcept;

/// After a wait: true when it went well; else throws why it did not.
bool has_arrived_slow(WaitResult result) noexcept;
inline bool has_arrived(WaitResult result) noexcept {
    return EXPECTED(result == WaitResult::Ready) || has_arrived_slow(result);
}

/// A cancellation with the object that PHP code gave, or a new one with `message`.
Ref<Error> make_cancellation(zend_object* given, const char* message) noexcept;

}  // namespace trueasync::php
