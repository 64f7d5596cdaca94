# cmake -DPROGRAM= -DSHOWS=<regex> -P shows.cmake: the program exits with 0, and what it prints matches. A regular
# expression of the test alone would have CTest ignore the exit status.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output RESULT_VARIABLE result)
message("${output}")
if(NOT result STREQUAL "0")
  message(FATAL_ERROR "${PROGRAM} exits with ${result}")
endif()
if(NOT output MATCHES "${SHOWS}")
  message(FATAL_ERROR "what ${PROGRAM} prints does not match ${SHOWS}")
endif()
