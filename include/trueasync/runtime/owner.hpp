#pragma once

/// @file trueasync/runtime/owner.hpp
/// Who is responsible for a coroutine.

#include <trueasync/base/error.hpp>

namespace trueasync {

class Coroutine;

/// Implemented by scopes and groups: told when a coroutine comes, ends and is freed.
///
/// Thread rule: called on the runtime's thread, in the middle of a turn; must not suspend nor throw.
/// Lifetime: an owner outlives its coroutines, or takes itself away with `Coroutine::set_owner(nullptr)`.
class TA_API Owner {
public:
    virtual ~Owner() = default;

    /// A coroutine was spawned into this owner.
    virtual void adopt(Coroutine& coroutine) noexcept = 0;

    /// It ended; its awaiters are already queued. `error` is null on success. Returns whether the error was dealt with.
    virtual bool finished(Coroutine& coroutine, Error* error) noexcept = 0;

    /// It is about to be freed.
    virtual void on_dispose(Coroutine& coroutine) noexcept = 0;
};

}  // namespace trueasync
