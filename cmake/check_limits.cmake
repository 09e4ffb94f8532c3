# Fails when a bound of base/limits*.hpp is kept by no code or met by no test.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_limits.cmake
#
# Naming it counts as "limits::name", or as "name" in a file that says "using
# namespace limits". A test of limits.hpp itself only says a number twice.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(code_folders base atproto wire net storage messages actors apps)
file(GLOB tables RELATIVE "${ROOT}" "${ROOT}/base/limits*.hpp")
set(restated ${tables} tests/unit/base/limits_test.cpp)

# -- every bound ---------------------------------------------------------------
set(text "")
foreach(table IN LISTS tables)
  weir_read_code(part "${table}")
  string(APPEND text "${part}\n")
endforeach()
string(REGEX MATCHALL "constexpr +[A-Za-z0-9_:<>, ]+ *[={]" found "${text}")
set(names "")
foreach(each IN LISTS found)
  string(REGEX REPLACE ".*[ >]([a-z0-9_]+) *[={]$" "\\1" name "${each}")
  list(APPEND names "${name}")
endforeach()
if(NOT names)
  weir_fault("base/limits*.hpp: no bound was found")
endif()

# named_in(<out> <folder> ...): the bounds that files of these folders name.
function(named_in out)
  set(seen "")
  weir_sources(sources ${ARGN})
  foreach(source IN LISTS sources)
    if(source IN_LIST restated)
      continue()
    endif()
    weir_read_code(text "${source}")
    set(pattern "limits::[a-z0-9_]+")
    if(text MATCHES "using namespace (weir::)?limits")
      set(pattern "[a-z0-9_]+")
    endif()
    string(REGEX MATCHALL "${pattern}" words "${text}")
    list(TRANSFORM words REPLACE "^limits::" "")
    list(APPEND seen ${words})
    list(REMOVE_DUPLICATES seen)
  endforeach()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()

named_in(kept ${code_folders})
named_in(tested tests)
foreach(name IN LISTS names)
  if(NOT name IN_LIST kept)
    weir_fault("${name}: no code keeps it")
  endif()
  if(NOT name IN_LIST tested)
    weir_fault("${name}: no test meets it")
  endif()
endforeach()
weir_finish("bounds of base/limits*.hpp")
