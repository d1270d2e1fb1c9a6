#!/usr/bin/env bash
# Runs the real program with good and bad input and holds its exit codes, messages and files against docs/cli.md.
# Usage: run.sh PROGRAM
set -u
program=$(realpath "${1:?usage: run.sh PROGRAM}")
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
checks=0

# expect CODE PATTERN ARGUMENT...: the exit code, and a pattern on standard error (empty: nothing there).
expect() {
  local code=$1 pattern=$2 got
  shift 2
  timeout 60 "$program" "$@" >"$work/out" 2>"$work/err"
  got=$?
  checks=$((checks + 1))
  if [ "$got" -ne "$code" ]; then
    echo "exit $got instead of $code: shardscope $*"; cat "$work/err"; failures=$((failures + 1)); return
  fi
  if [ -z "$pattern" ] && [ -s "$work/err" ]; then
    echo "unexpected words on standard error: shardscope $*"; cat "$work/err"; failures=$((failures + 1))
  elif [ -n "$pattern" ] && ! grep -q -- "$pattern" "$work/err"; then
    echo "no \"$pattern\" in the message of: shardscope $*"; cat "$work/err"; failures=$((failures + 1))
  fi
}
check() {  # check WORDS COMMAND...
  local words=$1
  shift
  checks=$((checks + 1))
  "$@" || { echo "$words"; failures=$((failures + 1)); }
}

# Every command's --help and its example.
expect 0 "" --version
expect 0 "" --help
for command in compare simulate sweep graph run calibrate models clusters doctor docs completion; do
  expect 0 "" "$command" --help
  example=$(sed -n '/^Example:/{n;s/^ *shardscope //p}' "$work/out")
  check "$command --help has no example" test -n "$example"
  # shellcheck disable=SC2086
  (cd "$work" && ln -sfn "$OLDPWD/examples" examples)
  ( cd "$work" && timeout 60 "$program" $example >example.out 2>example.err )
  status=$?
  check "the example of $command --help fails: $example: $(head -c 300 "$work/example.err")" test $status -eq 0
done

# Questions about a plan: sentences, or members of the report.
expect 0 "" simulate examples/lecture.toml --strategy naive --why-memory --why-idle
check "no sentences about memory" grep -q "What would take it down" "$work/out"
check "no sentences about waits" grep -q "Why GPUs of naive do not compute" "$work/out"
expect 0 "" simulate examples/lecture.toml --why-idle --json
check "no why_idle in the report" grep -q '"why_idle"' "$work/out"

expect 0 "" clusters --describe p4d
check "no drawing of the network" grep -q "EFA, between nodes" "$work/out"
expect 0 "" clusters --describe h100-sxm --json
expect 2 "no name to describe" clusters --describe
expect 3 "did you mean" clusters --describe dgx-h10

# The command line.
expect 2 "did you mean" compar examples/lecture.toml
expect 2 "--help"
expect 2 "--help" compare
expect 2 "--help" compare examples/lecture.toml --no-such-option
expect 2 "--no-such-option" compare --no-such-option
expect 2 "--no-such-option" sweep vit_tiny --no-such-option
for command in compare simulate graph run; do
  expect 2 'found ""' "$command" vit_tiny --strategy ""
done
expect 2 'found ""' sweep vit_tiny --over model.layers=1,2 --strategy ""
for command in models clusters run; do
  expect 2 'found ""' "$command" ""
done
expect 2 "section.key=value" compare examples/lecture.toml --set nonsense
expect 3 "did you mean" compare examples/lecture.toml --set parallelism.data_parallel_shard_degre=2
expect 2 "no strategy" compare examples/lecture.toml --strategy naive,zero9
expect 2 "given twice" compare examples/lecture.toml --strategy fsdp,fsdp
expect 2 "between the commas" compare examples/lecture.toml --strategy ,,
expect 2 "between the commas" compare examples/lecture.toml --strategy naive,
expect 0 "" compare examples/lecture.toml --strategy naive,fsdp,ddp --set 'training.frozen=["conv_proj"]'
check "compare does not list the strategy that it leaves out" grep -q "ddp: left out" "$work/out"
expect 5 "frozen parameters under ddp" compare examples/lecture.toml --strategy fsdp,ddp --set 'training.frozen=["conv_proj"]'
expect 2 "ending" compare examples/lecture.toml -o "$work/picture.gif"
expect 2 "value" sweep examples/lecture.toml --over training.local_batch_size

