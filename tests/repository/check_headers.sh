#!/usr/bin/env bash
# Each header compiles alone. Usage: check_headers.sh [ROOT] [COMPILER]
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
# Without Qt the window's headers, and those of its tests, are left out.
# shellcheck disable=SC2016,SC2086
find $folders -name '*.h' 2>/dev/null | { [ -n "$qt" ] && cat || grep -v '^tests/gui/'; } | sort | xargs -P "$(nproc)" -I{} sh -c \
  'case {} in gui/* | tests/gui/*) flags=$qt ;; *) flags= ;; esac
   "$compiler" -std=c++20 $flags -fsyntax-only -Wall -Wextra -Werror -I. -DSHARDSCOPE_TEST_DATA="\"tests/data\"" -include "{}" -x c++ /dev/null ||
   { echo "{} does not compile alone"; exit 255; }'
