#pragma once

/// @file bench/core/floor.hpp
/// The unit of every ratio: one raw Boost.Context switch.

#include <cstddef>
#include <cstdlib>

#include <boost/context/detail/fcontext.hpp>

#include "support/suite.hpp"

namespace bench {

[[noreturn]] inline void switch_back_forever(boost::context::detail::transfer_t from) {
    settle_float_state();
    for (;;) {
        from = boost::context::detail::jump_fcontext(from.fctx, nullptr);
    }
}

/// Nanoseconds per single `jump_fcontext`; a round trip between the two contexts counts as two.
inline double floor_ns_per_op(std::size_t iterations) {
    constexpr std::size_t kStackSize = 64 * 1024;
    static char* const stack = static_cast<char*>(std::aligned_alloc(64, kStackSize));
    if (stack == nullptr) {
        fail("no memory for the stack of the floor");
    }

    const std::size_t round_trips = iterations / 2;
    const auto context = boost::context::detail::make_fcontext(stack + kStackSize, kStackSize, &switch_back_forever);
    settle_float_state();
    auto other = boost::context::detail::jump_fcontext(context, nullptr);

    settle_float_state();
    const Stopwatch watch;
    for (std::size_t i = 0; i < round_trips; ++i) {
        other = boost::context::detail::jump_fcontext(other.fctx, nullptr);
    }
    const auto elapsed = watch.elapsed_ns();
    if (!float_state_is_settled()) {
        fail("the floating-point flags changed inside the floor's loop");
    }
    return per_op(elapsed, round_trips * 2);
}

}  // namespace bench
