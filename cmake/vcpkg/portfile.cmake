# An overlay port of the tree that it lies in: vcpkg install coppice --overlay-ports=<this folder>
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers only

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES wire COPPICE_WIRE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DCOPPICE_BUILD_TESTS=OFF -DCOPPICE_BUILD_EXAMPLES=OFF -DCOPPICE_BUILD_BENCHMARKS=OFF
          "-DCOPPICE_INSTALL_CMAKEDIR=share/${PORT}"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()
vcpkg_fixup_pkgconfig()

# It is share/coppice/copyright here.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
