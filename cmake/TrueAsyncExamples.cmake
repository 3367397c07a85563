# examples/cpp/<stem>.cpp -> example_<stem>, run as test example.<stem>.
# examples/guide/<stem>.cpp -> guide_<stem>, run as test guide.<stem>, which compares it with the chapter that shows it.
# They link the shared library, as a user's program does: a symbol that is not exported shows here.

function(trueasync_add_example target source)
  add_executable(${target} "${source}")
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
  )
  target_link_libraries(${target} PRIVATE TrueAsync::trueasync trueasync_flags Threads::Threads)
endfunction()

file(GLOB _examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/cpp/*.cpp")
foreach(_source IN LISTS _examples)
  cmake_path(GET _source STEM _stem)
  trueasync_add_example(example_${_stem} "${_source}")
  add_test(NAME example.${_stem} COMMAND example_${_stem})
  set_tests_properties(example.${_stem} PROPERTIES TIMEOUT ${TRUEASYNC_TEST_TIMEOUT} LABELS example)
endforeach()

file(GLOB _chapters CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/guide/*.cpp")
foreach(_source IN LISTS _chapters)
  cmake_path(GET _source STEM _stem)
  trueasync_add_example(guide_${_stem} "${_source}")
  file(GLOB _page "${PROJECT_SOURCE_DIR}/docs/guide/?-${_stem}.md")
  add_test(NAME guide.${_stem} COMMAND "${CMAKE_COMMAND}"
    "-DPAGE=${_page}" "-DEXAMPLE=${_source}" "-DPROGRAM=$<TARGET_FILE:guide_${_stem}>"
    -P "${PROJECT_SOURCE_DIR}/cmake/CheckShown.cmake"
  )
  set_tests_properties(guide.${_stem} PROPERTIES TIMEOUT ${TRUEASYNC_TEST_TIMEOUT} LABELS example)
endforeach()

add_test(NAME readme.example COMMAND "${CMAKE_COMMAND}"
  "-DPAGE=${PROJECT_SOURCE_DIR}/README.md" "-DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/cpp/hello.cpp"
  -P "${PROJECT_SOURCE_DIR}/cmake/CheckShown.cmake"
)
add_test(NAME readme.example_php COMMAND "${CMAKE_COMMAND}" -DLANGUAGE=php
  "-DPAGE=${PROJECT_SOURCE_DIR}/README.md" "-DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/php/hello.php"
  -P "${PROJECT_SOURCE_DIR}/cmake/CheckShown.cmake"
)
