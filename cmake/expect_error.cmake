# coppice_expect_error(NAME REGEX): NAME.cpp must be refused with a diagnostic that matches REGEX when COPPICE_FAIL
# is defined, and accepted without it, so that a test cannot pass by failing for another reason.
function(coppice_expect_error name regex)
  # A source line quoted by the compiler must not count as the message.
  set(quiet -fno-diagnostics-show-caret)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(quiet -fno-caret-diagnostics)
  endif()
  set(compile "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only ${quiet})
  set(includes "-I$<JOIN:$<TARGET_PROPERTY:coppice,INTERFACE_INCLUDE_DIRECTORIES>,;-I>")
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")

  add_test(
    NAME compile_fail.${name} COMMAND ${compile} "${includes}" -DCOPPICE_FAIL=1 "${source}" COMMAND_EXPAND_LISTS
  )
  add_test(
    NAME compile_fail.${name}.control COMMAND ${compile} "${includes}" "${source}" COMMAND_EXPAND_LISTS
  )
  set_tests_properties(
    compile_fail.${name} PROPERTIES PASS_REGULAR_EXPRESSION "(error|note):[^\n]*(${regex})"
  )
  set_tests_properties(
    compile_fail.${name} compile_fail.${name}.control PROPERTIES TIMEOUT 120 ENVIRONMENT LC_ALL=C
  )
endfunction()
