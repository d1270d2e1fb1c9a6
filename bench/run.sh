#!/usr/bin/env bash
# Runs the benchmarks and the process measurements of a build folder; medians of several repetitions.
#
#     bench/run.sh build/release [options of Google Benchmark]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: bench/run.sh BUILD_FOLDER [options]}
shift
cat <<'TARGETS'
Targets (medians):
  ownClocks 4,096 ranks           <= 20 ms      ownClocks 65,536 ranks   <= 200 ms
  per rank-op 65,536 / 4,096      <= 2          repriceAndRun 32 layers  <= 10 us
  knobToReport identical ranks    <= 5 ms       knobToReport own clocks  <= 20 ms
  executorHost per op   <= 10 us     (executorStreams beside it: with the streams' threads, whom idle work wakes each time)
  vitBlock ratio        <= 1.35    (a ViT-B/16 block's forward and backward pass over its matrix products alone)
  llama405b, 16,384 ranks         <= 20 ms      its whole process        <= 50 ms
TARGETS
"$build/bin/shardscope_bench" --benchmark_repetitions="${REPETITIONS:-5}" --benchmark_report_aggregates_only=true \
  --benchmark_min_warmup_time=0.1 "$@"
echo
echo "Whole processes, every rank with its own clock (targets: 4,096 ranks <= 20 ms and 48 MiB, 65,536 <= 200 ms and 128 MiB):"
for arguments in "4096" "4096 speeds" "65536" "65536 speeds"; do
  # shellcheck disable=SC2086
  "$build/bin/fsdp_step_process" $arguments
done

echo
echo "Whole process: shardscope simulate config.json of Llama-3.1-405B, FSDP over 16,384 ranks (target <= 50 ms), seconds:"
TIMEFORMAT=%R
for _ in 1 2 3 4 5 6 7; do
  time "$build/bin/shardscope" simulate bench/llama_3_1_405b/config.json --set parallelism.data_parallel_shard_degree=16384 --json >/dev/null
done 2>&1 | sort -n | awk '{a[NR] = $1} END {printf "  least %s, median %s, most %s\n", a[1], a[int((NR + 1) / 2)], a[NR]}'

if [ -x "$build/bin/shardscope-gui" ]; then
  echo
  echo "Frames of the window, 1920 x 1080, 64 lanes, drawn offscreen by one core:"
  QT_QPA_PLATFORM=offscreen "$build/bin/shardscope-gui" --bench-timeline 2>/dev/null || true  # it says itself which targets are missed
fi
