cmake_minimum_required(VERSION 3.25)

# Calls a run failed in which something happened, and looks at what is printed: the
# fewest deeds that are needed for it, and a command that repeats it.
# CTest runs: cmake -DPROGRAM=<weir-sim> -P tests/sim/repeats.cmake

# expect(<name in the table> <seed> <deeds that are left>)
function(expect what seed pattern)
  execute_process(COMMAND ${PROGRAM} --seed ${seed} --fail-on ${what}
    OUTPUT_VARIABLE out RESULT_VARIABLE failed)
  if(NOT failed)
    message(FATAL_ERROR "seed ${seed} does not fail on ${what}:\n${out}")
  endif()
  if(NOT out MATCHES "\n  weir-sim (--seed ${seed} --only ${pattern}) --trace\n")
    message(FATAL_ERROR "no such command as is expected:\n${out}")
  endif()
  separate_arguments(again UNIX_COMMAND "${CMAKE_MATCH_1}")
  execute_process(COMMAND ${PROGRAM} ${again} --fail-on ${what} --no-shrink
    OUTPUT_VARIABLE second RESULT_VARIABLE failed)
  if(NOT failed OR NOT second MATCHES "FAILED seed ${seed}: asked: ${what} happened")
    message(FATAL_ERROR "it is not repeated:\n${second}")
  endif()
endfunction()

# One deed is enough, and no other is left.
expect(restart 14 "[0-9]+")
# What the world is like needs none.
expect("run with a small window" 12 "none")