# Stages cut by time need prices, in every command that builds the graph.
expect 0 "" graph vit_tiny --strategy naive --set parallelism.pipeline_parallel_split=time --set parallelism.data_parallel_shard_degree=2
expect 0 "" run --strategy naive --ranks 2 --steps 1 --set parallelism.pipeline_parallel_split=time

# FSDP inside naive stages, simulated and run.
expect 0 "" simulate vit_tiny --set parallelism.pipeline_parallel_degree=2 --set parallelism.data_parallel_shard_degree=2
expect 0 "" run --ranks 4 --steps 1 --set parallelism.pipeline_parallel_degree=2
losses() { timeout 60 "$program" run --ranks 4 --steps 3 "$@" | awk '/^step/ {print $2, $4}'; }
check "training inside stages gives other losses than without" \
  test "$(losses --set parallelism.pipeline_parallel_degree=2)" = "$(losses)"
expect 3 "one stage" simulate vit_tiny --strategy single --set parallelism.pipeline_parallel_degree=2

# Files that are not there, or hold something else.
expect 4 "no such file" compare "$work/missing.toml"
expect 3 "neither a file" compare no-such-model
expect 3 "did you mean \"vit_b_16\"" compare vit_b16
printf '{"model_type": "llama", "hidden_size": 40' >"$work/truncated.json"
expect 3 "truncated.json" compare "$work/truncated.json"
printf '[model\n' >"$work/broken.toml"
expect 3 "broken.toml:1" compare "$work/broken.toml"
printf '\xff\xff\xff\xff\xff\xff\xff\xff{}' >"$work/long.safetensors"
expect 3 "long.safetensors" compare "$work/long.safetensors"
printf 'x' >"$work/short.safetensors"
expect 3 "short.safetensors" compare "$work/short.safetensors"
mkdir "$work/odd" && printf '{"model_type": "oddball"}' >"$work/odd/config.json"
expect 5 "safetensors" compare "$work/odd"
printf '{"hidden_size": 4096}' >"$work/config.json"
expect 3 "model_type: missing" compare "$work/config.json"
check "no way out is offered" grep -q "safetensors" "$work/err"
printf '{"model_type": 5}' >"$work/config.json"
expect 3 "model_type: found a" compare "$work/config.json"
check "no way out is offered" grep -q "safetensors" "$work/err"
mkdir "$work/empty"
expect 3 "config.json" compare "$work/empty"
head -c 100000 /dev/urandom >"$work/noise.toml"
expect 3 "noise.toml" compare "$work/noise.toml"

# Values that cannot be.
for bad in 0 -1 nan 1.5 99999999999999999999; do
  expect 3 "local_batch_size" compare examples/lecture.toml --set "training.local_batch_size=$bad"
done
expect 3 "data_parallel_shard_degree" compare examples/lecture.toml \
  --set cluster.nodes=1 --set cluster.gpus_per_node=4 --set parallelism.data_parallel_shard_degree=3
expect 3 "has 2 blocks, 5 parts" simulate vit_tiny --strategy naive --set cluster.nodes=1 --set cluster.gpus_per_node=8
expect 3 "cluster.gpus_per_node=4" compare vit_tiny
flags=$(sed -n 's/.*for example \(--set .*\), or.*/\1/p' "$work/err")
# shellcheck disable=SC2086
expect 0 "" compare vit_tiny $flags
expect 3 "--ranks 4" run vit_tiny --strategy naive --ranks 8
expect 3 "head" simulate vit_tiny --set model.heads=5
expect 3 "patch" simulate vit_tiny --set model.patch_size=5
expect 3 "vocab" simulate vit_tiny --set model.vocab=5
expect 0 "" simulate vit_tiny --set parallelism.data_parallel_replicate_degree=2
expect 5 "no device" run --device abacus
# What no device runs is said before anything is printed, and not as one rank's mishap.
expect 5 "^shardscope: --set \[training\] optimizer: " run --steps 1 --set training.optimizer=adamw_8bit
check "a refused run has printed something" test ! -s "$work/out"
expect 0 "" run --steps 1 --json --set training.first_step=true --set parallelism.ddp_bucket_cap_mb=9
for member in '"model": "vit_tutorial_12"' '"device": "cpu"' '"images": 40000' '"parallelism.ddp_bucket_cap_mb"' '"training.first_step"'; do
  check "run --json lacks $member" grep -q -- "$member" "$work/out"
