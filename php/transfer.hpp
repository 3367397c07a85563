#pragma once

/// Deep copies of values, as they cross from one thread to another.

#include "value.hpp"

namespace trueasync::php {

/// A copy of `source` that shares nothing that could change: identity and cycles inside it are kept. False: it threw, since the value
/// cannot be transferred.
bool transfer(zval* source, Value& copy) noexcept;

}  // namespace trueasync::php
