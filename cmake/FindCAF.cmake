# Finds the C++ Actor Framework; Debian's libcaf-dev ships no CMake package.
#
#   find_package(CAF 0.17.6 EXACT REQUIRED COMPONENTS core io openssl)
#
# Defines CAF::<component> for every component asked for, and CAF_VERSION.
find_path(CAF_INCLUDE_DIR caf/all.hpp)
mark_as_advanced(CAF_INCLUDE_DIR)
if(CAF_INCLUDE_DIR)
  # One number holds the version: 1706 is CAF 0.17.6.
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" _caf_line
       REGEX "#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" _caf_number "${_caf_line}")
  math(EXPR _caf_major "${_caf_number} / 10000")
  math(EXPR _caf_minor "${_caf_number} / 100 % 100")
  math(EXPR _caf_patch "${_caf_number} % 100")
  set(CAF_VERSION "${_caf_major}.${_caf_minor}.${_caf_patch}")
endif()

foreach(_component IN LISTS CAF_FIND_COMPONENTS)
  find_library(CAF_${_component}_LIBRARY caf_${_component})
  mark_as_advanced(CAF_${_component}_LIBRARY)
  if(CAF_${_component}_LIBRARY)
    set(CAF_${_component}_FOUND TRUE)
    if(NOT TARGET CAF::${_component})
      add_library(CAF::${_component} UNKNOWN IMPORTED)
      set_target_properties(CAF::${_component} PROPERTIES
        IMPORTED_LOCATION "${CAF_${_component}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}")
    endif()
  endif()
endforeach()

if(TARGET CAF::core)
  target_link_libraries(CAF::core INTERFACE Threads::Threads)
endif()
if(TARGET CAF::io)
  target_link_libraries(CAF::io INTERFACE CAF::core)
endif()
if(TARGET CAF::openssl)
  find_package(OpenSSL REQUIRED)
  target_link_libraries(CAF::openssl INTERFACE
    CAF::io OpenSSL::SSL OpenSSL::Crypto)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS)
