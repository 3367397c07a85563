# Runs SCRIPT in PHP with EXTENSION and compares its output, standard error and exit code included, with <stem>.expected.

cmake_path(GET SCRIPT STEM _stem)
cmake_path(GET SCRIPT PARENT_PATH _folder)
file(REAL_PATH "${_folder}" _folder)  # as PHP prints it
execute_process(
  COMMAND "${PHP}" -n -d "extension=${EXTENSION}" -d display_errors=1 -d html_errors=0 "${_stem}.php"
  WORKING_DIRECTORY "${_folder}"
  RESULT_VARIABLE _code
  OUTPUT_VARIABLE _output
  ERROR_VARIABLE _output
)
string(REPLACE "${_folder}/" "" _output "${_output}")
string(APPEND _output "exit code ${_code}\n")
file(READ "${_folder}/${_stem}.expected" _expected)
if(NOT _output STREQUAL _expected)
  message(FATAL_ERROR "${_stem}.php printed\n${_output}--- but ${_stem}.expected says\n${_expected}")
endif()
