#!/usr/bin/env bash
# Each header compiles alone. Usage: check_headers.sh [ROOT] [COMPILER]
set -u
root=${1:-$(dirname "$0")/../..}
compiler=${2:-g++}
cd "$root" || exit 2
find core traces sim runtime cli gui -name '*.h' 2>/dev/null | sort |
  xargs -P "$(nproc)" -I{} sh -c "$compiler -std=c++20 -fsyntax-only -x c++ -Wall -Wextra -Wno-pragma-once-outside-header -I. '{}' || { echo '{} does not compile alone'; exit 255; }" 2> >(grep -v 'pragma once in main file' >&2)