done
expect 0 "" graph vit_tiny --set training.checkpoint_every=3
check "graph names nothing as not used" grep -q "not used: training.checkpoint_every" "$work/out"
expect 0 "" run --ranks 2 --steps 1 --link-bandwidth 0.05 --link-latency 20
expect 2 "link-bandwidth" run --link-bandwidth 0
expect 2 "link-bandwidth" run --link-bandwidth fast
expect 2 "link-latency" run --link-latency -1
expect 2 'from 0 to 1000000 microseconds, found "nan"' run --link-latency nan
expect 2 'from 1e-06 to 1000000 GB/s, found "fast"' run --link-bandwidth fast
for found in 1e3 "" 0 010; do
  expect 2 "expected a whole number from 1 to 100000, found \"$found\"" run --steps "$found"
done
expect 2 'found "nan"' run --timeout nan
expect 0 "" run vit_tiny --device reference --ranks 2 --steps 1 --timeout 5 --join-timeout 6 --set training.compile=true
for option in --timeout --join-timeout training.compile; do
  check "$option is not said to be not used" grep -q "not used: $option changes nothing here" "$work/out"
done
expect 0 "" run vit_tiny --device reference --strategy ddp --ranks 2 --steps 1 --set model.dropout=on \
  --set model.kernel_rules=cpu --set precision.autocast=true --set precision.mixed_precision_param=bfloat16
expect 2 "2 x 4 GPUs, but --ranks 4" run --ranks 4 --steps 1 --set cluster.nodes=2 --set cluster.gpus_per_node=4
expect 2 "does not divide among 3 nodes" run --ranks 4 --steps 1 --set cluster.nodes=3
expect 0 "" run vit_tiny --ranks 4 --steps 1 --set cluster.nodes=2
expect 2 "strategy single has 1 rank" run --ranks 2 --strategy single --steps 1
expect 2 "without a limit" run --ranks-as threads --timeout 5 --steps 1
expect 2 "without a limit" run --ranks-as threads --join-timeout 5 --steps 1
expect 0 "" run --ranks 3 --steps 1
check "nothing says why a step has 63 samples" grep -q "63 samples a step (64 do not divide among 3 ranks)" "$work/out"
expect 2 "use --device cpu" run --device reference --link-latency 20
expect 5 "over that link, expected at most 60 minutes" run --link-bandwidth 1e-6 --steps 100
expect 5 "expected at most 60 minutes" run --steps 100000
for strategy in single naive ddp fsdp; do
  expect 0 "" run --steps 1 --strategy $strategy --set precision.mixed_precision_reduce=bfloat16
done

# Images from files; a sampler that nobody tells the epoch.
expect 4 "no train-images-idx3-ubyte" run --data "$work" --steps 1
head -c 100 /dev/zero >"$work/train-images-idx3-ubyte"
expect 4 "the labels are missing" run --data "$work" --steps 1
head -c 100 /dev/zero >"$work/train-labels-idx1-ubyte"
expect 3 "train-images-idx3-ubyte: byte 2: elements of type 0x00" run --data "$work" --steps 1
{ printf '\0\0\10\3\0\0\0\30\0\0\0\34\0\0\0\34'; head -c $((24 * 784)) /dev/zero; } >"$work/train-images-idx3-ubyte"
{ printf '\0\0\10\1\0\0\0\30'; head -c 24 /dev/zero; } | gzip >"$work/train-labels-idx1-ubyte.gz"
rm "$work/train-labels-idx1-ubyte"
expect 0 "" run --data "$work" --ranks 2 --steps 3
check "nothing says why a step has 24 samples" grep -q "24 samples a step (there are no more images)" "$work/out"
expect 0 "" run --data "$work/train-images-idx3-ubyte" --steps 1
expect 3 "the model takes 14 x 14" run --data "$work" --steps 1 --set model.image_size=14
expect 4 "no t10k-images" run --data "$work" --steps 1 --test-images 5
expect 0 "" run --ranks 2 --steps 3 --log-json "$work/log.jsonl" --test-images 120 --lr-schedule cosine
check "the log has not a line a step" test "$(grep -c '"loss": 2\..*"peak_bytes": [1-9]' "$work/log.jsonl")" -eq 3
check "the trained model was not asked" grep -q "of 120 test images right" "$work/out"
expect 4 "--log-json" run --steps 1 --log-json /nowhere/log.jsonl
mkfifo "$work/log.pipe"
expect 4 "start what reads this pipe" run --steps 1 --log-json "$work/log.pipe"
for log in - /dev/stdout; do
  expect 2 "standard output shows the tables" run --steps 1 --log-json "$log"
