# The program in README is examples/cpp/hello.cpp, to the letter: what people copy has been compiled and run.
file(READ "${README}" _readme)
file(READ "${EXAMPLE}" _example)
string(FIND "${_readme}" "```cpp\n${_example}```" _place)
if(_place EQUAL -1)
  message(FATAL_ERROR "README does not show ${EXAMPLE} as it is")
endif()
