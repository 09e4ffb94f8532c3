# Fails when a bound of a limits*.hpp is kept by no code, met by no test, or does
# not stand in the folder that keeps it: in base when only one other folder names
# it, or in a folder that does not.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_limits.cmake
#
# Naming it counts as "limits::name", or as "name" in a file that says "using
# namespace limits". A test of limits.hpp itself only says a number twice.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(code_folders base atproto wire net storage messages actors apps)
weir_sources(tables ${code_folders})
list(FILTER tables INCLUDE REGEX "/limits(_[a-z]+)?\\.hpp$")
set(restated ${tables} tests/unit/base/limits_test.cpp)

# -- every bound ---------------------------------------------------------------
set(names "")
foreach(table IN LISTS tables)
  weir_read_code(text "${table}")
  string(REGEX MATCHALL "constexpr +[A-Za-z0-9_:<>, ]+ *[={]" found "${text}")
  foreach(each IN LISTS found)
    string(REGEX REPLACE ".*[ >]([a-z0-9_]+) *[={]$" "\\1" name "${each}")
    list(APPEND names "${name}")
    get_filename_component(${name}_home "${table}" DIRECTORY)
  endforeach()
endforeach()
if(NOT names)
  weir_fault("limits*.hpp: no bound was found")
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

set(kept "")
foreach(folder IN LISTS code_folders)
  named_in(kept_by_${folder} ${folder})
  list(APPEND kept ${kept_by_${folder}})
endforeach()
named_in(tested tests)

# The folders that keep a bound, actors' own folders apart: those see the bounds
# of `support`, and node sees those of all.
function(check_home name)
  string(REGEX MATCH "^[a-z]+" home "${${name}_home}")
  set(keepers "")
  foreach(folder IN LISTS code_folders)
    if(name IN_LIST kept_by_${folder})
      list(APPEND keepers ${folder})
    endif()
  endforeach()
  list(LENGTH keepers count)
  if(home STREQUAL "base" AND count EQUAL 1 AND NOT keepers STREQUAL "base")
    weir_fault("${name}: only ${keepers} keeps it, and base has it")
  elseif(NOT home STREQUAL "base" AND NOT home IN_LIST keepers)
    weir_fault("${name}: ${home} has it and does not keep it")
  endif()
endfunction()

foreach(name IN LISTS names)
  if(NOT name IN_LIST kept)
    weir_fault("${name}: no code keeps it")
  else()
    check_home(${name})
  endif()
  if(NOT name IN_LIST tested)
    weir_fault("${name}: no test meets it")
  endif()
endforeach()
weir_finish("bounds of limits*.hpp")
