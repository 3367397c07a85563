#pragma once

/// @file trueasync/reactor/io_reactor.hpp
/// What events with descriptors need from a reactor.

#include <trueasync/runtime/reactor.hpp>

namespace trueasync {

/// A reactor that knows descriptors.
///
/// After a fork the child has a working reactor of its own: whatever was registered is registered again, at the latest in the next
/// turn. The parent notices nothing. Only the thread that forked goes on in a child, so fork on the reactor's thread.
/// Thread rule: that of the reactor.
class TA_API IoReactor : public Reactor {
public:
    IoReactor* io() noexcept final { return this; }

    /// libuv's loop, for the few types that use a handle of it; `detail::uv_loop_of` in `src/reactor/uv/uv_loop.hpp` gives it its
    /// type. Ask for it anew each time: this is where a child of a fork is noticed. Its clock may be old, and nothing but
    /// the reactor may run it. Handles that are no longer wanted are closed in `ReactorEvent::on_reactor_close` at the latest.
    virtual void* native_loop() noexcept = 0;
};

}  // namespace trueasync
