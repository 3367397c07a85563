#pragma once

/// @file trueasync/runtime/host_hook.hpp
/// Saves and restores an embedding runtime's state around switches.

#include <trueasync/base/export.hpp>

namespace trueasync {

/// What is fetched ahead of a coroutine's turn, one after the other: where it goes on; the frames around that; all else.
enum class Ahead : unsigned char { Stack, Frames, Rest, Done };

class Coroutine;

/// The one hook of a host (an interpreter keeps its frame stack, its current exception and the like here).
///
/// Called on the stack of the coroutine it speaks of, except `finish` of one that is abandoned, which is called on main's. A
/// coroutine that takes over a finished one's context gets its `start` right after that one's `finish`, without a switch. Main
/// gets no `start`; after its `finish`, while the rest is drained, it is told nothing more. The scheduler's own
/// coroutine is not told of: between `leave` or `finish` and the next `enter` or `start` no coroutine's state is in force, yet
/// the last reference to a host object may go there. Must not suspend nor throw.
class TA_API HostHook {
public:
    virtual ~HostHook() = default;

    /// `coroutine` runs for the first time: set up its state.
    virtual void start(Coroutine& coroutine) noexcept = 0;

    /// It suspends: save.
    virtual void leave(Coroutine& coroutine) noexcept = 0;

    /// It continues: restore.
    virtual void enter(Coroutine& coroutine) noexcept = 0;

    /// It has ended: clean up; its result is already stored.
    virtual void finish(Coroutine& coroutine) noexcept = 0;

    /// `soon` has its turn after the one that is about to run, `later` (which may be null) after that. Of many coroutines each has left the
    /// caches when its turn comes: what it needs can be fetched ahead, of `later` only what lies in itself. Called once for each step.
    virtual void coming(const Coroutine& /*soon*/, const Coroutine* /*later*/, Ahead /*step*/) noexcept {}

    /// The reactor has slept because nobody was ready; perhaps a signal has ended that. No coroutine's state is in force. May spawn.
    virtual void woke() noexcept {}
};

}  // namespace trueasync
