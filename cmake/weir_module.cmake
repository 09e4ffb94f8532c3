# The words a folder's CMakeLists.txt is written in.

# weir_add_folder(<folder>)
#
# Enters a folder that exists and has something to build.
function(weir_add_folder folder)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder})
  endif()
endfunction()

# weir_module(<name> [TOGETHER] SOURCES … [PUBLIC …] [PRIVATE …] [PCH …])
#
# One static library per top-level folder, alias weir::<name>. PUBLIC is what
# the folder's headers include, PRIVATE what only its .cpp files include; the
# link line is therefore the layering (checked by cmake/check_layers.cmake).
# PCH names the headers worth precompiling for this module alone. TOGETHER:
# small files that include the same, compiled in groups (weir_compile_together).
function(weir_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER" ""
    "SOURCES;PUBLIC;PRIVATE;PCH")
  weir_keep_present(arg_SOURCES arg_PUBLIC arg_PRIVATE)
  if(NOT arg_SOURCES)
    return()
  endif()
  add_library(weir_${name} STATIC ${arg_SOURCES})
  add_library(weir::${name} ALIAS weir_${name})
  set_target_properties(weir_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(weir_${name}
    PUBLIC weir::flags ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE})
  weir_precompile(weir_${name} ${arg_PCH})
  if(arg_TOGETHER)
    weir_compile_together(weir_${name})
  endif()
endfunction()

# weir_link_test(<name>)
#
# A program of nothing but one module and what that says it needs: every symbol
# of all its objects must be there.
function(weir_link_test name)
  add_executable(link_${name} "${PROJECT_SOURCE_DIR}/tests/support/links.cpp")
  target_link_libraries(link_${name} PRIVATE
    "$<LINK_LIBRARY:WHOLE_ARCHIVE,weir_${name}>")
  add_test(NAME links.${name} COMMAND link_${name})
  set_tests_properties(links.${name} PROPERTIES LABELS layers TIMEOUT 60)
endfunction()

# weir_program(<name> SOURCES … LIBRARIES … [PCH …])
#
# One installed program, built as <build>/<folder>/<name>, and a component of
# that name (cmake/weir_install.cmake).
function(weir_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;PCH")
  weir_keep_present(arg_SOURCES arg_LIBRARIES)
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE weir::flags ${arg_LIBRARIES})
  weir_precompile(${name} ${arg_PCH})
  install(TARGETS ${name} RUNTIME COMPONENT ${name})
endfunction()

# weir_test(<folder> LABEL unit SOURCES … LIBRARIES … [PCH …] [TIMEOUT seconds]
#   [ALONE filter])
#
# One test program per folder, <folder>_test; CTest sees every TEST by name.
# Vectors are found under WEIR_SHARED_DIR (tests/support/vectors.hpp). Programs
# that no CAF is in have it in their label, and are in the target, `caf_free`.
# Sanitizers and coverage get more time. The tests of ALONE, a filter of
# GoogleTest, run beside no other.
function(weir_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;ALONE"
    "SOURCES;LIBRARIES;PCH")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(WEIR_COVERAGE OR WEIR_SANITIZE)
    math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}") # They slow everything down.
  endif()
  weir_keep_present(arg_SOURCES arg_LIBRARIES)
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${folder}_test ${arg_SOURCES})
  weir_compile_together(${folder}_test)
  weir_compile_quickly(${folder}_test)
  target_link_libraries(${folder}_test PRIVATE
    weir::flags ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  if(TARGET weir::test_support)
    target_link_libraries(${folder}_test PRIVATE weir::test_support)
  endif()
  target_compile_definitions(${folder}_test PRIVATE
    WEIR_SHARED_DIR="${WEIR_SHARED}"
    WEIR_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
  weir_precompile(${folder}_test ${arg_PCH})
  weir_uses_caf(uses_caf ${arg_LIBRARIES})
  if(NOT uses_caf)
    string(APPEND arg_LABEL _caf_free)
    add_dependencies(caf_free ${folder}_test)
  endif()
  set(how TEST_PREFIX "${folder}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  set(properties LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT})
  if(NOT arg_ALONE)
    gtest_discover_tests(${folder}_test ${how} PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(${folder}_test ${how}
    TEST_FILTER "-${arg_ALONE}" PROPERTIES ${properties})
  gtest_discover_tests(${folder}_test ${how}
    TEST_FILTER "${arg_ALONE}" PROPERTIES ${properties} RUN_SERIAL TRUE)
endfunction()

# weir_uses_caf(<out> [libraries …])
#
# Whether one of them, or one that they link, is CAF.
function(weir_uses_caf out)
  set(used FALSE)
  foreach(library IN LISTS ARGN)
    if(library MATCHES "^CAF::")
      set(used TRUE)
    elseif(library MATCHES "^weir::" AND NOT used)
      get_target_property(linked ${library} LINK_LIBRARIES)
      get_target_property(passed_on ${library} INTERFACE_LINK_LIBRARIES)
      weir_uses_caf(used ${linked} ${passed_on})
    endif()
  endforeach()
  set(${out} ${used} PARENT_SCOPE)
endfunction()

# weir_compile_quickly(<target>)
#
# For tests: what is under test is optimised as ever and has its line numbers,
# they themselves are made for their build time.
function(weir_compile_quickly target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT WEIR_FUZZ)
    target_compile_options(${target} PRIVATE -O0 -g0)
  endif()
endfunction()

# weir_compile_together(<target> [files …])
#
# Compiles these files as one, or all of the target's four at a time: they
# include the same headers, and to read those takes longer than the rest. Names
# in anonymous namespaces are then names of them all; what two files need has
# its place in a header. WEIR_UNITY=OFF compiles each alone.
function(weir_compile_together target)
  if(NOT WEIR_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  if(ARGN)
    list(GET ARGN 0 group)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 4)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Here an included file is no header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# weir_precompile(<target> [headers …])
function(weir_precompile target)
  if(WEIR_PCH AND ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# weir_keep_present(<list variable> …)
#
# Drops files and weir:: libraries that are not in the tree, so that half a tree
# can be worked on; an error where warnings are errors.
function(weir_keep_present)
  set(severity WARNING)
  if(WEIR_WERROR)
    set(severity SEND_ERROR)
  endif()
  foreach(list IN LISTS ARGN)
    set(kept "")
    foreach(item IN LISTS ${list})
      if(item MATCHES "\\.[ch]pp$"
         AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${item}"
         AND NOT EXISTS "${item}")
        message(${severity} "no such file: ${item}")
      elseif(item MATCHES "^weir::" AND NOT TARGET ${item})
        message(${severity} "no such library: ${item}")
      else()
        list(APPEND kept "${item}")
      endif()
    endforeach()
    set(${list} "${kept}" PARENT_SCOPE)
  endforeach()
endfunction()
