# Finds the core of prometheus-cpp alone. The package's own CMake file also
# asks for curl, zlib and civetweb, which only its pull and push parts need.
#
#   find_package(prometheus_cpp_core REQUIRED)  ->  prometheus-cpp::core
find_path(prometheus_cpp_core_INCLUDE_DIR prometheus/registry.h)
find_library(prometheus_cpp_core_LIBRARY prometheus-cpp-core)
mark_as_advanced(prometheus_cpp_core_INCLUDE_DIR prometheus_cpp_core_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(prometheus_cpp_core
  REQUIRED_VARS prometheus_cpp_core_LIBRARY prometheus_cpp_core_INCLUDE_DIR)

if(prometheus_cpp_core_FOUND AND NOT TARGET prometheus-cpp::core)
  add_library(prometheus-cpp::core UNKNOWN IMPORTED)
  set_target_properties(prometheus-cpp::core PROPERTIES
    IMPORTED_LOCATION "${prometheus_cpp_core_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${prometheus_cpp_core_INCLUDE_DIR}")
endif()
