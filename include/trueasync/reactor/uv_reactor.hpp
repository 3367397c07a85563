#pragma once

/// @file trueasync/reactor/uv_reactor.hpp
/// The real reactor, on libuv.

#include <memory>
#include <trueasync/reactor/trigger.hpp>
#include <trueasync/runtime/reactor.hpp>

namespace trueasync {

enum class Backend : std::uint8_t {
    Best,      ///< Linux: an epoll set of our own with libuv inside; elsewhere the portable one
    Portable,  ///< libuv alone: timers have its resolution of a millisecond, rounded up
};

/// Makes the reactor. Null when the system refuses descriptors; errno then says why.
TA_API std::unique_ptr<Reactor> make_uv_reactor(Backend backend = Backend::Best);

}  // namespace trueasync