done
expect 2 "the same file twice" run --steps 1 --log-json "$work/a.json" -o "$work/./a.json"
expect 2 "the same file twice" run --steps 1 --log-json "$work/a.json" --machine "$work/a.json"
if [ -e /dev/full ]; then
  expect 4 "free some space" run --ranks 2 --steps 2 --log-json /dev/full
  check "a log that fails is not said once" test "$(grep -c "No space left" "$work/err")" -eq 1
  check "no report after a log that failed" grep -q "Who works when" "$work/out"
fi
# bfloat16 on a processor without AVX-512, as oneDNN is told that this one is: said once.
low=(run vit_tiny --ranks 2 --steps 1 --set precision.mixed_precision_param=bfloat16)
DNNL_MAX_CPU_ISA=AVX2 expect 0 "" "${low[@]}"
check "no word, or more than one, about bfloat16 without AVX-512" \
  test "$(grep -c "of bfloat16 need AVX-512" "$work/out")" -eq 1
DNNL_MAX_CPU_ISA=AVX2 expect 0 "" run vit_tiny --ranks 2 --steps 1
check "a word about bfloat16 in a run without it" test "$(grep -c "of bfloat16 need AVX-512" "$work/out")" -eq 0
# What the CPU leaves to the reference loops: said once, and not of the reference device.
check "a word about slow kernels where there are none" test "$(grep -c "in plain loops" "$work/out")" -eq 0
expect 0 "" run vit_tiny --ranks 2 --steps 1 --set model.dropout=on
check "no word, or more than one, about dropout's loops" test "$(grep -c "with dropout, .* in plain loops" "$work/out")" -eq 1
expect 0 "" run vit_tiny --ranks 2 --steps 1 --set precision.mixed_precision_param=float16
check "no word, or more than one, about float16" test "$(grep -c "no fast kernels of float16" "$work/out")" -eq 1
expect 0 "" run vit_tiny --ranks 2 --steps 1 --set model.dropout=on --device reference
check "a word about the CPU's kernels on the reference device" test "$(grep -c "no fast kernels" "$work/out")" -eq 0

expect 0 "" run --no-set-epoch --ranks 2 --steps 1
check "--no-set-epoch warns" grep -q "every epoch repeats this order" "$work/out"
check "--no-set-epoch shows the same order twice" \
  [ "$(sed -n 's/.*rank 1, epoch .: //p' "$work/out" | sort | uniq -c | awk '{print $1}')" = 2 ]

# Errors name the key that the user gave, and where.
printf '[model]\nname = "vit_tiny"\n[cluster]\ngpu = "t4"\n[parallelism]\ndata_parallel_shard_degree = 2\nfsdp_wrap = ["nope"]\n' >"$work/wrap.toml"
for command in compare simulate graph run; do
  expect 3 "wrap.toml:7 \[parallelism\] fsdp_wrap: no module 'nope'" "$command" "$work/wrap.toml" --strategy fsdp
done
expect 3 "wrap.toml:7 \[parallelism\] fsdp_wrap" sweep "$work/wrap.toml" --over training.local_batch_size=1,2
expect 3 "^shardscope: --over model.layers=x" sweep gpt2 --over model.layers=x
expect 3 "^shardscope: --set \[cluster.node\] link_gbs" compare examples/lecture.toml \
  --set 'cluster.node={preset="dgx-a100",link_gbs=1000000}'
expect 3 "strategy naive: naive placement on 4096 ranks" compare examples/lecture.toml --set parallelism.data_parallel_shard_degree=4096
flags=$(sed -n 's/.*for example \(--set .*\), or.*/\1/p' "$work/err")
# shellcheck disable=SC2086
expect 0 "" compare examples/lecture.toml --set parallelism.data_parallel_shard_degree=4096 $flags
stages="--set parallelism.pipeline_parallel_degree=2 --set parallelism.data_parallel_shard_degree=4"
# shellcheck disable=SC2086
expect 3 "set it to 4; .*simulate --strategy fsdp" compare vit_tiny $stages
# shellcheck disable=SC2086
expect 0 "" simulate vit_tiny --strategy fsdp $stages

