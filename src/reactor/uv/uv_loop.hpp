#pragma once

#include <uv.h>
#include <trueasync/reactor/io_reactor.hpp>

namespace trueasync::detail {

/// libuv's loop of a reactor. For sources only; see `IoReactor::native_loop`.
inline uv_loop_t* uv_loop_of(IoReactor& reactor) noexcept { return static_cast<uv_loop_t*>(reactor.native_loop()); }

}  // namespace trueasync::detail
