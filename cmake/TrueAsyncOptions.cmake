# Everything a user may set. As a sub-project only the libraries are built.

option(TRUEASYNC_TESTS "Build the unit and stress tests" ${PROJECT_IS_TOP_LEVEL})
option(TRUEASYNC_EXAMPLES "Build examples/cpp and register them as tests" ${PROJECT_IS_TOP_LEVEL})
option(TRUEASYNC_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(TRUEASYNC_BENCH "Build the benchmarks" OFF)
option(TRUEASYNC_PHP_PROBE "Build tests/php-probe when php-config is found" OFF)
option(TRUEASYNC_CHECK_HEADERS "Test that each public header compiles alone" OFF)
option(TRUEASYNC_WERROR "Treat compiler warnings as errors" OFF)
option(TRUEASYNC_GTEST_FROM_SOURCE "Build GoogleTest with this build's flags instead of using the installed library" OFF)

set(TRUEASYNC_GTEST_SOURCE "/usr/src/googletest" CACHE PATH "GoogleTest sources for TRUEASYNC_GTEST_FROM_SOURCE")
set(TRUEASYNC_TEST_TIMEOUT 10 CACHE STRING "Seconds after which one unit test or example counts as hung")
set(TRUEASYNC_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")

# How coroutines switch stacks. `boost` changes the layout of public types, therefore it is part of the exported interface.
set(TRUEASYNC_CONTEXT "native" CACHE STRING "Stack switch: native (own assembly) or boost (Boost.Context)")
set_property(CACHE TRUEASYNC_CONTEXT PROPERTY STRINGS native boost)
if(NOT TRUEASYNC_CONTEXT MATCHES "^(native|boost)$")
  message(FATAL_ERROR "TRUEASYNC_CONTEXT must be native or boost, not '${TRUEASYNC_CONTEXT}'")
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
