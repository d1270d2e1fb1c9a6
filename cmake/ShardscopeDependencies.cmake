# Everything comes from Debian 12 (docs/architecture.md gives the reason for each).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(tl-expected QUIET)
find_package(ZLIB REQUIRED)
