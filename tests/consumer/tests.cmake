set(stage "${CMAKE_CURRENT_BINARY_DIR}/consumer/stage")
set(consumer_source "${CMAKE_CURRENT_LIST_DIR}")
# The consumer must meet the same copies; fetched ones, whose directory is a redirection, are in the stage.
foreach(package IN ITEMS nlohmann_json fmt simdjson)
  set(own_${package})
  if(${package}_DIR AND NOT ${package}_DIR STREQUAL CMAKE_FIND_PACKAGE_REDIRECTS_DIR)
    set(own_${package} "-D${package}_DIR=${${package}_DIR}")
  endif()
endforeach()
set(consumer_options
    "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
    "-DCMAKE_PREFIX_PATH=${stage}" "-DVERSION=${PROJECT_VERSION}" ${own_nlohmann_json} ${own_fmt}
)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang|GNU")
  # How it is consumed is asked, not how fast it is: optimised, each takes most of a minute.
  list(APPEND consumer_options -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
else()
  list(APPEND consumer_options "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}")
endif()
set(no_simdjson -DCMAKE_DISABLE_FIND_PACKAGE_simdjson=ON)

add_test(NAME consumer.install COMMAND "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DSTAGE=${stage}"
                                       -DCONFIG=$<CONFIG> -P "${consumer_source}/stage.cmake"
)
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP coppice_stage)

add_test(NAME consumer.schema COMMAND "${CMAKE_COMMAND}" -E compare_files "${PROJECT_SOURCE_DIR}/cmake/config.schema.json"
                                      "${stage}/${CMAKE_INSTALL_DATADIR}/coppice/config.schema.json"
)
set_tests_properties(consumer.schema PROPERTIES FIXTURES_REQUIRED coppice_stage)

set(program)
if(TARGET coppice_cli)
  set(program "-DPROGRAM=$<TARGET_FILE:coppice_cli>")
endif()
add_test(NAME consumer.version COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
                                       "-DSTAGE=${stage}" "-DDATA=${CMAKE_INSTALL_DATADIR}"
                                       "-DCMAKEDIR=${COPPICE_INSTALL_CMAKEDIR}" ${program} -P
                                       "${consumer_source}/version.cmake"
)
set_tests_properties(consumer.version PROPERTIES FIXTURES_REQUIRED coppice_stage)

# coppice_accepts(NAME OPTION...): the consumer is configured, built and run.
function(coppice_accepts name)
  add_test(
    NAME consumer.${name}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${consumer_source}" "${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}"
      --build-generator "${CMAKE_GENERATOR}" --build-makeprogram "${CMAKE_MAKE_PROGRAM}"
      --build-options --fresh ${consumer_options} ${ARGN} --test-command consumer
  )
  set_tests_properties(consumer.${name} PROPERTIES FIXTURES_REQUIRED coppice_stage TIMEOUT 300)
endfunction()

# coppice_configures(NAME OPTION...): the consumer is configured.
function(coppice_configures name)
  add_test(NAME consumer.${name}
           COMMAND "${CMAKE_COMMAND}" --fresh -G "${CMAKE_GENERATOR}" -S "${consumer_source}"
                   -B "${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}" ${consumer_options} ${ARGN}
  )
  set_tests_properties(consumer.${name} PROPERTIES FIXTURES_REQUIRED coppice_stage TIMEOUT 300)
endfunction()

