#pragma once

/// @file trueasync/runtime/helper.hpp
/// Coroutines in which the runtime itself calls code of a front door.

#include <memory>
#include <trueasync/base/error.hpp>
#include <trueasync/base/place.hpp>

namespace trueasync {

class Coroutine;

/// What a helper coroutine does: calls handlers, a future's callback, a pool's factory.
class TA_API HelperBody {
public:
    virtual ~HelperBody() = default;

    /// Runs once, in a coroutine of its own. May suspend. Returns what it failed with, or null; what it throws counts as that.
    virtual Ref<Error> run() = 0;

    /// Whether others rely on it, so that it begins even when it was cancelled before, by a shutdown too; the cancellation then comes
    /// at its first suspension point. Else one that was cancelled before it began is dropped.
    virtual bool must_begin() const noexcept { return false; }

    /// Whether it stands for a call that somebody is in the middle of: to a scope that spares those who have begun it is one of them, and what it
    /// fails with does not rest until somebody asks for it.
    virtual bool is_called() const noexcept { return false; }

    /// Whether it cleans up after others, and runs to its end when a graceful shutdown begins. Only one that would last for ever is cancelled.
    virtual bool cleans_up() const noexcept { return false; }
};

/// Makes helper coroutines. A host whose code runs only in coroutines of its own kind sets one with `Scheduler::set_helper_factory`.
///
/// Thread rule: called on the runtime's thread; must not suspend.
class TA_API HelperFactory {
public:
    virtual ~HelperFactory() = default;

    /// Not spawned yet. `where` is what `spawned_at` of the coroutine should say. Null: out of memory.
    virtual Ref<Coroutine> make(std::unique_ptr<HelperBody> body, const Place& where) = 0;
};

}  // namespace trueasync
