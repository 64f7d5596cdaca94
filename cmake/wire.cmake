# The component `wire`: bytes in, bytes out, on simdjson.
if(PROJECT_IS_TOP_LEVEL)
  option(COPPICE_WIRE "Provide coppice::wire, which needs simdjson" ON)
elseif(NOT DEFINED COPPICE_WIRE)
  # Not cached: what is found may be another the next time.
  set(COPPICE_WIRE OFF)
  if(NOT TARGET simdjson::simdjson)
    find_package(simdjson CONFIG QUIET)
  endif()
  if(TARGET simdjson::simdjson AND NOT (simdjson_VERSION AND simdjson_VERSION VERSION_LESS 3.0.1))
    set(COPPICE_WIRE ON)
  else()
    message(STATUS "coppice::wire is left out: it needs simdjson 3.0.1 or newer")
  endif()
endif()

if(NOT COPPICE_WIRE)
  return()
endif()

coppice_need(simdjson simdjson::simdjson "")
# Fetched, it has no version here, and needs none.
if(simdjson_VERSION AND simdjson_VERSION VERSION_LESS 3.0.1)
  message(FATAL_ERROR "coppice::wire needs simdjson 3.0.1 and this is ${simdjson_VERSION} (${simdjson_DIR}). "
                      "Leave the component out with -DCOPPICE_WIRE=OFF, or, building coppice alone, "
                      "have simdjson fetched with -DCMAKE_DISABLE_FIND_PACKAGE_simdjson=ON."
  )
endif()

file(GLOB_RECURSE coppice_wire_headers CONFIGURE_DEPENDS include/coppice/wire/*.hpp)

add_library(coppice_wire INTERFACE)
add_library(coppice::wire ALIAS coppice_wire)
set_target_properties(coppice_wire PROPERTIES EXPORT_NAME wire)
target_sources(
  coppice_wire INTERFACE FILE_SET HEADERS BASE_DIRS include FILES include/coppice/wire.hpp ${coppice_wire_headers}
)
target_link_libraries(coppice_wire INTERFACE coppice::coppice simdjson::simdjson)
