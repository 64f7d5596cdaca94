# An empty stage, so that a file left by an earlier run cannot stand in for one that is no longer installed.
file(REMOVE_RECURSE "${STAGE}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${STAGE}" --config "${CONFIG}" COMMAND_ERROR_IS_FATAL ANY
)
