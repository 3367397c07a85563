#pragma once

/// `Async\Timeout`: a timer that fails when it fires, to be awaited or used as a token.

#include "../zend.hpp"

namespace trueasync::php {

/// A new `Timeout` object; one reference.
zend_object* make_timeout(zend_long milliseconds);

void register_timeout();

}  // namespace trueasync::php
