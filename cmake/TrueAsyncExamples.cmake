# examples/cpp/<stem>.cpp -> example_<stem>, run as test example.<stem>.
# They link the shared library, as a user's program does: a symbol that is not exported shows here.

file(GLOB _examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/cpp/*.cpp")
foreach(_source IN LISTS _examples)
  cmake_path(GET _source STEM _stem)
  add_executable(example_${_stem} "${_source}")
  set_target_properties(example_${_stem} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
  )
  target_link_libraries(example_${_stem} PRIVATE TrueAsync::trueasync trueasync_flags Threads::Threads)
  add_test(NAME example.${_stem} COMMAND example_${_stem})
  set_tests_properties(example.${_stem} PROPERTIES TIMEOUT ${TRUEASYNC_TEST_TIMEOUT} LABELS example)
endforeach()

add_test(NAME readme.example COMMAND "${CMAKE_COMMAND}"
  "-DREADME=${PROJECT_SOURCE_DIR}/README.md" "-DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/cpp/hello.cpp"
  -P "${PROJECT_SOURCE_DIR}/cmake/CheckReadme.cmake"
)
