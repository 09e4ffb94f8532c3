# Fails when member functions of one class are defined in more than one .cpp file
# of the product: a class that is too long for one file has two jobs, and becomes
# two classes.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_classes.cmake
#
# A member function is what begins at the left margin and has a class's name and
# "::" before its own. cmake/classes_allowed.txt lists the classes that may lie in
# several files: "folder class | reason".
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(folders ${weir_folders})
list(REMOVE_ITEM folders tests)
set(begin "\n[A-Za-z_~][^\n(=]*\\(")
set(member "([ &*\n])([a-z0-9_:]+)::~?[a-z0-9_]+\\($")

weir_read_allowed(allowed classes_allowed.txt "folder class")
set(unused ${allowed})

weir_sources(sources ${folders})
list(FILTER sources INCLUDE REGEX "\\.cpp$")
foreach(source IN LISTS sources)
  get_filename_component(folder "${source}" DIRECTORY)
  weir_read_code(text "${source}")
  string(REGEX MATCHALL "${begin}" functions "\n${text}")
  foreach(function IN LISTS functions)
    if(function MATCHES "${member}")
      set(class "${folder} ${CMAKE_MATCH_2}")
      string(MAKE_C_IDENTIFIER "files of ${class}" files)
      if(NOT source IN_LIST ${files})
        list(APPEND ${files} "${source}")
        list(APPEND classes "${class}")
      endif()
    endif()
  endforeach()
endforeach()

list(REMOVE_DUPLICATES classes)
foreach(class IN LISTS classes)
  string(MAKE_C_IDENTIFIER "files of ${class}" files)
  list(LENGTH ${files} count)
  if(count GREATER 1)
    if(class IN_LIST allowed)
      list(REMOVE_ITEM unused "${class}")
    else()
      list(JOIN ${files} ", " where)
      weir_fault("${class} is defined in ${count} files: ${where}")
    endif()
  endif()
endforeach()
foreach(class IN LISTS unused)
  weir_fault("classes_allowed.txt: ${class} is in one file, or is no more")
endforeach()
weir_finish("classes in several files")
