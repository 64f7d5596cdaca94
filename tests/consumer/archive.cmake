# The tree without what a build leaves in it, in one folder as release archives have it.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${OUTPUT_DIR}")
file(
  COPY "${SOURCE}/"
  DESTINATION "${OUTPUT_DIR}/coppice-${VERSION}"
  PATTERN ".git" EXCLUDE
  PATTERN "build" EXCLUDE
)
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E tar czf coppice.tar.gz "coppice-${VERSION}"
  WORKING_DIRECTORY "${OUTPUT_DIR}" COMMAND_ERROR_IS_FATAL ANY
)
