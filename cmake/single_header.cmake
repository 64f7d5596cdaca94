# cmake -DSOURCE=<this project> -DOUTPUT=<file> -DWIRE=<ON|OFF> -P single_header.cmake
#
# Writes all headers as one: each once, behind those that it includes, and those of other libraries first. No text of a
# header is ever an item of a list, where brackets and semicolons would be CMake's.
cmake_minimum_required(VERSION 3.25)

foreach(needed IN ITEMS SOURCE OUTPUT WIRE)
  if(NOT DEFINED ${needed})
    message(FATAL_ERROR "-D${needed}= is missing")
  endif()
endforeach()
set(include "${SOURCE}/include")

file(GLOB_RECURSE all RELATIVE "${include}" "${include}/coppice/*.hpp")
# Those of a folder of details are taken where they are included.
list(FILTER all EXCLUDE REGEX "^coppice/detail/")
if(NOT WIRE)
  list(FILTER all EXCLUDE REGEX "^coppice/wire(/|\\.hpp$)")
endif()
# The disk store needs POSIX, and is put between #if and #endif.
set(posix ${all})
list(FILTER posix INCLUDE REGEX "^coppice/spill/")
list(FILTER all EXCLUDE REGEX "^coppice/spill/")
list(SORT all)
# First for what it includes first: a compiler that is not right says so before it says anything else.
list(PREPEND all coppice/coppice.hpp)
list(SORT posix)

set(taken)

# coppice_take(TEXT LIBRARIES HEADER...): appends the headers to TEXT, and to LIBRARIES what else they include.
function(coppice_take text_variable libraries_variable)
  set(text "${${text_variable}}")
  set(libraries ${${libraries_variable}})
  set(stack ${ARGN})
  list(REVERSE stack)
  # A header is on the stack until all that it includes is taken.
  set(waiting)
  while(stack)
    list(GET stack -1 header)
    if(header IN_LIST taken)
      list(POP_BACK stack)
      continue()
    endif()
    file(STRINGS "${include}/${header}" lines REGEX "^#include <coppice/[^>]+>")
    set(missing)
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include <([^>]+)>.*" "\\1" needed "${line}")
      if(NOT needed IN_LIST taken)
        list(APPEND missing "${needed}")
      endif()
    endforeach()
    if(missing)
      if(header IN_LIST waiting)
        message(FATAL_ERROR "${header} includes itself, by way of ${missing}")
      endif()
      list(APPEND waiting "${header}")
      list(REVERSE missing)
      list(APPEND stack ${missing})
      continue()
    endif()
    list(POP_BACK stack)
    list(REMOVE_ITEM waiting "${header}")
    list(APPEND taken "${header}")

    file(READ "${include}/${header}" body)
    # What stands behind an #if may be for one system only, and stays there.
    string(FIND "${body}" "\n#if" conditional)
    string(SUBSTRING "${body}" 0 ${conditional} head)
    set(tail)
    if(NOT conditional EQUAL -1)
      string(SUBSTRING "${body}" ${conditional} -1 tail)
    endif()
    string(REGEX MATCHALL "#include <[^>\n]+>" includes "${head}")
    list(FILTER includes EXCLUDE REGEX "<coppice/")
    list(APPEND libraries ${includes})
    string(REGEX REPLACE "#include <[^\n]*\n" "" head "${head}")
    string(REGEX REPLACE "#include <coppice/[^\n]*\n" "" tail "${tail}")
    string(CONCAT body "${head}" "${tail}")
    string(REPLACE "// SPDX-License-Identifier: MIT\n" "" body "${body}")
    string(REPLACE "#pragma once\n" "" body "${body}")
    string(REGEX REPLACE "\n\n\n+" "\n\n" body "${body}")
    string(STRIP "${body}" body)
    if(NOT body STREQUAL "")
      string(APPEND text "\n// ---- ${header}\n\n${body}\n")
    endif()
  endwhile()
  list(REMOVE_DUPLICATES libraries)
  list(SORT libraries)
  set(${text_variable} "${text}" PARENT_SCOPE)
  set(${libraries_variable} ${libraries} PARENT_SCOPE)
  set(taken ${taken} PARENT_SCOPE)
endfunction()

coppice_take(text libraries ${all})
coppice_take(posix_text posix_libraries ${posix})
list(REMOVE_ITEM posix_libraries ${libraries})
list(JOIN libraries "\n" libraries)
list(JOIN posix_libraries "\n" posix_libraries)

file(STRINGS "${include}/coppice/version.hpp" version REGEX "^#define COPPICE_VERSION_[A-Z]+ [0-9]+$")
list(TRANSFORM version REPLACE ".* " "")
list(JOIN version "." version)

set(needs "nlohmann_json and fmt")
if(WIRE)
  set(needs "nlohmann_json, fmt and simdjson")
endif()
file(READ "${SOURCE}/LICENSE" license)
string(STRIP "${license}" license)
string(REPLACE "\n" "\n// " license "// ${license}")
string(REPLACE "// \n" "//\n" license "${license}")
file(
  WRITE "${OUTPUT}"
  "// SPDX-License-Identifier: MIT
//
// coppice ${version}, all headers in one. It needs ${needs}.
// Made by cmake/single_header.cmake: edit the headers, not this file.
//
${license}
#pragma once

${libraries}
${text}
#if !defined(_WIN32)
${posix_libraries}
${posix_text}
#endif
"
)
