#!/usr/bin/env bash
# Every test that docs/model.md names exists, and every row of its tables of formulas names one.
# Usage: check_model_tests.sh [ROOT]. Prints what is missing; exit 1 if anything is.
set -u
root=${1:-$(dirname "$0")/../..}
cd "$root" || exit 2
page=docs/model.md
known=$(mktemp)
trap 'rm -f "$known"' EXIT
# "Suite.Test" and "Suite" of every test in the sources, the programs that hold recordings, and the checks.
grep -rhoE '^TEST(_F|_P)?\([A-Za-z0-9_]+, *[A-Za-z0-9_]+' tests --include='*.cpp' |
  sed -E 's/^TEST(_F|_P)?\(([A-Za-z0-9_]+), */\2./' | awk -F. '{print; print $1}' | sort -u >"$known"
find tests/checkers -maxdepth 1 -name 'check_*.cpp' -exec basename {} .cpp \; >>"$known"
find tests/repository -name '*.sh' >>"$known"
broken=0

# A name in backquotes that looks like a test, a checker or a path below tests/.
for name in $(grep -oE '`[^` ]+`' "$page" | tr -d '`' | grep -E '^([A-Z][A-Za-z0-9]+(\.[A-Za-z][A-Za-z0-9]+)?|check_[a-z_]+|tests/.*)$' | sort -u); do
  grep -qxF -- "$name" "$known" || [ -e "$name" ] || { echo "$page names $name, which does not exist"; broken=1; }
done
# Tests that stand there without backquotes, or cut short, could not be checked.
if grep -nE '(^|[^`A-Za-z./:])[A-Z][A-Za-z0-9]+\.[A-Za-z][A-Za-z0-9]{8,}|[A-Za-z]\.\.\.' "$page"; then
  echo "$page: write the names of tests whole and in backquotes"
  broken=1
fi
# The last cell of a row is that of the tests where the table's head says so.
awk -F'|' '
  !/^\|/ { tests = 0; next }
  $(NF-1) ~ /^ *(test|held by) *$/ { tests = 1; next }
  /^\|-/ { next }
  tests && $(NF-1) !~ /`[A-Za-z]/ { print "docs/model.md:" NR ": a row without a test: " $2; bad = 1 }
  END { exit bad }' "$page" || broken=1
exit $broken
