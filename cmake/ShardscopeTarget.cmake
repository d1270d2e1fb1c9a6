# shardscope_library(NAME): a static library of every .cpp below the calling folder, includes from the root.
add_library(shardscope_flags INTERFACE)
target_include_directories(shardscope_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(shardscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wno-missing-field-initializers
                       -Werror=unused-result $<$<CXX_COMPILER_ID:Clang>:-pthread>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(shardscope_flags INTERFACE -Wno-restrict -Wno-array-bounds)  # false alarms of GCC 12 at -O3 on
                         # std::string (GCC bug 105651) and on insertion into vectors of bytes
endif()
if(SHARDSCOPE_WARNINGS_AS_ERRORS)
  target_compile_options(shardscope_flags INTERFACE -Werror)
endif()
if(SHARDSCOPE_SANITIZE)
  target_compile_options(shardscope_flags INTERFACE -fsanitize=${SHARDSCOPE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(shardscope_flags INTERFACE -fsanitize=${SHARDSCOPE_SANITIZE})
endif()

if(SHARDSCOPE_BUILD_FUZZERS)
  target_compile_options(shardscope_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What most sources include, parsed once for the libraries that shardscope_reads_common names. Under clang alone: GCC 12 at
# -O3 then raises more false alarms on std::string (stringop-overflow, stringop-overread) than it does without, and its builds
# show that each source includes what it uses.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/shardscope_common.cpp" CONTENT "")
  add_library(shardscope_common OBJECT "${CMAKE_BINARY_DIR}/shardscope_common.cpp")
  target_link_libraries(shardscope_common PRIVATE shardscope_flags fmt::fmt)
  target_precompile_headers(shardscope_common PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory>
    <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
endif()
function(shardscope_reads_common target)
  if(TARGET shardscope_common)
    target_precompile_headers(${target} REUSE_FROM shardscope_common)
  endif()
endfunction()

function(shardscope_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC shardscope_flags ${ARGN})
    shardscope_reads_common(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE shardscope_flags ${ARGN})
  endif()
endfunction()
