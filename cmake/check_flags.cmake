# Fails when a file is compiled without what every build promises: assertions,
# ours and the standard library's, and the sanitizers that were asked for.
# CTest runs: cmake -DBUILD=<binary dir> -P cmake/check_flags.cmake
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

if(NOT DEFINED BUILD)
  set(BUILD "${ROOT}")
endif()
file(STRINGS "${BUILD}/CMakeCache.txt" asked REGEX "^WEIR_SANITIZE:[A-Z]+=")
string(REGEX REPLACE "^[^=]*=" "" asked "${asked}")

file(READ "${BUILD}/compile_commands.json" text)
string(REGEX REPLACE "[][;\\]" " " text "${text}")
string(REGEX MATCHALL "\"command\": [^\n]+\n *\"file\": [^\n]+" entries "${text}")
if(NOT entries)
  weir_fault("compile_commands.json: no command was found")
endif()
foreach(entry IN LISTS entries)
  string(REGEX REPLACE ".*\"file\": \"([^\"]+)\".*" "\\1" file "${entry}")
  if(NOT entry MATCHES " -D_GLIBCXX_ASSERTIONS ")
    weir_fault("${file}: without assertions of the standard library")
  endif()
  if(entry MATCHES " -DNDEBUG ")
    weir_fault("${file}: without our own assertions")
  endif()
  if(asked AND NOT entry MATCHES
     " -fsanitize=${asked} -fno-sanitize-recover=all ")
    weir_fault("${file}: without -fsanitize=${asked}")
  endif()
endforeach()
weir_finish("builds without their guards")
