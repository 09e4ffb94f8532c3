# Fails when a mutant of tests/mutants is out of date: it does not apply any
# more, changes something else than the product, or does not say what it breaks.
# One of tests/mutants/rows names a row of docs/requirements.md that is done, and
# a test that this row names; each row that is done has one.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_mutants.cmake
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(lines_max 24)
set(product base atproto wire net storage messages actors)
set(properties buffering complete delivery events fairness ids memory order positions
  progress settles silence thrift kept statuses store)

find_program(git git)
if(NOT git)
  message(FATAL_ERROR "git is not there, which applies the patches")
endif()

# Its header: words before the diff, which git ignores. Sets name, breaks,
# source, notices, unit_test, row and test in the caller.
function(read_header text)
  string(FIND "${text}" "\ndiff --git " end)
  string(SUBSTRING "${text}" 0 ${end} header)
  string(REGEX REPLACE "\n  +" " " header "${header}\n") # What is continued.
  foreach(word IN ITEMS name breaks source notices "unit test" row test)
    string(REPLACE " " "_" variable "${word}")
    set(${variable} "" PARENT_SCOPE)
    if("\n${header}" MATCHES "\n${word}: ([^\n]+)\n")
      set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Whether it is small, in the product only, and applies.
function(check_diff file text product)
  string(REGEX MATCHALL "\n[+][+][+] [^\n]+" targets "${text}")
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "\n[+][+][+] (b/)?" "" target "${target}")
    string(REGEX REPLACE "/.*" "" folder "${target}")
    if(NOT folder IN_LIST product)
      weir_fault("${file}: changes ${target}, which is no part of the product")
    endif()
  endforeach()
  string(REGEX MATCHALL "\n[+-]" lines "${text}")
  list(LENGTH lines count)
  list(LENGTH targets files)
  math(EXPR count "${count} - 2 * ${files}")
  if(count GREATER lines_max)
    weir_fault("${file}: changes ${count} lines, ${lines_max} are allowed")
  endif()
  # Paths are those below ROOT, whatever repository that is in.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_DIR=/nonexistent
            ${git} apply --check --whitespace=nowarn "${ROOT}/${file}"
    WORKING_DIRECTORY "${ROOT}"
    RESULT_VARIABLE code ERROR_VARIABLE ignored OUTPUT_VARIABLE ignored)
  if(NOT code EQUAL 0)
    weir_fault("${file}: does not apply any more")
  endif()
endfunction()

# Reads what every mutant says; `text` is safe to use as a list of lines.
macro(read_mutant file)
  file(READ "${ROOT}/${file}" text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  read_header("${text}")
  get_filename_component(stem "${file}" NAME_WE)
  if(NOT name STREQUAL stem)
    weir_fault("${file}: its name is \"${name}\"")
  endif()
endmacro()

# Sets done in the caller: the ids of rows that are, and done_<id>: their tests.
function(read_rows)
  set(ids "")
  set(table "${ROOT}/docs/requirements.md")
  if(EXISTS "${table}")
    file(STRINGS "${table}" rows REGEX "^[|] *[A-Z]+-[0-9]+ *[|].*[|] *done *[|]")
    foreach(row IN LISTS rows)
      string(REGEX MATCH "^[|] *([A-Z]+-[0-9]+) *[|] *([^| ]+) *[|]" ignored "${row}")
      list(APPEND ids "${CMAKE_MATCH_1}")
      string(REPLACE "<br>" ";" proofs "${CMAKE_MATCH_2}")
      set(done_${CMAKE_MATCH_1} "${proofs}" PARENT_SCOPE)
    endforeach()
  endif()
  set(done "${ids}" PARENT_SCOPE)
endfunction()

# Whether it breaks a rule of which the table says that a test would notice.
function(check_row file)
  if(NOT breaks OR NOT row OR NOT test)
    weir_fault("${file}: says not what it breaks, of which row, or which test fails")
    return()
  endif()
  if(NOT row IN_LIST done)
    weir_fault("${file}: there is no row \"${row}\" that is done")
  elseif(NOT (test MATCHES "^[a-z_]+[.]([^ ]+)$"
              AND CMAKE_MATCH_1 IN_LIST done_${row}))
    weir_fault("${file}: the row ${row} names no test \"${test}\"")
  endif()
endfunction()

weir_tests(tests)
file(GLOB mutants RELATIVE "${ROOT}" "${ROOT}/tests/mutants/*.patch")
if(NOT mutants)
  weir_fault("tests/mutants: no mutant was found")
endif()
foreach(mutant IN LISTS mutants)
  read_mutant("${mutant}")
  if(NOT breaks OR NOT source OR NOT unit_test)
    weir_fault("${mutant}: says not what it breaks, whence, or which test fails")
  endif()
  # Behind the name of its program.
  if(NOT unit_test STREQUAL "none"
     AND NOT (unit_test MATCHES "^[a-z_]+[.]([^ ]+)$"
              AND CMAKE_MATCH_1 IN_LIST tests))
    weir_fault("${mutant}: there is no test \"${unit_test}\"")
  endif()
  string(REPLACE ", " ";" notices "${notices}")
  foreach(property IN LISTS notices)
    if(NOT property IN_LIST properties)
      weir_fault("${mutant}: there is no property \"${property}\"")
    endif()
  endforeach()
  if(NOT notices)
    weir_fault("${mutant}: says not which property notices it")
  endif()
  check_diff("${mutant}" "${text}" "${product}")
endforeach()

read_rows()
set(taken_out "")
file(GLOB mutants RELATIVE "${ROOT}" "${ROOT}/tests/mutants/rows/*.patch")
foreach(mutant IN LISTS mutants)
  read_mutant("${mutant}")
  check_row("${mutant}")
  check_diff("${mutant}" "${text}" "${product};apps")
  list(APPEND taken_out "${row}")
endforeach()
foreach(id IN LISTS done)
  if(NOT id IN_LIST taken_out)
    weir_fault("docs/requirements.md: ${id} is done, and no mutant takes it out")
  endif()
endforeach()
weir_finish("mutants that are out of date")
