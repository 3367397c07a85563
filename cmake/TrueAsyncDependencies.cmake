# What the libraries link. The installed package repeats these lines, see TrueAsyncConfig.cmake.in.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libuv REQUIRED IMPORTED_TARGET libuv>=1.44)

if(TRUEASYNC_CONTEXT STREQUAL "boost")
  find_package(Boost 1.81 REQUIRED COMPONENTS context)
endif()
