# Checks of the tree itself, each with a test that it can fail.
foreach(check IN ITEMS layers sizes classes seams requirements limits protocol
                       packages flags mutants operations references)
  add_test(NAME ${check}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
            -DSHARED=${WEIR_SHARED} -DBUILD=${PROJECT_BINARY_DIR}
            -P ${PROJECT_SOURCE_DIR}/cmake/check_${check}.cmake)
  add_test(NAME ${check}.FindsPlantedFaults
    COMMAND ${CMAKE_COMMAND} -DCHECK=${check}
            -DTREES=${PROJECT_SOURCE_DIR}/tests/data/checks/${check}
            -P ${PROJECT_SOURCE_DIR}/cmake/check_selftest.cmake)
  set_tests_properties(${check} ${check}.FindsPlantedFaults PROPERTIES
    LABELS layers TIMEOUT 60)
endforeach()

# One of the programs: what none of them reaches. Where code is added to each
# function, or the benchmarks are not built, the linker tells nothing.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET weir AND TARGET weir-bench
   AND NOT WEIR_SANITIZE AND NOT WEIR_COVERAGE AND NOT WEIR_FUZZ)
  add_test(NAME unused
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/check_unused.py
            ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_test(NAME unused.FindsPlantedFaults
    COMMAND Python3::Interpreter
            ${PROJECT_SOURCE_DIR}/cmake/check_unused_selftest.py
            ${CMAKE_CXX_COMPILER})
  set_tests_properties(unused unused.FindsPlantedFaults PROPERTIES
    LABELS layers TIMEOUT 60)
endif()

# And one of what the link lines say (weir_link_test).
foreach(module IN ITEMS base atproto wire net storage machines actors simnet
                        apps channel demo)
  if(TARGET weir_${module})
    weir_link_test(${module})
  endif()
endforeach()