# coppice_refuses(NAME REGEX OPTION...): it is not, and is told why in words that match REGEX, however they are wrapped.
function(coppice_refuses name regex)
  coppice_configures(${name} ${ARGN})
  string(REPLACE " " "[ \n]+" regex "${regex}")
  set_tests_properties(consumer.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${regex}")
endfunction()

# The library alone must not need simdjson.
coppice_accepts(find_package -DMODE=find_package -DOPTIONAL_COMPONENT=wire ${no_simdjson})
# nlohmann::json in one object, ordered_json in the other.
coppice_accepts(mixed -DMODE=find_package -DMIXED=ON ${no_simdjson})
coppice_accepts(add_subdirectory -DMODE=add_subdirectory ${no_simdjson})
coppice_accepts(single_header -DMODE=single_header ${no_simdjson})
# Both must get as far as our files: "not found at all" is another error.
coppice_refuses(wrong_version "coppiceConfig.cmake, version: ${PROJECT_VERSION}" -DVERSION=9.0)
coppice_refuses(unknown_component "coppice has no component 'telepathy'" -DCOMPONENT=telepathy)

if(TARGET coppice::wire)
  coppice_accepts(wire.find_package -DMODE=find_package -DCOMPONENT=wire ${own_simdjson})
  coppice_accepts(wire.add_subdirectory -DMODE=add_subdirectory -DCOMPONENT=wire ${own_simdjson})
  coppice_accepts(wire.single_header -DMODE=single_header -DCOMPONENT=wire ${own_simdjson})
  coppice_refuses(wire.without_simdjson "needs simdjson 3.0.1 or newer, and there is none" -DCOMPONENT=wire ${no_simdjson})
endif()
if(TARGET coppice::wire AND own_simdjson)
  set(pretended "-Dsimdjson_DIR=${consumer_source}/simdjson" "-DREAL_SIMDJSON_DIR=${simdjson_DIR}")
  foreach(mode IN ITEMS find_package add_subdirectory)
    coppice_configures(
      wire.newer_simdjson.${mode} -DMODE=${mode} -DCOMPONENT=wire ${pretended} -DPRETENDED_SIMDJSON_VERSION=4.2.0
    )
  endforeach()
  coppice_refuses(
    wire.older_simdjson "needs simdjson 3.0.1 or newer, and this is 3.0.0" -DCOMPONENT=wire ${pretended}
    -DPRETENDED_SIMDJSON_VERSION=3.0.0
  )
endif()

# Of the tree as it is, not as it was committed.
set(archive_folder "${CMAKE_CURRENT_BINARY_DIR}/consumer/archive")
add_test(NAME consumer.archive COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
                                       "-DOUTPUT_DIR=${archive_folder}" -P "${consumer_source}/archive.cmake"
)
set_tests_properties(consumer.archive PROPERTIES FIXTURES_SETUP coppice_archive)
coppice_accepts(FetchContent -DMODE=FetchContent "-DARCHIVE=${archive_folder}/coppice.tar.gz" ${no_simdjson})
set_tests_properties(consumer.FetchContent PROPERTIES FIXTURES_REQUIRED "coppice_stage;coppice_archive")
if(TARGET coppice::wire)
  coppice_accepts(
    wire.FetchContent -DMODE=FetchContent -DCOMPONENT=wire "-DARCHIVE=${archive_folder}/coppice.tar.gz" ${own_simdjson}
  )
  set_tests_properties(consumer.wire.FetchContent PROPERTIES FIXTURES_REQUIRED "coppice_stage;coppice_archive")
endif()

# Where pkg-config knows the libraries that coppice needs, or a fetched copy of them is in the stage.
find_package(PkgConfig QUIET)
set(unknown_to_pkg_config)
if(PKG_CONFIG_FOUND)
  foreach(package IN ITEMS nlohmann_json fmt simdjson)
    pkg_check_modules(coppice_pc_${package} QUIET ${package})
    if(own_${package} AND NOT coppice_pc_${package}_FOUND)
      list(APPEND unknown_to_pkg_config ${package})
    endif()
  endforeach()
endif()
if(NOT PKG_CONFIG_FOUND OR unknown_to_pkg_config)
  message(STATUS "The tests with pkg-config are left out: it is not there, or does not know ${unknown_to_pkg_config}")
else()
  coppice_accepts(pkg-config -DMODE=pkg-config ${no_simdjson})
  # as pkgconf has it, or as the older pkg-config
  coppice_refuses(
    pkg-config.wrong_version "'coppice >= 9.0' (could not be satisfied|but version of coppice is)" -DMODE=pkg-config
    -DVERSION=9.0
  )
  if(TARGET coppice::wire)
    coppice_accepts(wire.pkg-config -DMODE=pkg-config -DCOMPONENT=wire)
  endif()
endif()

# coppice_port(NAME FEATURES OPTION...): the port of vcpkg, with these features, makes a package that can be consumed.
function(coppice_port name features)
  set(work "${CMAKE_CURRENT_BINARY_DIR}/consumer/port.${name}")
  add_test(
    NAME consumer.port.${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DPORT_DIR=${PROJECT_SOURCE_DIR}/cmake/vcpkg" "-DWORK=${work}" "-DFEATURES=${features}"
      "-DGENERATOR=${CMAKE_GENERATOR}" "-DOPTIONS=${port_options}" -P "${consumer_source}/vcpkg.cmake"
  )
  set_tests_properties(
    consumer.port.${name} PROPERTIES FIXTURES_SETUP coppice_port_${name} FIXTURES_REQUIRED coppice_stage
  )
  coppice_accepts(${name} -DMODE=find_package "-Dcoppice_DIR=${work}/packages/share/coppice" ${ARGN})
  set_property(TEST consumer.${name} APPEND PROPERTY FIXTURES_REQUIRED coppice_port_${name})
endfunction()

# The stage is where fetched libraries are installed.
set(port_options "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${stage}" ${own_nlohmann_json}
                 ${own_fmt}
)
coppice_port(vcpkg "" -DOPTIONAL_COMPONENT=wire ${no_simdjson})
if(TARGET coppice::wire)
  list(APPEND port_options ${own_simdjson})
  coppice_port(wire.vcpkg wire -DCOMPONENT=wire ${own_simdjson})
endif()

# coppice_recipe(NAME WIRE OPTION...): the same of Conan's recipe, whose own consumer is built.
function(coppice_recipe name wire)
  set(work "${CMAKE_CURRENT_BINARY_DIR}/consumer/recipe.${name}")
  add_test(NAME consumer.recipe.${name}
           COMMAND "${Python3_EXECUTABLE}" -B "${consumer_source}/conan/run_recipe.py"
                   "${PROJECT_SOURCE_DIR}/cmake/conan/conanfile.py" "${work}" ${wire}
  )
  set_tests_properties(consumer.recipe.${name} PROPERTIES FIXTURES_SETUP coppice_recipe_${name})
  add_test(
    NAME consumer.${name}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${PROJECT_SOURCE_DIR}/cmake/conan/test_package"
      "${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}" --build-generator "${CMAKE_GENERATOR}" --build-makeprogram
      "${CMAKE_MAKE_PROGRAM}" --build-options --fresh ${consumer_options} "-Dcoppice_DIR=${work}/generators" ${ARGN}
      --test-command test_package
  )
  set_tests_properties(
    consumer.${name} PROPERTIES FIXTURES_REQUIRED "coppice_stage;coppice_recipe_${name}" TIMEOUT 300
  )
endfunction()

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  coppice_recipe(conan OFF ${no_simdjson})
  if(TARGET coppice::wire)
    coppice_recipe(wire.conan ON ${own_simdjson})
  endif()
else()
  message(STATUS "There is no Python, Conan's recipe is not tested")
endif()
