# The simdjson there is, under the version that the test asks for.
include("${REAL_SIMDJSON_DIR}/simdjson-config.cmake")
