#!/usr/bin/env python3
"""What real FSDP on two ranks of this machine leaves exposed, and what tracing it costs; needs two free cores.

    python3 bench/fsdp_costs.py build/release/bin/shardscope [--runs 5]

1. The default model runs without a link, which gives the compute of a step; then over an artificial link on which a
   step's transfers take half of that (--link-bandwidth: three times the ring bytes of all parameters, two gathers and a
   reduction, over what half of the compute leaves them beside their own cost). Printed: the share of the step in which a transfer is not hidden. Target: <= 15 %.
2. Runs with and without -o, in turns. Printed: by how much the median step is longer with it. Target: <= 3 %.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

RANKS = 2
WARM = 2  # steps of a run that are left out


def run(program, steps, *more):
    command = [program, "run", "--ranks", str(RANKS), "--strategy", "fsdp", "--steps", str(steps), "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def slowest(report, what):
    """Of the last step's figure, that of the rank that has most of it."""
    return max(rank[what] for rank in report["ranks"])


def transfer_ns(trace):
    """Time that the gathers and reductions of rank 0's last step move bytes, all in all."""
    events = json.loads(pathlib.Path(trace).read_text())["traceEvents"]
    return sum((event["dur"] - event["args"].get("waiting (us)", 0)) * 1e3 for event in events
               if event.get("ph") == "X" and event.get("pid") == 0
               and event.get("args", {}).get("activity") in ("all-gather", "reduce-scatter"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=5, help="runs of each kind; their median counts")
    parser.add_argument("--steps", type=int, default=12)
    arguments = parser.parse_args()
    program, steps = arguments.program, arguments.steps

    plain = [run(program, steps) for _ in range(arguments.runs)]
    compute = statistics.median(slowest(report, "compute_ns") for report in plain) * 1e-9
    whole = sum(rank["peak_by_category"]["sharded parameters"] for rank in plain[0]["ranks"])
    wire = 3 * whole * (RANKS - 1) / RANKS
    half = compute / 2
    bandwidth = wire / half / 1e9
    exposed, moved = [], []
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "run.json")

        def over_link():
            report = run(program, steps, "--link-bandwidth", f"{bandwidth:.4f}", "-o", trace)
            exposed.append(slowest(report, "exposed_transfer_ns") / max(r["step_ns"] for r in report["ranks"]))
            moved.append(transfer_ns(trace) * 1e-9)

        for _ in range(arguments.runs):
            over_link()
        # What transfers cost beside the link (processor time, threads that wake) comes off its share.
        beside = statistics.median(moved) - half
        if 0 < beside < half:
            bandwidth = wire / (half - beside) / 1e9
            exposed.clear(), moved.clear()
            for _ in range(arguments.runs):
                over_link()
        print(f"compute of a step {compute * 1e3:.1f} ms; over {bandwidth:.4f} GB/s its transfers take "
              f"{statistics.median(moved) * 1e3:.1f} ms")
        print(f"  exposed {statistics.median(exposed) * 100:.1f} % of the step (target <= 15 %; of each run: "
              f"{', '.join(f'{share * 100:.1f}' for share in sorted(exposed))})")
        steps_of = {True: [], False: []}
        for turn in range(2 * arguments.runs):
            traced = turn % 2 == 1
            steps_of[traced] += run(program, steps, *(["-o", trace] if traced else []))["step_ns"][WARM:]
    without, with_it = statistics.median(steps_of[False]), statistics.median(steps_of[True])
    print(f"median step {without / 1e6:.2f} ms, with -o {with_it / 1e6:.2f} ms: {(with_it / without - 1) * 100:+.1f} % "
          "(target <= 3 %)")


if __name__ == "__main__":
    main()
