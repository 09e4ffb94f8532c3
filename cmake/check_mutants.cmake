# Fails when a mutant of tests/mutants is out of date: it does not apply any
# more, changes something else than the product, or does not say what it breaks.
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
# source, notices and unit_test in the caller.
function(read_header text)
  string(FIND "${text}" "\ndiff --git " end)
  string(SUBSTRING "${text}" 0 ${end} header)
  string(REGEX REPLACE "\n  +" " " header "${header}\n") # What is continued.
  foreach(word IN ITEMS name breaks source notices "unit test")
    string(REPLACE " " "_" variable "${word}")
    set(${variable} "" PARENT_SCOPE)
    if("\n${header}" MATCHES "\n${word}: ([^\n]+)\n")
      set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Whether it is small, and in the product only.
function(check_diff file text)
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
endfunction()

weir_tests(tests)
file(GLOB mutants RELATIVE "${ROOT}" "${ROOT}/tests/mutants/*.patch")
if(NOT mutants)
  weir_fault("tests/mutants: no mutant was found")
endif()
foreach(mutant IN LISTS mutants)
  file(READ "${ROOT}/${mutant}" text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  read_header("${text}")
  get_filename_component(stem "${mutant}" NAME_WE)
  if(NOT name STREQUAL stem)
    weir_fault("${mutant}: its name is \"${name}\"")
  endif()
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
  check_diff("${mutant}" "${text}")
  # Paths are those below ROOT, whatever repository that is in.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_DIR=/nonexistent
            ${git} apply --check --whitespace=nowarn "${ROOT}/${mutant}"
    WORKING_DIRECTORY "${ROOT}"
    RESULT_VARIABLE code ERROR_VARIABLE ignored OUTPUT_VARIABLE ignored)
  if(NOT code EQUAL 0)
    weir_fault("${mutant}: does not apply any more")
  endif()
endforeach()
weir_finish("mutants that are out of date")
