# Proves that a check can fail: runs it on a planted tree.
#   cmake -DCHECK=<name> -DTREES=<dir> -P cmake/check_selftest.cmake
#
# <dir>/good must pass. <dir>/bad must fail with every line of
# <dir>/expected.txt in the report, and with no other fault.
cmake_policy(VERSION 3.25)

function(run_check tree out_code out_report)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DROOT=${TREES}/${tree} -DSHARED=${TREES}/shared
            -P ${CMAKE_CURRENT_LIST_DIR}/check_${CHECK}.cmake
    RESULT_VARIABLE code ERROR_VARIABLE report OUTPUT_VARIABLE report)
  set(${out_code} "${code}" PARENT_SCOPE)
  set(${out_report} "${report}" PARENT_SCOPE)
endfunction()

run_check(good code report)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the good tree fails ${CHECK}:\n${report}")
endif()

run_check(bad code report)
if(code EQUAL 0)
  message(FATAL_ERROR "the bad tree passes ${CHECK}")
endif()
file(STRINGS "${TREES}/expected.txt" expected)
foreach(fault IN LISTS expected)
  string(FIND "${report}" "${fault}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${CHECK} does not find: ${fault}\n${report}")
  endif()
endforeach()
list(LENGTH expected expected_count)
string(REGEX MATCHALL "\n    [^ \n]" faults "${report}")
list(LENGTH faults fault_count)
if(NOT fault_count EQUAL expected_count)
  message(FATAL_ERROR
    "${CHECK} reports ${fault_count} faults, not ${expected_count}:\n${report}")
endif()
