#!/usr/bin/env bash
# Ranks as processes of the program, from outside: they train as threads do, and whatever ends one of them ends all.
# Usage: ranks.sh PROGRAM
set -u
program=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0
failures=0
fail() { echo "$1"; failures=$((failures + 1)); }
check() {  # check TEXT COMMAND...: COMMAND holds
  local text=$1; shift
  checks=$((checks + 1))
  "$@" || fail "$text"
}
# expect STATUS PATTERN ARGUMENT...: exit status, and what standard error contains.
expect() {
  local status=$1 pattern=$2; shift 2
  timeout 60 "$program" "$@" >"$work/out" 2>"$work/err"
  local got=$?
  checks=$((checks + 1))
  if [ $got -ne "$status" ] || { [ -n "$pattern" ] && ! grep -q -- "$pattern" "$work/err"; }; then
    fail "$*: ended with $got instead of $status, or without '$pattern':"; cat "$work/err"
  fi
}
children() { ps -o pid= --ppid "$1" | tr -d ' '; }
runs() {  # runs PID: one that has ended and that nobody has asked how does not
  local state
  state=$(ps -o stat= -p "$1") && [ "${state:0:1}" != Z ]
}
nobody_left() {  # nobody_left PID...: each ends within two seconds
  local i pid
  for ((i = 0; i < 200; i++)); do
    local left=0
    for pid in "$@"; do runs "$pid" && left=1; done
    [ $left -eq 0 ] && return 0
    sleep 0.01
  done
  return 1
}
free_port() {  # one that was free a moment ago
  local port
  for port in $(shuf -i 20000-32000 -n 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

# The same losses to the last bit, the same bytes, whatever ranks are.
what_counts() { sed '/"step_ns": \[/,/\]/d; /_ns"/d; /"unit": "ns"/{n;d;}; /"transport"/d'; }  # all but times and how ranks talk
same() {  # same ARGUMENT...
  timeout 60 "$program" run vit_tiny --json --steps 3 --ranks-as threads "$@" 2>&1 | what_counts >"$work/threads"
  timeout 60 "$program" run vit_tiny --json --steps 3 --ranks-as processes "$@" 2>&1 | what_counts >"$work/processes"
  check "no losses: $*" grep -q losses "$work/threads"
  check "no memory: $*" grep -q peak_bytes "$work/threads"
  check "threads and processes differ: $*" cmp "$work/threads" "$work/processes"
}
for ranks in 2 4; do
  for strategy in fsdp ddp naive; do same --ranks $ranks --strategy $strategy; done
done
same --ranks 4 --set parallelism.data_parallel_replicate_degree=2
same --ranks 3 --strategy fsdp
same --ranks 4 --set parallelism.pipeline_parallel_degree=2
same --ranks 2 --set precision.mixed_precision_reduce=bfloat16
same --ranks 2 --device reference
same --ranks 1

# Refused before anything starts.
expect 2 "expected HOST:PORT" run vit_tiny --ranks 2 --rendezvous somewhere
expect 2 "knows no place to meet" run vit_tiny --ranks 2 --rank 1
expect 2 "the plan has 2" run vit_tiny --ranks 2 --rank 2 --rendezvous 127.0.0.1:1
expect 2 "threads meet without" run vit_tiny --ranks 2 --ranks-as threads --rendezvous 127.0.0.1:1
expect 3 "8 stages" run vit_tiny --ranks 8 --strategy naive --ranks-as processes

long="run vit_tiny --ranks 3 --steps 20000 --set model.layers=1"
start() {  # start ARGUMENT...: a run in the background, until all its ranks are there
  set -m  # so that the shell leaves SIGINT to its child
  # shellcheck disable=SC2086
  "$program" $long "$@" >"$work/out" 2>"$work/err" &
  launcher=$!
  set +m
  local i
  for ((i = 0; i < 1000; i++)); do
    ranks=$(children $launcher)
    [ "$(wc -w <<<"$ranks")" -eq 3 ] && return
    sleep 0.01
  done
}

# A rank that is killed: one message, all gone.
for moment in 0 0.5; do
  start
  sleep $moment
  victim=$(head -n 1 <<<"$ranks")
  kill -KILL "$victim"
  wait $launcher
  check "a killed rank ends the run with $? instead of 4" test $? -eq 4
  check "the message does not name rank and signal: $(cat "$work/err")" grep -q "rank [0-2] was ended by signal 9" "$work/err"
  check "more than one message: $(cat "$work/err")" test "$(grep -c '^shardscope:' "$work/err")" -eq 1
  # shellcheck disable=SC2086
  check "ranks outlive a killed one" nobody_left $ranks
done

# As by any other signal.
start --strategy naive
sleep 0.5
victim=$(tail -n 1 <<<"$ranks")
kill -TERM "$victim"
wait $launcher
check "a rank that SIGTERM ended ends the run with $? instead of 4" test $? -eq 4
check "the message does not name SIGTERM: $(cat "$work/err")" \
  grep -q "^shardscope: rank 2 was ended by signal 15 (Terminated)" "$work/err"

# The user ends it: the launcher, and every rank before it.
for signal in INT TERM HUP; do
  start
  sleep 0.3
  kill -s $signal $launcher
  wait $launcher
  check "SIG$signal does not end with 130" test $? -eq 130
  left=0
  for pid in $ranks; do runs "$pid" && left=1; done
  check "SIG$signal leaves ranks" test $left -eq 0
done

# What its parent ignores it ignores (nohup): no end when the terminal goes.
trap '' HUP
start
trap - HUP
kill -s HUP $launcher
sleep 0.3
check "an ignored SIGHUP ends the run" runs $launcher
kill -s TERM $launcher
wait $launcher
check "SIGTERM after an ignored SIGHUP ends with $? instead of 130" test $? -eq 130
# shellcheck disable=SC2086
check "ranks outlive their launcher" nobody_left $ranks

# Even a launcher that nobody asked leaves nobody.
start
kill -KILL $launcher
{ wait $launcher; } 2>/dev/null
# shellcheck disable=SC2086
check "ranks outlive their launcher" nobody_left $ranks

# By hand, as on several machines.
port=$(free_port)
timeout 60 "$program" run vit_tiny --ranks 3 --steps 3 --rank 2 --rendezvous "127.0.0.1:$port" >"$work/two" 2>&1 &
two=$!
timeout 60 "$program" run vit_tiny --ranks 3 --steps 3 --rank 1 --rendezvous "127.0.0.1:$port" --json -o "$work/one.json" \
  >"$work/one" 2>"$work/one.err" &
one=$!
expect 0 "" run vit_tiny --ranks 3 --steps 3 --json --rank 0 --rendezvous "127.0.0.1:$port"
wait $one
check "rank 1 ends with $?: $(cat "$work/one.err")" test $? -eq 0
check "rank 1 does not say that rank 0 reports" grep -q "^rank 1: -o, --json not used here: rank 0 reports" "$work/one.err"
check "rank 1 reports" test ! -s "$work/one" -a ! -e "$work/one.json"
wait $two
check "rank 2 ends with $?: $(cat "$work/two")" test $? -eq 0
what_counts <"$work/out" >"$work/by_hand"
timeout 60 "$program" run vit_tiny --json --steps 3 --ranks 3 --ranks-as threads | what_counts >"$work/threads"
check "ranks by hand differ from threads" cmp "$work/by_hand" "$work/threads"

# A rank by hand that dies is named by the others, whatever they were at.
port=$(free_port)
# shellcheck disable=SC2086
timeout 60 "$program" $long --rank 2 --rendezvous "127.0.0.1:$port" --join-timeout 20 >"$work/two" 2>&1 &
two=$!
# shellcheck disable=SC2086
"$program" $long --rank 1 --rendezvous "127.0.0.1:$port" --join-timeout 20 >/dev/null 2>&1 &
one=$!
# shellcheck disable=SC2086
timeout 60 "$program" $long --rank 0 --rendezvous "127.0.0.1:$port" --join-timeout 20 >"$work/out" 2>"$work/err" &
zero=$!
sleep 1
kill -KILL $one
{ wait $one; } 2>/dev/null
wait $zero
check "rank 0 ends with $? instead of 4 when rank 1 has died" test $? -eq 4
check "rank 0 does not name rank 1: $(cat "$work/err")" grep -q "rank 1 has gone\|lost rank 1 in" "$work/err"
wait $two
check "rank 2 ends with $? instead of 4 when rank 1 has died" test $? -eq 4

# Somebody who never comes is named; somebody who brings something else is refused.
port=$(free_port)
timeout 60 "$program" run vit_tiny --ranks 4 --steps 3 --rank 2 --rendezvous "127.0.0.1:$port" --join-timeout 20 >"$work/two" 2>&1 &
two=$!
expect 4 "ranks 1, 3 did not join within 3 s" run vit_tiny --ranks 4 --steps 3 --rank 0 --rendezvous "127.0.0.1:$port" --join-timeout 3
wait $two
check "a rank whose rank 0 has gone ends with $?" test $? -eq 4
for other in "--steps 4" "--steps 3 --device reference"; do
  port=$(free_port)
  # shellcheck disable=SC2086
  timeout 60 "$program" run vit_tiny --ranks 2 $other --rank 1 --rendezvous "127.0.0.1:$port" >"$work/one" 2>&1 &
  one=$!
  expect 3 "^shardscope: rank 1 was started with another model" \
    run vit_tiny --ranks 2 --steps 3 --rank 0 --rendezvous "127.0.0.1:$port"
  wait $one
  check "$other beside --steps 3 is not refused" test $? -eq 3
  check "$other beside --steps 3: $(cat "$work/one")" grep -q "started with another model, plan, number of steps, data, device" "$work/one"
done
expect 4 "nobody serves the rendezvous" run vit_tiny --ranks 2 --rank 1 --rendezvous "127.0.0.1:$(free_port)" --join-timeout 1

# A rank's process holds at most 150 MiB beside what is counted: code, libraries, Gloo's and oneDNN's buffers.
"$program" run --ranks 2 --strategy fsdp --steps 12 --log-json "$work/log.jsonl" >/dev/null 2>&1 &
run=$!
resident=0  # KiB, of the largest
while runs $run; do
  for rank in $(children $run); do
    now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$rank/status" 2>/dev/null)
    [ "${now:-0}" -gt $resident ] && resident=$now
  done
  sleep 0.02
done
wait $run
counted=$(sed -n 's/.*"peak_bytes": \([0-9]*\).*/\1/p' "$work/log.jsonl" | sort -n | tail -1)
check "a rank was not seen to hold what is counted: $resident KiB" test $((resident * 1024)) -ge "${counted:-1000000000000}"
check "a rank holds $resident KiB, $counted bytes of them counted" test $((resident * 1024 - ${counted:-0})) -le $((150 << 20))

# Somebody who lets ranks connect and never answers: a rank 0 that was stopped.
port=$(free_port)
timeout 60 "$program" run vit_tiny --ranks 3 --rank 0 --rendezvous "127.0.0.1:$port" --join-timeout 40 >/dev/null 2>&1 &
first=$!
for ((i = 0; i < 500; i++)); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.01; done
zero=$(children $first)
kill -STOP "$zero"
expect 4 "rank 0 did not answer within 2 s" run vit_tiny --ranks 3 --rank 1 --rendezvous "127.0.0.1:$port" --join-timeout 2
kill -KILL "$zero"
wait $first 2>/dev/null

# A port that somebody has: the first of two that want the same.
port=$(free_port)
timeout 60 "$program" run vit_tiny --ranks 2 --rank 0 --rendezvous "127.0.0.1:$port" --join-timeout 8 >/dev/null 2>&1 &
first=$!
for ((i = 0; i < 500; i++)); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.01; done
expect 4 "port $port is in use" run vit_tiny --ranks 2 --steps 1 --rendezvous "127.0.0.1:$port"
kill $first
wait $first 2>/dev/null

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
