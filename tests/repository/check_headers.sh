#!/usr/bin/env bash
# Each header compiles alone. A header that the source of its name includes first is left to the builds by GCC, which parse
# nothing before it (the window's do, so that all of the window's headers are tried here). Usage: check_headers.sh [ROOT] [COMPILER]
set -u
root=${1:-$(dirname "$0")/../..}
export compiler=${2:-g++}
cd "$root" || exit 2
folders="core traces sim runtime cli tests bench"
export qt=""
if pkg-config --exists Qt6Widgets Qt6Test 2>/dev/null; then
  folders="$folders gui"
  qt="-fPIC $(pkg-config --cflags Qt6Widgets Qt6Test | sed 's/-I/-isystem /g')"
fi

# shown_by_builds HEADER: HEADER is the first that the source beside it includes.
shown_by_builds() {
  case $1 in gui/* | tests/* | runtime/cuda/*) return 1 ;; esac
  [ "$(grep -m 1 '^#include' "${1%.h}.cpp" 2>/dev/null)" = "#include \"$1\"" ]
}

# Without Qt the window's headers, and those of its tests, are left out.
# shellcheck disable=SC2016,SC2086
find $folders -name '*.h' 2>/dev/null | { [ -n "$qt" ] && cat || grep -v '^tests/gui/'; } | sort |
  while read -r header; do shown_by_builds "$header" || echo "$header"; done | xargs -P "$(nproc)" -I{} sh -c \
  'case {} in gui/* | tests/gui/*) flags=$qt ;; *) flags= ;; esac
   "$compiler" -std=c++20 $flags -fsyntax-only -Wall -Wextra -Werror -I. -DSHARDSCOPE_TEST_DATA="\"tests/data\"" -include "{}" -x c++ /dev/null ||
   { echo "{} does not compile alone"; exit 255; }'
