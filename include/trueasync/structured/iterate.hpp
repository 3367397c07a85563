#pragma once

/// @file trueasync/structured/iterate.hpp
/// Doing something with each element, several at a time.

#include <memory>
#include <trueasync/base/place.hpp>
#include <trueasync/structured/scope.hpp>

namespace trueasync {

/// One element on its way to what is done with it.
class TA_API IterationItem {
public:
    virtual ~IterationItem() = default;

    /// May suspend: then the iteration goes on elsewhere. False: no further elements are wanted. `error` ends the iteration.
    virtual bool call(Ref<Error>& error) = 0;
};

/// What is iterated over. Made by a front door.
class TA_API Iteration {
public:
    virtual ~Iteration() = default;

    /// The next element; may suspend, but is never called by two at a time. Null: there are no more, or `error` says why.
    virtual std::unique_ptr<IterationItem> next(Ref<Error>& error) = 0;
};

struct IterateSettings {
    std::uint32_t concurrency = 0;  ///< how many elements at a time; 0: any number
    bool cancels_pending =
        true;  ///< what callbacks have spawned and left is cancelled at the end; else it is waited for
};

/// Walks through `iteration`. May suspend; returns when everything is done, also what callbacks have spawned (they run in a scope of
/// their own below `parent`).
///
/// One coroutine does all the work as long as no callback suspends. When one does, a microtask hands the iteration on to another
/// coroutine, up to the limit, so callbacks that never suspend run strictly in order.
/// `Failed` with the error of a callback or of the iteration; the other callbacks are cancelled first. Cancelling the caller cancels
/// them all.
///
/// @snippet unit/structured/iterate_test.cpp  iterate_core
TA_API WaitResult iterate(
    Iteration& iteration,
    const IterateSettings& settings = {},
    ScopeEvent* parent = ScopeEvent::current(),
    std::source_location where = std::source_location::current()
) noexcept;

}  // namespace trueasync
