# cmake -DSOURCE=<this project> -P header_tests.cmake
#
# Every public header has a file of tests with its name, at the same place; a header that only includes others needs none.
cmake_minimum_required(VERSION 3.25)

# These have none yet. They leave this list when they get theirs.
set(without call_view.hpp policies/oversized_output.hpp policies/stale_input.hpp summaries.hpp summary.hpp)

set(include "${SOURCE}/include/coppice")
file(GLOB_RECURSE headers RELATIVE "${include}" "${include}/*.hpp")
list(FILTER headers EXCLUDE REGEX "^detail/")
set(wrong)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" test "${header}")
  file(STRINGS "${include}/${header}" code REGEX "^namespace coppice" LIMIT_COUNT 1)
  if(EXISTS "${SOURCE}/tests/${test}")
    if(header IN_LIST without)
      list(APPEND wrong "${header} has tests/${test}: take it off the list in tests/header_tests.cmake")
    endif()
  elseif(code AND NOT header IN_LIST without)
    list(APPEND wrong "${header} has no tests/${test}")
  endif()
endforeach()
foreach(header IN LISTS without)
  if(NOT header IN_LIST headers)
    list(APPEND wrong "${header}, listed in tests/header_tests.cmake, is not there")
  endif()
endforeach()
if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "include/coppice:\n  ${wrong}")
endif()
