#pragma once

/// @file trueasync/runtime/owner.hpp
/// Who is responsible for a coroutine.

#include <trueasync/base/error.hpp>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/status.hpp>

namespace trueasync {

class Coroutine;

struct DependentTag;

/// Something that ends with an owner without being a coroutine: a channel closes with the scope it was made in. The two do not keep
/// each other alive.
class TA_API Dependent : public ListNode<DependentTag> {
public:
    virtual ~Dependent() { unlink(); }

    /// The owner was cancelled or disposed; it is no longer attached.
    virtual void owner_gone() noexcept = 0;
};

/// Implemented by scopes and groups: told when a coroutine comes, ends and is freed.
///
/// Thread rule: called on the runtime's thread, in the middle of a turn; must not suspend nor throw.
/// Lifetime: an owner outlives its coroutines, or takes itself away with `Coroutine::set_owner(nullptr)`.
class TA_API Owner {
public:
    virtual ~Owner() = default;

    /// Asked before a spawn: whether a coroutine may come, and if not, why.
    [[nodiscard]] virtual Status admit() noexcept { return {}; }

    /// A coroutine was spawned into this owner.
    virtual void adopt(Coroutine& coroutine) noexcept = 0;

    /// The same for a coroutine that runs handlers for an end (see `FinallyList`); comes unasked, also after the owner's own end.
    virtual void adopt_helper(Coroutine& coroutine) noexcept { adopt(coroutine); }

    /// It ended; its awaiters are already queued. `error` is null on success. Returns whether the error was dealt with.
    virtual bool finished(Coroutine& coroutine, Error* error) noexcept = 0;

    /// An error on behalf of one of its coroutines (a handler for its end has failed). Returns whether it was dealt with.
    virtual bool failed(Coroutine& /*coroutine*/, Error& /*error*/) noexcept { return false; }

    /// It is about to be freed.
    virtual void on_dispose(Coroutine& coroutine) noexcept = 0;

    void attach(Dependent& dependent) noexcept { dependents_.push_back(dependent); }

protected:
    bool has_dependents() const noexcept { return !dependents_.empty(); }

    /// Tells all dependents that the owner is gone, in the order they came.
    void let_dependents_go() noexcept {
        while (Dependent* dependent = dependents_.pop_front()) {
            dependent->owner_gone();
        }
    }

private:
    IntrusiveList<Dependent, DependentTag> dependents_;
};

}  // namespace trueasync
