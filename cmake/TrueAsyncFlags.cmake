# Flags of our own targets (trueasync_flags) and of the whole build (sanitizers).

add_library(trueasync_flags INTERFACE)
target_compile_features(trueasync_flags INTERFACE cxx_std_20)

set(_warnings
  -Wall
  -Wextra
  -Wcast-align
  -Wextra-semi
  -Wformat=2
  -Wimplicit-fallthrough
  -Wnon-virtual-dtor
  -Wold-style-cast
  -Woverloaded-virtual
  -Wshadow
  -Wsuggest-override
  -Wundef
  -Wvla
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND _warnings -Wduplicated-cond -Wlogical-op)
  if(TRUEASYNC_SANITIZE)
    # GCC's flow analysis loses track in instrumented code and reports variables that are set.
    list(APPEND _warnings -Wno-maybe-uninitialized)
  endif()
endif()
if(TRUEASYNC_WERROR)
  list(APPEND _warnings -Werror)
endif()
target_compile_options(trueasync_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_warnings}>")

# The standard library's cheap checks, wherever assert() is on. They do not change the ABI.
target_compile_definitions(trueasync_flags INTERFACE "$<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>")

# Every object of the build must be instrumented alike, GoogleTest included: hence directory-wide.
if(TRUEASYNC_SANITIZE)
  add_compile_options("-fsanitize=${TRUEASYNC_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # That check makes a pipe to see whether memory can be read, and cries wolf in tests that have no descriptors left.
  add_compile_options(-fno-sanitize=vptr)
  add_link_options("-fsanitize=${TRUEASYNC_SANITIZE}")
endif()

# The extension is optimised as a whole: spawning and awaiting go through many small functions of many sources. The library's objects hold
# their plain code too, which everybody else links.
if(TRUEASYNC_PHP_PROBE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT TRUEASYNC_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  set(_whole -flto=auto -ffat-lto-objects)
  add_link_options(-fno-lto)
else()
  set(_whole "")
endif()
set(TRUEASYNC_WHOLE_FLAGS "$<$<COMPILE_LANGUAGE:CXX>:${_whole}>")
