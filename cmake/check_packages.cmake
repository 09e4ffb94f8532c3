# Fails when a group of packages.txt is installed by no target of the Makefile,
# or a target asks for a group that is not there: on a machine that happens to
# have the packages nobody would notice.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_packages.cmake
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

file(STRINGS "${ROOT}/packages.txt" headings REGEX "^# [a-z]+:")
set(groups "")
foreach(heading IN LISTS headings)
  string(REGEX REPLACE "^# ([a-z]+):.*" "\\1" group "${heading}")
  list(APPEND groups "${group}")
endforeach()

file(STRINGS "${ROOT}/Makefile" calls REGEX "cmake/install_packages ")
set(installed "")
foreach(call IN LISTS calls)
  string(REGEX REPLACE ".*cmake/install_packages +" "" names "${call}")
  string(REGEX REPLACE " +" ";" names "${names}")
  list(APPEND installed ${names})
endforeach()
list(REMOVE_DUPLICATES installed)

foreach(group IN LISTS groups)
  if(NOT group IN_LIST installed)
    weir_fault("packages.txt: no target of the Makefile installs ${group}")
  endif()
endforeach()
foreach(group IN LISTS installed)
  if(NOT group IN_LIST groups)
    weir_fault("Makefile: packages.txt has no group ${group}")
  endif()
endforeach()
weir_finish("packages that are not installed")
