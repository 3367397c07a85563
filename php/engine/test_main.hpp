#pragma once

/// For tests only (`async.test_main_in_coroutine`): the primary script runs in a coroutine, on a pooled stack, while main yields for ever
/// beside it. So PHP's own tests show what a coroutine changes.

#include "../zend.hpp"

namespace trueasync::php {

inline bool is_main_in_coroutine() noexcept { return INI_BOOL("async.test_main_in_coroutine"); }

/// Executes the script's frame there. However it ends, main goes on as if it had executed the frame itself.
void execute_in_coroutine(zend_execute_data* frame);

}  // namespace trueasync::php
