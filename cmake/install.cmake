include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(COPPICE_INSTALL_CMAKEDIR
    "${CMAKE_INSTALL_DATADIR}/cmake/coppice"
    CACHE STRING "Where the package configuration goes, relative to the prefix"
)
mark_as_advanced(COPPICE_INSTALL_CMAKEDIR)

install(TARGETS coppice EXPORT coppiceTargets FILE_SET HEADERS)
install(EXPORT coppiceTargets NAMESPACE coppice:: DESTINATION "${COPPICE_INSTALL_CMAKEDIR}")

# The component's file is only there with the component: that is how the package knows which it has.
if(TARGET coppice_wire)
  install(TARGETS coppice_wire EXPORT coppiceWireTargets FILE_SET HEADERS)
  install(EXPORT coppiceWireTargets NAMESPACE coppice:: DESTINATION "${COPPICE_INSTALL_CMAKEDIR}")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/coppice-wire.cmake" DESTINATION "${COPPICE_INSTALL_CMAKEDIR}")
endif()

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/coppiceConfig.cmake.in" "${PROJECT_BINARY_DIR}/coppiceConfig.cmake"
  INSTALL_DESTINATION "${COPPICE_INSTALL_CMAKEDIR}"
  NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/coppiceConfigVersion.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT
)
install(
  FILES "${PROJECT_BINARY_DIR}/coppiceConfig.cmake" "${PROJECT_BINARY_DIR}/coppiceConfigVersion.cmake"
  DESTINATION "${COPPICE_INSTALL_CMAKEDIR}"
)

# For builds without CMake. Relative to the file itself, so that the prefix can be moved.
set(coppice_pc_folder "${CMAKE_INSTALL_DATADIR}/pkgconfig")
set(coppice_pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${coppice_pc_folder}")
  file(RELATIVE_PATH coppice_pc_prefix "/${coppice_pc_folder}" "/")
  string(REGEX REPLACE "/$" "" coppice_pc_prefix "\${pcfiledir}/${coppice_pc_prefix}")
endif()
set(coppice_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
if(NOT IS_ABSOLUTE "${coppice_pc_includedir}")
  string(PREPEND coppice_pc_includedir "\${prefix}/")
endif()
set(coppice_pc_names coppice)
if(TARGET coppice_wire)
  list(APPEND coppice_pc_names coppice-wire)
endif()
foreach(name IN LISTS coppice_pc_names)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${coppice_pc_folder}")
endforeach()

# For editors, of what coppice/config.hpp reads.
install(FILES "${CMAKE_CURRENT_LIST_DIR}/config.schema.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/coppice")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/coppice")
