# Options of the build; printed as a summary at the end of the configuration.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

option(SHARDSCOPE_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
option(SHARDSCOPE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SHARDSCOPE_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(SHARDSCOPE_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
set(SHARDSCOPE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize= (\"address,undefined\", \"thread\")")

# Parts that depend on what the machine has: AUTO builds them where their libraries are found, ON makes a missing library
# an error, OFF leaves them out.
foreach(part WITH_CUDA WITH_NCCL WITH_CUPTI BUILD_GUI)
  set(SHARDSCOPE_${part} AUTO CACHE STRING "AUTO, ON or OFF")
  set_property(CACHE SHARDSCOPE_${part} PROPERTY STRINGS AUTO ON OFF)
  if(NOT SHARDSCOPE_${part} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "SHARDSCOPE_${part} is '${SHARDSCOPE_${part}}'; expected AUTO, ON or OFF")
  endif()
endforeach()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
