cmake_minimum_required(VERSION 3.25)

# Runs some seeds in two processes, one of them with other addresses, one processor
# and a node that is told to have other threads, and fails when their traces differ in
# a byte, or when two seeds have the same one.
# CTest runs: cmake -DPROGRAM=<weir-sim> -P tests/sim/same_trace.cmake
find_program(TASKSET taskset)
find_program(SETARCH setarch)
if(NOT TASKSET OR NOT SETARCH)
  message(FATAL_ERROR "taskset or setarch is not here (util-linux)")
endif()
set(other ${TASKSET} -c 0 ${SETARCH} -R)

set(known)
foreach(seed RANGE 1 6)
  execute_process(COMMAND ${PROGRAM} --seed ${seed} --trace
    OUTPUT_VARIABLE first ERROR_VARIABLE verdict RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "seed ${seed} fails: ${verdict}")
  endif()
  execute_process(COMMAND ${other} ${PROGRAM} --seed ${seed} --trace --threads 7
    OUTPUT_VARIABLE second ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "seed ${seed} fails in another process")
  endif()
  string(LENGTH "${first}" length)
  if(length LESS 10000)
    message(FATAL_ERROR "seed ${seed}: a trace of ${length} bytes is none")
  endif()
  if(NOT first STREQUAL second)
    message(FATAL_ERROR "seed ${seed}: two runs have two traces")
  endif()
  string(SHA256 hash "${first}")
  if(hash IN_LIST known)
    message(FATAL_ERROR "seed ${seed} has the trace of another one")
  endif()
  list(APPEND known ${hash})
endforeach()
