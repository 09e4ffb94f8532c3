# Fails when a file or a function of the product is longer than a reader should
# have to hold in mind, or a line with a comment wider than its screen. Files of
# tests are checked as well, their functions not.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_sizes.cmake
#
# A function ends with a line that is one brace, as clang-format leaves it. It
# began with the last line before that has the same indentation, and it stands at
# the left margin or in a class. cmake/sizes_allowed.txt lists the functions that
# may be longer, "function | reason": <file>:<name>, or a name for any file.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(hpp_lines_max 250)
set(cpp_lines_max 400)
set(function_lines_max 40)
set(columns_max 80)

weir_read_allowed(allowed sizes_allowed.txt "function")
set(unused ${allowed})

# A "//" before any text in quotes, or after the last one, begins a comment. The
# "//" of a URL stands in quotes.
function(check_comments source)
  math(EXPR too_wide "${columns_max} + 1")
  file(STRINGS "${ROOT}/${source}" wide LENGTH_MINIMUM ${too_wide}
       REGEX "^[^\"]*//|//[^\"]*$" ENCODING UTF-8)
  if(NOT wide STREQUAL "")
    weir_fault("${source}: a comment ends beyond column ${columns_max}")
  endif()
endfunction()

# A function of so many lines that begins with this line.
function(check_function source first count)
  if(count LESS_EQUAL function_lines_max)
    return()
  endif()
  string(REGEX MATCH "([A-Za-z0-9_~]+)\\(" name "${first}")
  set(name "${CMAKE_MATCH_1}")
  foreach(key IN ITEMS "${source}:${name}" "${name}")
    if(key IN_LIST allowed)
      list(REMOVE_ITEM unused "${key}")
      set(unused "${unused}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  weir_fault("${source}: ${name} has ${count} lines, ${function_lines_max} are allowed")
endfunction()

# Finds the functions of a file. For each indentation it keeps the last line: its
# number, and whether a class stands there; and the last one that begins
# something.
function(check_functions source)
  weir_read_code(text "${source}")
  string(REPLACE "\n" ";" lines "${text}")
  set(number 0)
  set(depths "")
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^( *)([^ #].*)$")
      string(LENGTH "${CMAKE_MATCH_1}" depth)
      set(words "${CMAKE_MATCH_2}")
      # What is further to the right has ended.
      while(NOT depths STREQUAL "")
        list(GET depths -1 inner)
        if(inner LESS_EQUAL depth)
          break()
        endif()
        list(POP_BACK depths)
      endwhile()
      if(words MATCHES "^[})]")
        set(outer ${depths})
        list(REMOVE_ITEM outer ${depth})
        set(in_class TRUE)
        if(NOT outer STREQUAL "")
          list(GET outer -1 outer)
          set(in_class "${class_${outer}}")
        endif()
        if(words STREQUAL "}" AND in_class AND DEFINED first_${depth})
          math(EXPR count "${number} - ${begin_${depth}} + 1")
          check_function("${source}" "${first_${depth}}" ${count})
        endif()
      else()
        set(begin_${depth} ${number})
        set(first_${depth} "${words}")
        set(class_${depth} FALSE)
        if(words MATCHES "^(class|struct|union|public:|private:|protected:)")
          set(class_${depth} TRUE)
        endif()
      endif()
      if(NOT depth IN_LIST depths)
        list(APPEND depths ${depth})
      endif()
    endif()
  endforeach()
  set(unused "${unused}" PARENT_SCOPE)
endfunction()

weir_sources(sources ${weir_folders})
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX MATCHALL "\n" lines "${text}")
  list(LENGTH lines count)
  string(REGEX MATCH "[ch]pp$" kind "${source}")
  if(count GREATER ${kind}_lines_max)
    weir_fault("${source}: ${count} lines, ${${kind}_lines_max} are allowed")
  endif()
  check_comments("${source}")
  if(count GREATER function_lines_max AND NOT source MATCHES "^tests/")
    check_functions("${source}")
  endif()
endforeach()
foreach(key IN LISTS unused)
  weir_fault("sizes_allowed.txt: ${key} is short enough, or is no more")
endforeach()
weir_finish("files, functions and comments that are too long")
