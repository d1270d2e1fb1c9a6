# shardscope_library(NAME): a static library of every .cpp below the calling folder, includes from the root.
add_library(shardscope_flags INTERFACE)
target_include_directories(shardscope_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(shardscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wno-missing-field-initializers
                       -Werror=unused-result)
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

function(shardscope_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC shardscope_flags ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE shardscope_flags ${ARGN})
  endif()
endfunction()