# A sweep tells in its exit code that a value cannot be, and answers for the others.
expect 0 "" sweep vit_tiny --over parallelism.data_parallel_shard_degree=1,2
expect 3 "1 of the 3 values cannot be" sweep vit_tiny --over training.local_batch_size=1,0,2
check "the good values have no rows" test "$(grep -c fsdp "$work/out")" -eq 2
expect 3 "none of the 2 values can be" sweep vit_tiny --over training.local_batch_size=0,-1
expect 5 "1 of the 2 values" sweep vit_tiny --over parallelism.tensor_parallel_degree=1,2
expect 3 "1 of the 2 values" sweep vit_tiny --json --over training.local_batch_size=1,0

# A machine is measured, and a run held against the forecast that follows.
expect 0 "" calibrate vit_tiny --ranks 2 --strategy fsdp -o "$work/machine.json"
check "calibrate tells no transfers" grep -q "all-gather" "$work/out"
expect 0 "" run vit_tiny --ranks 2 --strategy fsdp --steps 3 --machine "$work/machine.json"
check "the forecast's peak is not the run's" grep -q "^ *peak memory .*+0.0 %$" "$work/out"
expect 0 "" run vit_tiny --ranks 2 --strategy naive --steps 3 --compare --ranks-as threads --json
check "no prediction in the JSON" grep -q '"prediction"' "$work/out"
expect 3 "among 4 ranks" run vit_tiny --ranks 4 --strategy fsdp --steps 3 --machine "$work/machine.json"
expect 3 "was not measured" run vit_tiny --ranks 2 --strategy fsdp --steps 3 --machine "$work/machine.json" --set training.local_batch_size=3
expect 3 "transport gloo, this run has threads" run vit_tiny --ranks 2 --strategy fsdp --steps 3 --machine "$work/machine.json" --ranks-as threads
expect 3 "artificial link none" run vit_tiny --ranks 2 --strategy fsdp --steps 3 --machine "$work/machine.json" --link-latency 9
expect 2 "ends in .json" calibrate vit_tiny --ranks 2 -o "$work/machine.svg"
expect 5 "8-bit AdamW" calibrate vit_tiny --ranks 2 --set training.optimizer=adamw_8bit
expect 4 "no-such" run vit_tiny --ranks 2 --steps 1 --machine "$work/no-such.json"
echo '{"schema": "shardscope.machine", "version": 9}' >"$work/other.json"
expect 3 "version 9, expected 2" run vit_tiny --ranks 2 --steps 1 --machine "$work/other.json"
# Its last step goes into files.
expect 0 "" run vit_tiny --ranks 2 --steps 2 -o "$work/run.json.gz" -o "$work/run.svg" -o "$work/run.csv"
check "no run was written" test -s "$work/run.json.gz" -a -s "$work/run.svg" -a -s "$work/run.csv"
expect 2 ".xyz" run vit_tiny --ranks 2 --steps 1 -o "$work/run.xyz"
# Whoever stands in a folder that is gone keeps the run.
mkdir "$work/cluster" "$work/gone"
printf '[cluster]\nnodes = 1\ngpus_per_node = 1\n' >"$work/cluster/own.toml"
printf '[model]\nname = "vit_tiny"\n[cluster]\npath = "own.toml"\n' >"$work/cluster/scenario.toml"
( cd "$work/gone" && rmdir "$work/gone" &&
  timeout 60 "$program" run "$work/cluster/scenario.toml" --steps 1 -o "$work/cluster/run.json" >/dev/null 2>"$work/err" )
got=$?
check "a run in a folder that is gone: $(head -c 300 "$work/err")" test $got -eq 0
check "the folder of its scenario is not in the run" grep -q '"folder":"[^"]*/cluster"' "$work/cluster/run.json"

# run takes its ranks from --ranks, or else from the scenario.
ranks_of() { timeout 60 "$program" run "$@" --steps 1 --json 2>/dev/null | grep -c '"rank":'; }
printf '[model]\nname = "vit_tiny"\n[parallelism]\ndata_parallel_shard_degree = 2\n' >"$work/two.toml"
check "run does not follow the scenario" test "$(ranks_of "$work/two.toml")" -eq 2
check "--ranks does not count more than the scenario's degree" test "$(ranks_of "$work/two.toml" --ranks 3)" -eq 3
printf '[model]\nname = "vit_tiny"\n[cluster]\nnodes = 2\ngpus_per_node = 8\n' >"$work/sixteen.toml"
check "--ranks does not count more than the scenario's cluster" test "$(ranks_of "$work/sixteen.toml" --ranks 2)" -eq 2
expect 2 "make 8 ranks, but --ranks is 4" run --ranks 4 --set parallelism.data_parallel_shard_degree=8
expect 3 "--ranks" run examples/lecture.toml --set cluster.nodes=16 --set cluster.gpus_per_node=8 --set parallelism.data_parallel_shard_degree=-1

