# Fails when code below the seams reads a clock, draws a random number, opens a
# socket or a file or begins a thread by itself instead of through base/clock.hpp,
# base/random.hpp, net/transport.hpp, LevelDB's Env or the executor.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_seams.cmake
#
# cmake/seams_allowed.txt lists the lines that may: "file | text | reason".
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(folders atproto wire net storage messages actors)
# The Env is the seam: it is where files are opened.
set(file_seam "^storage/disk/safe_env[a-z_]*\\.[ch]pp$")

set(seams clock random network file thread)
set(global "(^|[^A-Za-z0-9_>])")
set(clock_pattern "[A-Za-z_]*clock::now|clock_gettime *\\(\
|gettimeofday *\\(|${global}time *\\( *(nullptr|NULL|0) *\\)\
|sleep_(for|until) *\\(|usleep *\\(\
|delayed_(anon_)?send *\\(|steady_timer|system_timer")
set(random_pattern "random_device|mt19937|default_random_engine\
|${global}(std::)?s?rand *\\(|getrandom *\\(|RAND_bytes")
set(network_pattern "${global}::(socket|connect|bind|listen|accept) *\\(\
|getaddrinfo *\\(|tcp::(socket|acceptor|resolver) [a-z_]+")
set(thread_pattern "std::j?thread[ >{(]|std::async *\\(|pthread_create *\\(\
|caf::detached")
set(file_pattern "fopen *\\(|std::(basic_)?[io]?fstream\
|${global}::(open|openat|creat|rename|unlink|mkdir|truncate|mmap) *\\(\
|mkstemp *\\(|std::filesystem::[a-z_]+ *\\(")

# -- the allow-list ------------------------------------------------------------
set(allowed "")
set(list_file "${ROOT}/cmake/seams_allowed.txt")
if(EXISTS "${list_file}")
  file(STRINGS "${list_file}" entries REGEX "^[^#]")
  foreach(entry IN LISTS entries)
    if(NOT entry MATCHES "^([^ |]+) \\| ([^|]+) \\| ([^|]+)$")
      weir_fault("seams_allowed.txt: not \"file | text | reason\": ${entry}")
      continue()
    endif()
    list(APPEND allowed "${CMAKE_MATCH_1} | ${CMAKE_MATCH_2}")
  endforeach()
endif()
set(unused ${allowed})

function(check_line source number line)
  foreach(seam IN LISTS seams)
    if(seam STREQUAL "file" AND source MATCHES "${file_seam}")
      continue()
    endif()
    if(line MATCHES "${${seam}_pattern}")
      string(STRIP "${CMAKE_MATCH_0}" text)
      string(REGEX REPLACE "^[^A-Za-z_:]+" "" text "${text}")
      if("${source} | ${text}" IN_LIST allowed)
        list(REMOVE_ITEM unused "${source} | ${text}")
        set(unused "${unused}" PARENT_SCOPE)
      else()
        weir_fault("${source}:${number}: ${text} goes around the ${seam} seam")
      endif()
    endif()
  endforeach()
endfunction()

weir_sources(sources ${folders})
foreach(source IN LISTS sources)
  weir_read_code(text "${source}")
  set(suspect FALSE)
  foreach(seam IN LISTS seams)
    if(text MATCHES "${${seam}_pattern}")
      set(suspect TRUE)
    endif()
  endforeach()
  if(suspect)
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    foreach(line IN LISTS lines)
      math(EXPR number "${number} + 1")
      check_line("${source}" ${number} "${line}")
    endforeach()
  endif()
endforeach()
foreach(entry IN LISTS unused)
  weir_fault("seams_allowed.txt: nothing needs \"${entry}\" any more")
endforeach()
weir_finish("code that goes around a seam")
