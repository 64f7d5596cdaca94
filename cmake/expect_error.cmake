# What the sources below include first, with the options they are compiled with.
function(coppice_precompile_for_errors compile includes)
  if(TARGET coppice_compile_fail_header)
    return()
  endif()
  set(header "${CMAKE_CURRENT_BINARY_DIR}/precompiled.hpp")
  file(CONFIGURE OUTPUT "${header}" CONTENT "#include <coppice/coppice.hpp>\n" @ONLY)
  list(REMOVE_ITEM compile -fsyntax-only)
  set(suffix gch)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(suffix pch)
  endif()
  add_custom_command(
    OUTPUT "${header}.${suffix}"
    COMMAND ${compile} "${includes}" -MD -MF "${header}.d" -MT "${header}.${suffix}" -x c++-header "${header}" -o
            "${header}.${suffix}"
    DEPENDS "${header}"
    DEPFILE "${header}.d"
    COMMAND_EXPAND_LISTS VERBATIM
  )
  add_custom_target(coppice_compile_fail_header ALL DEPENDS "${header}.${suffix}")
endfunction()

# coppice_expect_error(NAME REGEX): NAME.cpp must be refused with a diagnostic that matches REGEX when COPPICE_FAIL
# is defined, and accepted without it, so that a test cannot pass by failing for another reason. Most of the time would
# go into <coppice/coppice.hpp>, so that it is precompiled for sources whose first header it is.
function(coppice_expect_error name regex)
  # A source line quoted by the compiler must not count as the message.
  set(quiet -fno-diagnostics-show-caret)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(quiet -fno-caret-diagnostics)
  endif()
  set(compile "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only ${quiet})
  set(includes "-I$<JOIN:$<TARGET_PROPERTY:coppice,INTERFACE_INCLUDE_DIRECTORIES>,;-I>")
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")

  set(precompiled)
  file(STRINGS "${source}" first REGEX "^#include" LIMIT_COUNT 1)
  if(first STREQUAL "#include <coppice/coppice.hpp>")
    coppice_precompile_for_errors("${compile}" "${includes}")
    set(precompiled -include "${CMAKE_CURRENT_BINARY_DIR}/precompiled.hpp")
  endif()

  add_test(
    NAME compile_fail.${name} COMMAND ${compile} "${includes}" ${precompiled} -DCOPPICE_FAIL=1 "${source}"
    COMMAND_EXPAND_LISTS
  )
  add_test(
    NAME compile_fail.${name}.control COMMAND ${compile} "${includes}" ${precompiled} "${source}" COMMAND_EXPAND_LISTS
  )
  set_tests_properties(
    compile_fail.${name} PROPERTIES PASS_REGULAR_EXPRESSION "(error|note):[^\n]*(${regex})"
  )
  set_tests_properties(
    compile_fail.${name} compile_fail.${name}.control PROPERTIES TIMEOUT 120 ENVIRONMENT LC_ALL=C
  )
endfunction()