# Output: whole or absent.
mkdir "$work/files"
expect 0 "" compare examples/lecture.toml -o "$work/CAPITALS.SVG"
expect 0 "" compare examples/lecture.toml -o "$work/files/a.svg" -o "$work/files/a.json.gz" -o "$work/files/a.csv"
check "a.json.gz is no gzip file" gzip -t "$work/files/a.json.gz"
echo "before" >"$work/files/kept.svg"
( ulimit -f 4; exec timeout 60 "$program" compare examples/lecture.toml -o "$work/files/kept.svg" >/dev/null 2>"$work/err" )
check "a full disk does not end with 4" test $? -eq 4
check "a full disk destroyed what was there" test "$(cat "$work/files/kept.svg")" = before
check "something half written was left behind" test "$(ls "$work/files" | wc -l)" -eq 4
expect 4 "no folder" compare examples/lecture.toml -o "$work/nowhere/a.svg"
mkdir "$work/files/folder.svg"
expect 4 "folder.svg" compare examples/lecture.toml -o "$work/files/folder.svg"
if [ -e /dev/full ]; then
  for words in "compare examples/lecture.toml" "--help" "--version" "compare --help"; do
    # shellcheck disable=SC2086
    "$program" $words >/dev/full 2>"$work/err"
    check "a full standard output does not end with 4: $words" test $? -eq 4
  done
fi

# Interruption.
timeout --preserve-status --signal=INT 0.3 "$program" sweep llama-3.1-405b --set cluster.nodes=16 --over \
  "training.local_batch_size=$(seq -s, 1 900)" -o "$work/files/never.csv" >/dev/null 2>&1
status=$?
check "an interruption ends with $status instead of 130" test $status -eq 130
check "an interruption left a file" test ! -e "$work/files/never.csv"

# Signals in the middle of a write, which is known by the file that is being written.
for signal in INT TERM HUP QUIT; do
  mkdir "$work/signal"
  set -m  # so that the shell leaves SIGINT to its child
  ( ulimit -c 0; exec "$program" compare vit_tiny --set model.layers=4000 -o "$work/signal/big.json.gz" ) >/dev/null 2>&1 &
  victim=$!
  set +m
  for ((i = 0; i < 3000; i++)); do
    [ -n "$(find "$work/signal" -name '*.partial-*' -size +0)" ] && break
    kill -0 "$victim" 2>/dev/null || break
    sleep 0.01
  done
  check "no partial file was seen before SIG$signal" test -n "$(find "$work/signal" -name '*.partial-*')"
  kill -s "$signal" "$victim" 2>/dev/null
  { wait "$victim"; } 2>/dev/null
  status=$?
  if [ "$signal" = QUIT ]; then expected=131; else expected=130; fi
  check "SIG$signal ends with $status instead of $expected" test "$status" -eq "$expected"
  check "SIG$signal left a file: $(ls "$work/signal")" test -z "$(ls "$work/signal")"
  rm -rf "$work/signal"
done

# Pipes, devices, standard output, what may not be read.
mkfifo "$work/pipe.toml" "$work/pipe.json"
expect 4 "this is a pipe, a regular file is needed" compare "$work/pipe.toml"
expect 4 "this is a device" models /dev/null
echo '[model]' | { expect 4 "a regular file is needed" compare /dev/stdin; }
expect 4 "start what reads this pipe" compare examples/lecture.toml -o "$work/pipe.json"
cat "$work/pipe.json" >"$work/through" &
reader=$!
( for ((i = 0; i < 100; i++)); do "$program" compare examples/lecture.toml -o "$work/pipe.json" >/dev/null 2>&1 && break; sleep 0.05; done )
wait "$reader"
check "nothing came through the pipe" grep -q traceEvents "$work/through"
expect 2 "standard output" compare examples/lecture.toml -o /dev/stdout
ln -s /dev/stdout "$work/files/link.svg"
expect 2 "standard output shows the tables" compare examples/lecture.toml -o "$work/files/link.svg"
"$program" compare examples/lecture.toml -o "$work/files/link.svg" 2>"$work/err" | cat >/dev/null
check "a link to standard output, a pipe, is not refused" grep -q "standard output shows the tables" "$work/err"
expect 2 "standard output shows the tables" sweep vit_tiny --over model.layers=1,2 -o "$work/files/link.svg"
ln -s not-there-yet.svg "$work/files/dangling.svg"
expect 0 "" compare examples/lecture.toml -o "$work/files/dangling.svg"
check "a link was replaced" test -L "$work/files/dangling.svg"
check "what the link means was not written" test -s "$work/files/not-there-yet.svg"

