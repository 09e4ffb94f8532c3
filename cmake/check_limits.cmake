# Fails when a bound of a limits*.hpp is kept by no code, met by no test, or does
# not stand in the folder that keeps it: in base when only one other folder names
# it, or in a folder that does not.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_limits.cmake
#
# Naming it counts as "limits::name", or as "name" in a file that says "using
# namespace limits". A test of limits.hpp itself only says a number twice, and one
# that compares a default with the constant it is made of does no more than that:
# EXPECT_EQ(x.queue_max, limits::queue_max), where x is a temporary or a variable of
# options that nobody set.
#
# cmake/limits_scaled.txt lists bounds too large for a test, "name | the test that
# meets the rule with a smaller number".
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

# Takes the comparisons of a default with its own constant out of a test.
function(drop_comparisons text_variable)
  set(text "${${text_variable}}")
  set(rest "(\\.[a-z_]+)+,[ \n]*(limits::)?[a-z0-9_]+(\\.standard)?[ \n]*\\)")
  set(begin "(EXPECT|ASSERT)_EQ\\([ \n]*")
  string(REGEX REPLACE "${begin}[A-Za-z_:]+{}${rest}" "" text "${text}")
  string(REGEX MATCHALL
    "[a-z_:]*(options|settings|bounds|rules|config) [a-z_]+ *\n" unset "${text}")
  foreach(each IN LISTS unset)
    string(REGEX REPLACE ".* ([a-z_]+) *\n$" "\\1" variable "${each}")
    string(REGEX REPLACE "${begin}${variable}${rest}" "" text "${text}")
  endforeach()
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

# named_in(<out> <folder> ...): the bounds that files of these folders name.
function(named_in out)
  set(seen "")
  weir_sources(sources ${ARGN})
  foreach(source IN LISTS sources)
    if(source IN_LIST restated)
      continue()
    endif()
    weir_read_code(text "${source}")
    if(source MATCHES "^tests/")
      drop_comparisons(text)
    endif()
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

set(scaled "")
if(EXISTS "${ROOT}/cmake/limits_scaled.txt")
  file(STRINGS "${ROOT}/cmake/limits_scaled.txt" scaled REGEX "^[a-z]")
  list(TRANSFORM scaled REPLACE " \\|.*" "")
endif()

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
  if(NOT name IN_LIST tested AND NOT name IN_LIST scaled)
    weir_fault("${name}: no test meets it")
  endif()
endforeach()
foreach(name IN LISTS scaled)
  if(name IN_LIST tested OR NOT name IN_LIST names)
    weir_fault("limits_scaled.txt: ${name} is met, or is no more")
  endif()
endforeach()
weir_finish("bounds of limits*.hpp")
