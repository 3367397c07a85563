# Target `checkheaders`, part of ./dev lint: one generated source for each public header, which includes only it.

file(GLOB_RECURSE _headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_SOURCE_DIR}/include/trueasync/*.hpp"
)
set(_check_sources "")
foreach(_header IN LISTS _headers)
  set(_check_source "${PROJECT_BINARY_DIR}/checkheaders/${_header}.cpp")
  set(_check_text "#include <${_header}>\n#include <${_header}>  // and survives being included twice\n")
  file(CONFIGURE OUTPUT "${_check_source}" CONTENT "${_check_text}" @ONLY)
  list(APPEND _check_sources "${_check_source}")
endforeach()

if(_check_sources)
  add_library(checkheaders OBJECT EXCLUDE_FROM_ALL ${_check_sources})
  set_target_properties(checkheaders PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(checkheaders PRIVATE -fsyntax-only)
  # Only what a user of the library gets: no libuv, no private headers.
  target_link_libraries(checkheaders PRIVATE TrueAsync::trueasync trueasync_flags)
endif()