# Control characters of files, keys and the command line never reach the terminal.
control() {  # control ARGUMENT...: no byte that a terminal obeys on either output, and the program still answers
  timeout 60 "$program" "$@" >"$work/out" 2>"$work/err"
  checks=$((checks + 1))
  if LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$work/out" "$work/err" ||
    { [ ! -s "$work/out" ] && [ ! -s "$work/err" ]; }; then
    echo "control characters in the output of: shardscope $*" | cat -v; failures=$((failures + 1))
  fi
}
escape=$(printf '\033[31m\302\2332J\007')
control compare vit_tiny --set "title=\"\\u001b[31m\\u009b2J\\u0007\\n\\u007f\""
control compare vit_tiny --json --set "title=\"\\u001b[31m\\u009b2J\\u0007\\n\\u007f\""
control compare "$escape"
control compare vit_tiny --set "$escape=1"
control compare vit_tiny --set "model.name=$escape"
control sweep vit_tiny --over "model.name=$escape,vit_tiny"
control compare vit_tiny -o "$work/$escape.gif"
control compare vit_tiny -o "$work/$escape/a.svg"
control compare vit_tiny --strategy "$escape"
control models "$escape"
control "$escape"
mkdir "$work/$escape" && printf '{"model_type": "\\u001b[31m\\u009b"}' >"$work/$escape/config.json"
control compare "$work/$escape"
printf '[model]\nname = "\\u001b[31m"\n' >"$work/$escape/s.toml"
control compare "$work/$escape/s.toml"
header='{"layers.0.\u001b[31m\u009b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
mkdir "$work/weights$escape"
{ printf "\\x$(printf %x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "" ; printf '%s' "$header"; head -c 16 /dev/zero; } >"$work/weights$escape/model.safetensors"
for words in "models" "models --json" "graph" "graph --json" "graph --dot" "simulate"; do
  # shellcheck disable=SC2086
  control ${words%% *} "$work/weights$escape" $(cut -s -d' ' -f2- <<<"$words")
done
rm -rf "${work:?}/$escape" "$work/weights$escape"

# Every answer about a model that is known by its shapes only carries that.
header='{"layers.0.w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
{ printf "\\x$(printf %x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"; head -c 16 /dev/zero; } >"$work/shapes.safetensors"
for words in "models" "models --json" "graph" "graph --json" "graph --dot" "simulate" "simulate --json"; do
  # shellcheck disable=SC2086
  "$program" ${words%% *} "$work/shapes.safetensors" $(cut -s -d' ' -f2- <<<"$words") >"$work/out"
  check "no caveat in the answer of: $words" grep -q "only the shapes of the weights are known" "$work/out"
done

# Machines read it.
"$program" compare examples/lecture.toml --json >"$work/report.json"
if command -v python3 >/dev/null; then
  check "the JSON report is not what its schema says" python3 - "$work/report.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "shardscope.report" and report["version"] == 1
for plan in report["plans"]:
    for one in plan["classes"]:
        t = one["times"]
        parts = ["compute_ns", "exposed_transfer_ns", "exposed_copy_ns", "waiting_ns", "idle_ns"]
        assert all(isinstance(t[p], int) for p in parts) and sum(t[p] for p in parts) == t["step_ns"] == plan["step_ns"]
PYTHON
fi
"$program" compare examples/lecture.toml >"$work/first"; "$program" compare examples/lecture.toml >"$work/second"
check "two runs differ" cmp -s "$work/first" "$work/second"
check "colour where no terminal is" test -z "$(grep $'\x1b' "$work/first")"
for shell in bash zsh fish; do
  "$program" completion $shell >"$work/completion.$shell"
  check "completion for $shell is empty" test -s "$work/completion.$shell"
done
check "the bash completion is no bash" bash -n "$work/completion.bash"

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
