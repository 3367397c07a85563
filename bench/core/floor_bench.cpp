#include "core/floor.hpp"

static const bench::Registration kFloor{"floor", bench::floor_ns_per_op};
