#!/usr/bin/env bash
# Runs the benchmarks and the process measurements of a build folder; medians of several repetitions.
#
#     bench/run.sh build/release [options of Google Benchmark]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: bench/run.sh BUILD_FOLDER [options]}
shift
"$build/bin/shardscope_bench" --benchmark_repetitions="${REPETITIONS:-5}" --benchmark_report_aggregates_only=true \
  --benchmark_min_warmup_time=0.1 "$@"
echo
echo "Whole processes, every rank with its own clock (targets: 4,096 ranks <= 20 ms and 48 MiB, 65,536 <= 200 ms and 128 MiB):"
for arguments in "4096" "4096 speeds" "65536" "65536 speeds"; do
  # shellcheck disable=SC2086
  "$build/bin/fsdp_step_process" $arguments
done
