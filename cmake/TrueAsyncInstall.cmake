# cmake --install: headers, both libraries, the CMake package and trueasync.pc.
if(NOT TRUEASYNC_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/TrueAsync")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${TRUEASYNC_GENERATED_INCLUDE}/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def"
)

# Two export sets: whoever links the shared library needs no libuv development files.
install(TARGETS trueasync EXPORT TrueAsyncShared)
install(TARGETS trueasync_static EXPORT TrueAsyncStatic)
install(EXPORT TrueAsyncShared NAMESPACE TrueAsync:: FILE TrueAsyncShared.cmake DESTINATION "${_package_dir}")
install(EXPORT TrueAsyncStatic NAMESPACE TrueAsync:: FILE TrueAsyncStatic.cmake DESTINATION "${_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/TrueAsyncConfig.cmake.in" "${PROJECT_BINARY_DIR}/TrueAsyncConfig.cmake"
  INSTALL_DESTINATION "${_package_dir}"
)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TrueAsyncConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/TrueAsyncConfig.cmake" "${PROJECT_BINARY_DIR}/TrueAsyncConfigVersion.cmake"
  DESTINATION "${_package_dir}"
)

set(TRUEASYNC_PC_CFLAGS "")
set(TRUEASYNC_PC_LIBS_PRIVATE "-pthread")
if(CMAKE_DL_LIBS)
  string(APPEND TRUEASYNC_PC_LIBS_PRIVATE " -l${CMAKE_DL_LIBS}")
endif()
if(TRUEASYNC_CONTEXT STREQUAL "boost")
  set(TRUEASYNC_PC_CFLAGS "-DTRUEASYNC_CONTEXT_BOOST=1")
  string(APPEND TRUEASYNC_PC_LIBS_PRIVATE " -lboost_context")
endif()
# Relative to the place of the file itself, so that an installation may be moved; absolute directories stay absolute.
file(RELATIVE_PATH _up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(TRUEASYNC_PC_PREFIX "\${pcfiledir}/${_up}")
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR _absolute_libdir)
if(_absolute_libdir)
  set(TRUEASYNC_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
endif()
set(TRUEASYNC_PC_LIBDIR "\${prefix}")
cmake_path(APPEND TRUEASYNC_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
set(TRUEASYNC_PC_INCLUDEDIR "\${prefix}")
cmake_path(APPEND TRUEASYNC_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/trueasync.pc.in" "${PROJECT_BINARY_DIR}/trueasync.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/trueasync.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
