# tests/unit/<room>/<stem>_test.cpp and tests/support -> trueasync_tests; tests/stress -> trueasync_stress;
# tests/stress/chaos -> trueasync_chaos.

if(TRUEASYNC_GTEST_FROM_SOURCE)
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  add_subdirectory("${TRUEASYNC_GTEST_SOURCE}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
else()
  find_package(GTest REQUIRED)
endif()
include(GoogleTest)

# Presets that prove one thing only (a processor, a fallback, threads) build the tests of that thing only.
set(TRUEASYNC_UNIT_TESTS "*/*_test.cpp" CACHE STRING "Which files below tests/unit are built")
list(TRANSFORM TRUEASYNC_UNIT_TESTS PREPEND "${PROJECT_SOURCE_DIR}/tests/unit/" OUTPUT_VARIABLE _unit_patterns)
file(GLOB _unit_tests CONFIGURE_DEPENDS ${_unit_patterns})
file(GLOB _support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
file(GLOB _stress CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/stress/*.cpp")
file(GLOB _chaos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/stress/chaos/*.cpp")

function(trueasync_configure_test target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Tests may look behind the curtain: private headers are in reach, the static library hides no symbol.
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE
    TrueAsync::trueasync_static trueasync_flags PkgConfig::libuv Threads::Threads
  )
endfunction()

if(_unit_tests)
  add_executable(trueasync_tests ${_unit_tests} ${_support})
  trueasync_configure_test(trueasync_tests)
  target_precompile_headers(trueasync_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/coro_test.hpp")
  # The library is what is optimised; its inlined paths are tested as a program with -O1 would get them. Under the sanitizers compiling the
  # tests is what takes the time: they do without what costs most there and a crash shows too.
  if(TRUEASYNC_SANITIZE MATCHES undefined)
    target_compile_options(trueasync_tests PRIVATE -O0 -g1 -fno-sanitize=null,object-size,alignment)
  elseif(TRUEASYNC_SANITIZE)
    target_compile_options(trueasync_tests PRIVATE -O1 -g1)
  else()
    target_compile_options(trueasync_tests PRIVATE -O1 -g0)  # debug information would take a quarter of the time
  endif()
  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
    target_link_libraries(trueasync_tests PRIVATE GTest::gtest)
  else()
    target_link_libraries(trueasync_tests PRIVATE GTest::gtest_main)
  endif()
  # Listing happens when ctest starts, not while building: a crash at start-up is then a test failure.
  gtest_discover_tests(trueasync_tests
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${TRUEASYNC_TEST_TIMEOUT} LABELS unit
  )

  # A library that blocks, for the tests of what makes it suspend.
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    add_library(trueasync_blocking MODULE tests/transparent/blocking.cpp)
    add_library(trueasync_beside MODULE tests/transparent/beside.cpp)  # which only that one finds by its name
    set_target_properties(trueasync_beside PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/beside")
    set_target_properties(trueasync_blocking PROPERTIES BUILD_RPATH "\$ORIGIN/beside")
    add_dependencies(trueasync_blocking trueasync_beside)
    add_dependencies(trueasync_tests trueasync_blocking)
    target_compile_definitions(trueasync_tests PRIVATE TRUEASYNC_BLOCKING="$<TARGET_FILE:trueasync_blocking>")
  endif()

  # Where there is nothing to rewrite.
  find_library(TRUEASYNC_LIBUV_ARCHIVE libuv_a.a)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND TRUEASYNC_LIBUV_ARCHIVE AND NOT CMAKE_CROSSCOMPILING AND NOT TRUEASYNC_SANITIZE
      AND TRUEASYNC_CONTEXT STREQUAL "native")
    add_executable(trueasync_static_program tests/transparent/static.cpp)
    target_compile_features(trueasync_static_program PRIVATE cxx_std_20)
    add_dependencies(trueasync_static_program trueasync_static)
    target_include_directories(trueasync_static_program PRIVATE
      $<TARGET_PROPERTY:trueasync_static,INTERFACE_INCLUDE_DIRECTORIES>)
    # The linker says of each look-up of names that it needs shared libraries all the same.
    target_link_libraries(trueasync_static_program PRIVATE
      -static -Wl,--no-warnings $<TARGET_FILE:trueasync_static> "${TRUEASYNC_LIBUV_ARCHIVE}" Threads::Threads)
    add_test(NAME transparent.static COMMAND trueasync_static_program)
    set_tests_properties(transparent.static PROPERTIES TIMEOUT 10 LABELS unit)
  endif()

  # Everything that tells the time, once more under clocks that jump. The sanitizers want to be preloaded first.
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT CMAKE_CROSSCOMPILING AND NOT TRUEASYNC_SANITIZE)
    add_library(trueasync_clock MODULE tests/clock/jumping_clock.cpp)
    add_test(NAME clock.jumps COMMAND trueasync_tests
      "--gtest_filter=*ClockJump*:*Timer*:*UvReactor*:*Timeout*:*Deadline*:Thread*-*Thread*Stress*")
    set_tests_properties(clock.jumps PROPERTIES
      TIMEOUT 60 LABELS unit ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:trueasync_clock>"
      FAIL_REGULAR_EXPRESSION "no jumping clock is preloaded"
    )
  endif()
endif()

if(_stress)
  add_executable(trueasync_stress ${_stress})
  trueasync_configure_test(trueasync_stress)
  add_test(NAME stress.short COMMAND trueasync_stress --steps=200000)
  set_tests_properties(stress.short PROPERTIES TIMEOUT 60 LABELS stress)
endif()

# Under sanitizers only, which is what it is for. Where threads are looked at, only those programs that have several.
if(_chaos AND TRUEASYNC_SANITIZE)
  set(_chaos_runs 5000)
  if(TRUEASYNC_SANITIZE MATCHES thread)
    list(FILTER _chaos INCLUDE REGEX "/(main|threads)\\.cpp$")
    set(_chaos_runs 500)
  endif()
  add_executable(trueasync_chaos ${_chaos})
  trueasync_configure_test(trueasync_chaos)
  target_precompile_headers(trueasync_chaos PRIVATE "${PROJECT_SOURCE_DIR}/tests/stress/chaos/chaos.hpp")
  add_test(NAME chaos.short COMMAND trueasync_chaos --runs ${_chaos_runs})
  set_tests_properties(chaos.short PROPERTIES TIMEOUT 60 LABELS stress)
endif()
