# An embedding project or a packager decides where dependencies come from; only a stand-alone build may download.
if(PROJECT_IS_TOP_LEVEL)
  include(FetchContent)

  # SYSTEM straight behind GIT_TAG would be taken for a second tag by CMake before 3.26.
  FetchContent_Declare(
    nlohmann_json
    GIT_REPOSITORY https://github.com/nlohmann/json.git
    GIT_TAG bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d # v3.11.2
    GIT_PROGRESS OFF
    SYSTEM
    FIND_PACKAGE_ARGS 3.11.2 CONFIG
  )
  FetchContent_Declare(
    fmt
    GIT_REPOSITORY https://github.com/fmtlib/fmt.git
    GIT_TAG a33701196adfad74917046096bf5a2aa0ab0bb50 # 9.1.0
    GIT_PROGRESS OFF
    SYSTEM
    FIND_PACKAGE_ARGS 9 CONFIG
  )
  FetchContent_Declare(
    doctest
    GIT_REPOSITORY https://github.com/doctest/doctest.git
    GIT_TAG b7c21ec5ceeadb4951b00396fc1e4642dd347e5f # v2.4.9
    GIT_PROGRESS OFF
    SYSTEM
    FIND_PACKAGE_ARGS 2.4.9 CONFIG
  )
  # Without a version, because its package refuses to stand in for another minor one; cmake/wire.cmake compares.
  FetchContent_Declare(
    simdjson
    GIT_REPOSITORY https://github.com/simdjson/simdjson.git
    GIT_TAG v3.0.1
    GIT_PROGRESS OFF
    SYSTEM
    FIND_PACKAGE_ARGS CONFIG
  )

  # The fetched projects predate both: option() would drop the values below, and CMake 4 refuses their minimum.
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
  # Our export sets refer to these two, so they must be installed along; simdjson always is.
  set(JSON_Install ${COPPICE_INSTALL})
  set(FMT_INSTALL ${COPPICE_INSTALL})
  set(DOCTEST_WITH_TESTS OFF)
  set(DOCTEST_NO_INSTALL ON)
endif()

# A macro, because packages leave variables behind that their functions read later.
macro(coppice_need name target version)
  if(NOT TARGET ${target})
    if(PROJECT_IS_TOP_LEVEL)
      # Our warnings are not for fetched code.
      set(coppice_saved_flags "${CMAKE_CXX_FLAGS}")
      string(APPEND CMAKE_CXX_FLAGS " -w")
      FetchContent_MakeAvailable(${name})
      set(CMAKE_CXX_FLAGS "${coppice_saved_flags}")
    else()
      find_package(${name} ${version} CONFIG REQUIRED)
    endif()
  endif()
endmacro()
