# Fails when a bound of a limits*.hpp is kept by no code, met by no test, or does
# not stand in the folder that keeps it: in base or actors/support when only one
# other folder names it, or in a folder that does not. Each actor has a folder of
# its own, and so has each room of storage and each app; NODE, which wires the
# actors, names what others keep as well.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_limits.cmake
#
# Naming it counts as "limits::name", or as "name" in a file that says "using
# namespace limits". A test of limits.hpp itself only says a number twice, and one
# that compares a default with the constant it is made of does no more than that:
# EXPECT_EQ(x.queue_max, limits::queue_max), where x is a temporary or a variable of
# options that nobody set. One through a pointer to a member is refused: it says
# the same of many, and which ones cannot be read from it.
#
# A fixture or the simulation plays a part with a bound and judges nothing: only
# files of tests count, *_test.cpp.
#
# cmake/limits_scaled.txt lists bounds too large for a test, "name | the test that
# meets the rule with a smaller number", and cmake/limits_allowed.txt those that
# no test meets, "name | reason".
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(code_folders base atproto wire net storage messages actors apps)
weir_sources(tables ${code_folders})
list(FILTER tables INCLUDE REGEX "/limits(_[a-z]+)?\\.hpp$")
set(restated ${tables} tests/unit/base/limits_test.cpp)

# room_of(<out> <file>): its folder, with the room where it lies in one.
function(room_of out file)
  get_filename_component(folder "${file}" DIRECTORY)
  string(REGEX MATCH "^((storage|actors|apps)/)?[a-z_]+" room "${folder}")
  set(${out} "${room}" PARENT_SCOPE)
endfunction()

# -- every bound ---------------------------------------------------------------
set(names "")
foreach(table IN LISTS tables)
  weir_read_code(text "${table}")
  string(REGEX MATCHALL "constexpr +[A-Za-z0-9_:<>, ]+ *[={]" found "${text}")
  foreach(each IN LISTS found)
    string(REGEX REPLACE ".*[ >]([a-z0-9_]+) *[={]$" "\\1" name "${each}")
    list(APPEND names "${name}")
    room_of(${name}_home "${table}")
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

# refuse_members(<file> <its text>): comparisons of x.*member with a standard.
function(refuse_members source text)
  set(standard "[A-Za-z_]+(\\.|->)\\*[a-z_]+,[ \n]*[A-Za-z_:]+\\.standard")
  if(text MATCHES "(EXPECT|ASSERT)_EQ\\([ \n]*${standard}")
    weir_fault("${source}: compares defaults with what they are made of")
  endif()
endfunction()

# named_in(<out> <folder> ...): the bounds that files of these folders name.
function(named_in out)
  set(seen "")
  weir_sources(sources ${ARGN})
  foreach(source IN LISTS sources)
    if(source IN_LIST restated
       OR (source MATCHES "^tests/" AND NOT source MATCHES "_test\\.cpp$"))
      continue()
    endif()
    weir_read_code(text "${source}")
    if(source MATCHES "^tests/")
      drop_comparisons(text)
      refuse_members("${source}" "${text}")
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
  weir_tests(all_tests)
  foreach(entry IN LISTS scaled)
    string(REGEX REPLACE ".*\\| *" "" test "${entry}")
    if(NOT test IN_LIST all_tests)
      weir_fault("limits_scaled.txt: no such test: ${test}")
    endif()
  endforeach()
  list(TRANSFORM scaled REPLACE " \\|.*" "")
endif()
weir_read_allowed(allowed limits_allowed.txt name)

# Folders that may keep a bound: those of the tree, and where these have rooms,
# each of them instead.
set(roomy storage actors apps)
set(rooms ${code_folders})
weir_sources(in_rooms ${roomy})
foreach(source IN LISTS in_rooms)
  room_of(room "${source}")
  list(APPEND rooms ${room})
endforeach()
list(REMOVE_ITEM rooms ${roomy})
list(REMOVE_DUPLICATES rooms)

set(kept "")
foreach(room IN LISTS rooms)
  named_in(kept_by_${room} ${room})
  list(APPEND kept ${kept_by_${room}})
endforeach()
named_in(tested tests)

# A bound that another bound of the same folder is made of, such as the default
# of a range, is kept there as well.
foreach(table IN LISTS tables)
  weir_read_code(text "${table}")
  string(REGEX REPLACE "constexpr +[A-Za-z0-9_:<>, ]+ " "" text "${text}")
  string(REGEX MATCHALL "[ {(][a-z0-9_]+[,.})]" words "${text}")
  list(TRANSFORM words REPLACE "[^a-z0-9_]" "")
  room_of(room "${table}")
  list(APPEND kept_by_${room} ${words})
endforeach()

function(check_home name)
  set(home "${${name}_home}")
  set(keepers "")
  foreach(room IN LISTS rooms)
    if(name IN_LIST kept_by_${room})
      list(APPEND keepers ${room})
    endif()
  endforeach()
  list(LENGTH keepers count)
  set(shared base actors/support storage apps)
  if(home IN_LIST shared AND count EQUAL 1 AND NOT keepers STREQUAL home)
    weir_fault("${name}: only ${keepers} keeps it, and ${home} has it")
  elseif(NOT home IN_LIST shared AND NOT home IN_LIST keepers)
    weir_fault("${name}: ${home} has it and does not keep it")
  endif()
endfunction()

foreach(name IN LISTS names)
  if(NOT name IN_LIST kept)
    weir_fault("${name}: no code keeps it")
  else()
    check_home(${name})
  endif()
  if(NOT name IN_LIST tested AND NOT name IN_LIST scaled
     AND NOT name IN_LIST allowed)
    weir_fault("${name}: no test meets it")
  endif()
endforeach()
foreach(name IN LISTS scaled)
  if(name IN_LIST tested OR NOT name IN_LIST names)
    weir_fault("limits_scaled.txt: ${name} is met, or is no more")
  endif()
endforeach()
foreach(name IN LISTS allowed)
  if(name IN_LIST tested OR NOT name IN_LIST names)
    weir_fault("limits_allowed.txt: ${name} is met, or is no more")
  endif()
endforeach()
weir_finish("bounds of limits*.hpp")
