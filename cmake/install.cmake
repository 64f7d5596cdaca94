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
# For editors, of what coppice/config.hpp reads.
install(FILES "${CMAKE_CURRENT_LIST_DIR}/config.schema.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/coppice")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/coppice")
