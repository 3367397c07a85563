# The sources are compiled once, into trueasync_objects; a shared and a static library are made from them.

file(GLOB_RECURSE _sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/*.cpp"
  "${PROJECT_SOURCE_DIR}/src/*.S"
  "${PROJECT_SOURCE_DIR}/src/*.hpp"
)
if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
  list(FILTER _sources EXCLUDE REGEX "/src/transparent/")  # its method needs Linux; `off.cpp` says so elsewhere
  list(APPEND _sources "${PROJECT_SOURCE_DIR}/src/transparent/off.cpp")
endif()
file(GLOB_RECURSE _public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/trueasync/*.hpp")

set(TRUEASYNC_GENERATED_INCLUDE "${PROJECT_BINARY_DIR}/include")
configure_file(
  "${PROJECT_SOURCE_DIR}/cmake/version.hpp.in" "${TRUEASYNC_GENERATED_INCLUDE}/trueasync/version.hpp" @ONLY
)

add_library(trueasync_objects OBJECT ${_sources} ${_public_headers})
set_target_properties(trueasync_objects PROPERTIES
  CXX_EXTENSIONS OFF
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  POSITION_INDEPENDENT_CODE ON
)
target_compile_definitions(trueasync_objects PRIVATE TRUEASYNC_BUILDING=1)
# The runtime of a thread is found through one thread-local: initial-exec makes that a single load, also in the shared library.
target_compile_options(trueasync_objects PRIVATE -ftls-model=initial-exec "${TRUEASYNC_WHOLE_FLAGS}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Guesses that the body of a coroutine is the only one it knows, which is the scheduler's own.
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/runtime/scheduler.cpp" PROPERTIES COMPILE_OPTIONS -fno-devirtualize-speculatively
  )
endif()
target_include_directories(trueasync_objects PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${TRUEASYNC_GENERATED_INCLUDE}"
)
target_link_libraries(trueasync_objects PRIVATE trueasync_flags PkgConfig::libuv Threads::Threads)
if(TRUEASYNC_CONTEXT STREQUAL "boost")
  target_compile_definitions(trueasync_objects PRIVATE TRUEASYNC_CONTEXT_BOOST=1)
  target_link_libraries(trueasync_objects PRIVATE Boost::context)
endif()

function(trueasync_add_library target type)
  add_library(${target} ${type} $<TARGET_OBJECTS:trueasync_objects>)
  add_library(TrueAsync::${target} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${TRUEASYNC_GENERATED_INCLUDE}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  )
  target_link_libraries(${target} PRIVATE PkgConfig::libuv Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME trueasync LINKER_LANGUAGE CXX)
  if(TRUEASYNC_CONTEXT STREQUAL "boost")
    target_compile_definitions(${target} PUBLIC TRUEASYNC_CONTEXT_BOOST=1)
    target_link_libraries(${target} PRIVATE Boost::context)
  endif()
endfunction()

trueasync_add_library(trueasync SHARED)
set_target_properties(trueasync PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
if(NOT TRUEASYNC_SANITIZE)
  target_link_options(trueasync PRIVATE LINKER:--no-undefined)  # sanitizer runtimes are resolved in the executable
endif()

trueasync_add_library(trueasync_static STATIC)
