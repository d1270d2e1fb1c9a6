#!/usr/bin/env bash
# The README's picture is what the program draws now. Usage: check_picture.sh PROGRAM
set -euo pipefail
program=$1
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" compare examples/lecture.toml -o "$folder/lecture.svg" >/dev/null
cmp docs/pictures/lecture.svg "$folder/lecture.svg" || {
  echo "docs/pictures/lecture.svg is not what the program draws; make it anew with:"
  echo "  shardscope compare examples/lecture.toml -o docs/pictures/lecture.svg"
  exit 1
}
