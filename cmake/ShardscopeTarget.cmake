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

# shardscope_parse_once(NAME LIBRARY... HEADERS HEADER...): what most sources include, and those headers, parsed once for all
# targets that shardscope_reads(TARGET NAME) names; they are compiled with the same options. Under clang alone:
# GCC 12 at -O3 then raises more false alarms on std::string (stringop-overflow, stringop-overread) than it does without, and
# its builds show that each source includes what it uses.
function(shardscope_parse_once name)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 argument "" "" "HEADERS")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" CONTENT "")
  add_library(${name} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE shardscope_flags fmt::fmt ${argument_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp> ${argument_HEADERS})
endfunction()
function(shardscope_reads target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
shardscope_parse_once(shardscope_common)

function(shardscope_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC shardscope_flags ${ARGN})
    shardscope_reads(${name} shardscope_common)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE shardscope_flags ${ARGN})
  endif()
endfunction()
