# weir::flags: what every target shares. The repository root is the only
# include path of our own; all foreign ones are SYSTEM.
add_library(weir_flags INTERFACE)
add_library(weir::flags ALIAS weir_flags)
target_compile_features(weir_flags INTERFACE cxx_std_20)
target_include_directories(weir_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(weir_flags INTERFACE
  _GLIBCXX_ASSERTIONS
  BOOST_ASIO_NO_DEPRECATED)
target_compile_options(weir_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  -fstack-protector-strong
  # The linker leaves out functions that a program does not reach; the CTest
  # `unused` reads which ones no program reaches.
  -ffunction-sections
  $<$<BOOL:${WEIR_WERROR}>:-Werror>)
target_link_options(weir_flags INTERFACE -Wl,--gc-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of -Wrestrict inside std::string where nothing is wrong
  # (bug 105651). What its optimiser guesses stays a warning, never an error.
  target_compile_options(weir_flags INTERFACE
    -Wno-restrict
    -Wno-error=array-bounds -Wno-error=maybe-uninitialized
    -Wno-error=stringop-overflow -Wno-error=stringop-overread)
endif()
if(WEIR_SANITIZE)
  target_compile_options(weir_flags INTERFACE
    -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()
# Counters for `make coverage`; threads share them.
if(WEIR_COVERAGE)
  target_compile_options(weir_flags INTERFACE
    --coverage -fprofile-update=atomic -fprofile-abs-path)
  target_link_options(weir_flags INTERFACE --coverage)
endif()
# Coverage for libFuzzer; the fuzzers themselves add its main function.
if(WEIR_FUZZ)
  target_compile_options(weir_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
