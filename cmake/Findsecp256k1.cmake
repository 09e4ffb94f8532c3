# Finds libsecp256k1, which Debian describes to pkg-config only.
#
#   find_package(secp256k1 0.2 REQUIRED)  ->  secp256k1::secp256k1
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_SECP256K1 QUIET libsecp256k1)
endif()
find_path(secp256k1_INCLUDE_DIR secp256k1.h HINTS ${PC_SECP256K1_INCLUDE_DIRS})
find_library(secp256k1_LIBRARY secp256k1 HINTS ${PC_SECP256K1_LIBRARY_DIRS})
mark_as_advanced(secp256k1_INCLUDE_DIR secp256k1_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(secp256k1
  REQUIRED_VARS secp256k1_LIBRARY secp256k1_INCLUDE_DIR
  VERSION_VAR PC_SECP256K1_VERSION)

if(secp256k1_FOUND AND NOT TARGET secp256k1::secp256k1)
  add_library(secp256k1::secp256k1 UNKNOWN IMPORTED)
  set_target_properties(secp256k1::secp256k1 PROPERTIES
    IMPORTED_LOCATION "${secp256k1_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${secp256k1_INCLUDE_DIR}")
endif()
