# Options of the build.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(SHARDSCOPE_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
option(SHARDSCOPE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SHARDSCOPE_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(SHARDSCOPE_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
set(SHARDSCOPE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize= (\"address,undefined\", \"thread\")")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
