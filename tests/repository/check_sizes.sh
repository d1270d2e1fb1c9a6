#!/usr/bin/env bash
# No source file over 600 lines. Usage: check_sizes.sh [ROOT]
set -u
root=${1:-$(dirname "$0")/../..}
cd "$root" || exit 2
long=$(find core traces sim runtime cli gui tests bench -name '*.h' -o -name '*.cpp' -o -name '*.cu' 2>/dev/null | xargs -r wc -l | awk '$2 != "total" && $1 > 600 {print $2 ": " $1 " lines"}')
[ -z "$long" ] && exit 0
printf 'longer than 600 lines (is there a second idea inside?):\n%s\n' "$long"
exit 1
