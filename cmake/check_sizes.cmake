# Fails when a file is longer than a reader should have to hold in mind.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_sizes.cmake
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(hpp_lines_max 250)
set(cpp_lines_max 400)

weir_sources(sources ${weir_folders})
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX MATCHALL "\n" lines "${text}")
  list(LENGTH lines count)
  string(REGEX MATCH "[ch]pp$" kind "${source}")
  if(count GREATER ${kind}_lines_max)
    weir_fault("${source}: ${count} lines, ${${kind}_lines_max} are allowed")
  endif()
endforeach()
weir_finish("files that are too long")
