# What the checks share. A check is a script: cmake -DROOT=<tree> -P check_x.cmake
# It names every fault with its file and fails once, at the end.
cmake_policy(VERSION 3.25)

set(weir_folders base atproto wire net storage messages actors simnet apps bench
                 tests)

# weir_sources(<out> <folder> …): the C++ files of some folders, relative to
# ROOT. The planted trees of the checks' own tests are no part of the project.
function(weir_sources out)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files RELATIVE "${ROOT}"
         "${ROOT}/${folder}/*.hpp" "${ROOT}/${folder}/*.cpp")
    list(APPEND found ${files})
  endforeach()
  list(FILTER found EXCLUDE REGEX "^tests/data/")
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# weir_read_code(<out> <file>): the text without // comments, safe to use as a
# list of lines (a CMake list would stumble over ; [ ] and \).
function(weir_read_code out file)
  file(READ "${ROOT}/${file}" text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weir_tests(<out>): every GoogleTest there is, as Suite.Name.
function(weir_tests out)
  set(found "")
  weir_sources(sources tests)
  foreach(source IN LISTS sources)
    weir_read_code(text "${source}")
    string(REGEX MATCHALL "TEST(_F|_P)? *\\([^)]+\\)" macros "${text}")
    foreach(macro IN LISTS macros)
      if(macro MATCHES "\\([ \n]*([A-Za-z0-9_]+)[ \n]*,[ \n]*([A-Za-z0-9_]+)")
        list(APPEND found "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
      endif()
    endforeach()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# weir_read_allowed(<out> <file> <key>): the keys of cmake/<file>, which lists what
# a check lets pass: "<key> | reason".
function(weir_read_allowed out file key)
  set(found "")
  if(EXISTS "${ROOT}/cmake/${file}")
    file(STRINGS "${ROOT}/cmake/${file}" entries REGEX "^[^#]")
    foreach(entry IN LISTS entries)
      if(entry MATCHES "^([^|]+) \\| ([^|]+)$")
        list(APPEND found "${CMAKE_MATCH_1}")
      else()
        weir_fault("${file}: not \"${key} | reason\": ${entry}")
      endif()
    endforeach()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# weir_fault(<sentence>): remembers one fault.
function(weir_fault sentence)
  set_property(GLOBAL APPEND_STRING PROPERTY weir_faults "\n  ${sentence}")
endfunction()

# weir_finish(<what is wrong>): fails when there was a fault.
function(weir_finish title)
  get_property(faults GLOBAL PROPERTY weir_faults)
  if(faults)
    message(FATAL_ERROR "${title}:${faults}")
  endif()
endfunction()
