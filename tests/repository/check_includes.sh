#!/usr/bin/env bash
# Holds the direction of the dependencies (docs/architecture.md) against the #include lines.
# Usage: check_includes.sh [ROOT]. Prints each line that breaks a rule; exit 1 if there is one.
set -u
root=${1:-$(dirname "$0")/../..}
cd "$root" || exit 2
broken=0

# rule FOLDERS PATTERN WORDS: no source in FOLDERS may have an include that matches PATTERN.
rule() {
  local found
  # shellcheck disable=SC2086
  found=$(find $1 -name '*.h' -o -name '*.cpp' -o -name '*.cu' 2>/dev/null | xargs -r grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]+$2" 2>/dev/null)
  if [ -n "$found" ]; then
    printf '%s\n%s\n' "$3:" "$found"
    broken=1
  fi
}
rule "core traces sim" '<(Q[A-Z]|cuda|nccl|cupti)' "core, traces and sim know no Qt and no CUDA"
rule "core" '"(sim|runtime|traces|cli|gui)/' "core includes nothing of the other folders"
rule "core" '<fstream>' "core parses bytes and opens no file"
rule "traces" '"(sim|runtime|cli|gui)/' "traces includes core alone"
rule "traces/timeline" '"traces/formats/' "the timeline knows no format"
rule "sim" '"(runtime|cli|gui|traces/formats)/' "sim includes neither runtime, nor the faces, nor a format"
rule "runtime" '"(sim|cli|gui|traces/formats)/' "runtime includes neither sim, nor the faces, nor a format"
rule "gui" '"(runtime|cli/command)/' "the window executes nothing and knows no command line"
rule "cli" '"gui/' "the command line does not include the window"
rule "core traces sim runtime cli" '"\.\.?/' "includes are written from the root"

# Heavy headers stay in one or two sources each.
for heavy in toml++ CLI11 CLI/CLI nlohmann/json boost/graph; do
  users=$(grep -rlE "#[[:space:]]*include[[:space:]]+<$heavy" core traces sim runtime cli gui 2>/dev/null)
  count=$(printf '%s' "$users" | grep -c .)
  if [ "$count" -gt 2 ] || printf '%s' "$users" | grep -q '\.h$'; then
    printf 'heavy header <%s> belongs in at most two .cpp files and in no header:\n%s\n' "$heavy" "$users"
    broken=1
  fi
done
exit $broken
