# Fails when docs/requirements.md promises a proof that does not exist: a test
# name no test file defines, "done" without a test, or a requirement left out.
# CTest runs: cmake -DROOT=<source dir> [-DSHARED=<dir>] \
#                   -P cmake/check_requirements.cmake
#
# A row is "| id | tests | status | asks |". A test is Suite.Name (several are
# separated by <br>) or the path of a file below tests/. "-" means none.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(id_pattern "(CONS|OPLOG|SYNC|CONTENT|INDEX)-[0-9][0-9]")
set(table "${ROOT}/docs/requirements.md")

weir_tests(tests)

# -- every row -----------------------------------------------------------------
if(NOT EXISTS "${table}")
  message(FATAL_ERROR "no such file: docs/requirements.md")
endif()
set(ids "")
file(STRINGS "${table}" rows REGEX "^\\| *${id_pattern} *\\|")
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^\\| *([A-Z]+-[0-9]+) *\\| *([^|]*[^| ]) *\\| *([a-z]+) *\\|")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  set(id "${CMAKE_MATCH_1}")
  set(proofs "${CMAKE_MATCH_2}")
  set(status "${CMAKE_MATCH_3}")
  if(id IN_LIST ids)
    weir_fault("${id}: two rows")
  endif()
  list(APPEND ids "${id}")
  if(NOT status MATCHES "^(planned|partly|done)$")
    weir_fault("${id}: unknown status ${status}")
  endif()
  if(proofs STREQUAL "-")
    if(status STREQUAL "done")
      weir_fault("${id}: done without a test")
    endif()
    continue()
  endif()
  string(REGEX REPLACE " *<br> *" ";" proofs "${proofs}")
  foreach(proof IN LISTS proofs)
    if(NOT proof IN_LIST tests
       AND NOT (proof MATCHES "^tests/" AND EXISTS "${ROOT}/${proof}"))
      weir_fault("${id}: no such test: ${proof}")
    endif()
  endforeach()
endforeach()

# -- every requirement ---------------------------------------------------------
if(EXISTS "${SHARED}/spec/requirements.md")
  file(READ "${SHARED}/spec/requirements.md" text)
  string(REGEX MATCHALL "\\*\\*${id_pattern}\\*\\*" wanted "${text}")
  list(REMOVE_DUPLICATES wanted)
  foreach(id IN LISTS wanted)
    string(REPLACE "*" "" id "${id}")
    if(NOT id IN_LIST ids)
      weir_fault("${id}: no row")
    endif()
  endforeach()
else()
  message(WARNING "no ${SHARED}/spec/requirements.md: whether each requirement has "
                  "a row was not checked")
endif()
weir_finish("docs/requirements.md does not hold")
