# Stops PROGRAM in stop_here, lists its coroutines with COMMANDS and compares places with the marked lines of SOURCE.

execute_process(
  COMMAND "${GDB}" -nx -batch
    -ex "set debuginfod enabled off" -ex "set width 0" -ex "source ${COMMANDS}"
    -ex "break stop_here" -ex "run" -ex "trueasync coroutines" -ex "trueasync bt all"
    -ex "trueasync select 2" -ex "up" -ex "info locals" -ex "trueasync select" -ex "trueasync stacks" -ex "continue"
    "${PROGRAM}"
  OUTPUT_VARIABLE _output
  ERROR_VARIABLE _output
)
message("${_output}")

file(READ "${SOURCE}" _source)
cmake_path(GET SOURCE FILENAME _file)

# The number of the line that ends in `// line: <marker>`.
function(line_of marker result)
  string(FIND "${_source}" "// line: ${marker}\n" _position)
  string(SUBSTRING "${_source}" 0 ${_position} _before)
  string(REGEX MATCHALL "\n" _breaks "${_before}")
  list(LENGTH _breaks _count)
  math(EXPR _count "${_count} + 1")
  set(${result} ${_count} PARENT_SCOPE)
endfunction()

function(expect what regex)
  if(NOT _output MATCHES "${regex}")
    message(FATAL_ERROR "missing in the output above: ${what}\n  ${regex}")
  endif()
endfunction()

line_of(first _first)
line_of(inside _inside)
line_of(last _last)
set(_at "\n  spawn: [^\n]*${_file}:")
set(_suspended "[^\n]*\n  suspend: [^\n]*${_file}:")
expect("the list" "Coroutines: 4\nCoroutine 1 'main' \\(running\\)\n")
expect("the waiting one" "Coroutine 2 \\(waiting\\)${_at}${_first} ${_suspended}${_inside} \\([^\n]*deep_inside")
expect("the sleeping one" "Coroutine 3 \\(waiting\\)${_at}${_inside} ${_suspended}${_inside} ")
expect("the unstarted one" "Coroutine 4 \\(not started\\)${_at}${_last} [^\n]*\n  suspend: unknown\n")
set(_frame "[^\n]*\n#[0-9]+ +0x[0-9a-f]+ in deep_inside \\(depth=")
expect("its backtrace" "Coroutine 2 \\(waiting\\)\n#0 [^\n]*(\n#[^\n]*)* deep_inside \\(depth=0\\)${_frame}1\\)${_frame}2\\)")
expect("the selected coroutine" "Coroutine 2 \\(waiting\\)\n#[0-9]+ +([^\n]* )?deep_inside \\(depth=0\\)[^\n]*\n${_inside}\t")
expect("its caller" "deep_inside \\(depth=1\\)[^\n]*\n[0-9]+\t[^\n]*\nthere = 11\n")
expect("the stacks" "Stacks: [0-9]+ live")
expect("the program's end" "exited normally")
