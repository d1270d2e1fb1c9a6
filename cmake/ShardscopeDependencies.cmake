# Everything comes from Debian 12 (docs/architecture.md gives the reason for each).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(tl-expected QUIET)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBRSVG REQUIRED IMPORTED_TARGET librsvg-2.0 cairo)

# oneDNN, and the OpenMP runtime that Debian built it with, which is told how many threads it may take.
find_path(ONEDNN_INCLUDE dnnl.hpp REQUIRED)
find_library(ONEDNN_LIBRARY dnnl REQUIRED)
add_library(shardscope_onednn INTERFACE)
target_include_directories(shardscope_onednn SYSTEM INTERFACE "${ONEDNN_INCLUDE}")
target_link_libraries(shardscope_onednn INTERFACE "${ONEDNN_LIBRARY}" gomp)

# Gloo: the transport between processes.
find_path(GLOO_INCLUDE gloo/context.h REQUIRED)
find_library(GLOO_LIBRARY gloo REQUIRED)
add_library(shardscope_gloo INTERFACE)
target_include_directories(shardscope_gloo SYSTEM INTERFACE "${GLOO_INCLUDE}")
target_link_libraries(shardscope_gloo INTERFACE "${GLOO_LIBRARY}")

set(SHARDSCOPE_GUI OFF)
if(NOT SHARDSCOPE_BUILD_GUI STREQUAL OFF)
  if(SHARDSCOPE_BUILD_GUI STREQUAL ON)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets Test LinguistTools)
  else()
    find_package(Qt6 6.4 QUIET COMPONENTS Widgets Test LinguistTools)
  endif()
  set(SHARDSCOPE_GUI ${Qt6_FOUND})
endif()
