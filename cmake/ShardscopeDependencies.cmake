# Everything comes from Debian 12 (docs/architecture.md gives the reason for each).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(tl-expected QUIET)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBRSVG REQUIRED IMPORTED_TARGET librsvg-2.0 cairo)
