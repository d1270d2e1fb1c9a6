#!/usr/bin/env bash
# Each header compiles alone. Usage: check_headers.sh [ROOT] [COMPILER]
set -u
root=${1:-$(dirname "$0")/../..}
export compiler=${2:-g++}
cd "$root" || exit 2
# shellcheck disable=SC2016
find core traces sim runtime cli gui tests bench -name '*.h' 2>/dev/null | sort | xargs -P "$(nproc)" -I{} sh -c \
  '"$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. -DSHARDSCOPE_TEST_DATA="\"tests/data\"" -include "{}" -x c++ /dev/null ||
   { echo "{} does not compile alone"; exit 255; }'
