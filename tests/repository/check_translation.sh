#!/usr/bin/env bash
# check_translation.sh LUPDATE: every string of the window is in its Korean translation, none is left over.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
words=gui/translation/shardscope_ko.ts
cp "$words" "$work/words.ts"
"$1" -silent -I . gui -ts "$work/words.ts" -no-obsolete -locations none
if ! diff -u "$words" "$work/words.ts"; then
  echo "$words is not what lupdate makes: run 'cmake --build BUILD --target update_translations', translate what is new"
  exit 1
fi
