#pragma once

/// @file support/valgrind.hpp
/// What tests have to know about valgrind.

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_CLO_CHANGE(option)
#endif

namespace trueasync::testing {

inline bool on_valgrind() { return RUNNING_ON_VALGRIND != 0; }

/// In the child of a fork: what belonged to the threads of the parent is lost there, and rightly so.
inline void allow_leaks_here() { VALGRIND_CLO_CHANGE("--leak-check=no"); }

}  // namespace trueasync::testing

/// For a test of what valgrind does in a way of its own.
#define SKIP_ON_VALGRIND(why)                \
    if (::trueasync::testing::on_valgrind()) \
    GTEST_SKIP() << "valgrind " << (why)
