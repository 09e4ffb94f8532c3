# ccache and mold, when the machine has them: they change times, not results.
find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache never hits in a target with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${WEIR_CCACHE})
  if(WEIR_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

find_program(WEIR_MOLD mold)
if(WEIR_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
