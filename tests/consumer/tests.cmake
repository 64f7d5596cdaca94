set(stage "${CMAKE_CURRENT_BINARY_DIR}/consumer/stage")
set(consumer_source "${CMAKE_CURRENT_LIST_DIR}")
set(consumer_options
    "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}"
    "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DCMAKE_PREFIX_PATH=${stage}" "-DVERSION=${PROJECT_VERSION}"
)
# The consumer must meet the same copies; fetched ones are in the stage.
foreach(package IN ITEMS nlohmann_json fmt)
  if(${package}_DIR)
    list(APPEND consumer_options "-D${package}_DIR=${${package}_DIR}")
  endif()
endforeach()

add_test(NAME consumer.install COMMAND "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DSTAGE=${stage}"
                                       -DCONFIG=$<CONFIG> -P "${consumer_source}/stage.cmake"
)
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP coppice_stage)

foreach(mode IN ITEMS find_package add_subdirectory)
  add_test(
    NAME consumer.${mode}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${consumer_source}" "${CMAKE_CURRENT_BINARY_DIR}/consumer/${mode}"
      --build-generator "${CMAKE_GENERATOR}" --build-makeprogram "${CMAKE_MAKE_PROGRAM}"
      --build-options ${consumer_options} -DMODE=${mode} --test-command consumer
  )
endforeach()

# Both must get as far as our files: "not found at all" is another error.
add_test(NAME consumer.wrong_version
         COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${consumer_source}"
                 -B "${CMAKE_CURRENT_BINARY_DIR}/consumer/wrong_version" ${consumer_options} -DVERSION=9.0
)
add_test(NAME consumer.unknown_component
         COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${consumer_source}"
                 -B "${CMAKE_CURRENT_BINARY_DIR}/consumer/unknown_component" ${consumer_options} -DCOMPONENT=telepathy
)
set_tests_properties(
  consumer.wrong_version PROPERTIES PASS_REGULAR_EXPRESSION "coppiceConfig.cmake, version: ${PROJECT_VERSION}"
)
set_tests_properties(
  consumer.unknown_component PROPERTIES PASS_REGULAR_EXPRESSION "coppice[ \n]+has[ \n]+no[ \n]+component[ \n]+'telepathy'"
)
set_tests_properties(
  consumer.find_package consumer.add_subdirectory consumer.wrong_version consumer.unknown_component
  PROPERTIES FIXTURES_REQUIRED coppice_stage TIMEOUT 300
)
