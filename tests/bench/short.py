#!/usr/bin/python3
"""The cost that recording adds to short programs: a starter runs /bin/true, or an empty program
with -pg, thousands of times.

usage: short.py [RUNS [PROCESSES]]

The CPU time of all processes and the recorder is given as a multiple of the bare run beside it
(median of the pairs), and as the difference in microseconds for each process.
"""

import statistics
import sys

from benchlib import METHODS, UTRAIL, Cost, clean, compile, scratch
from proc_ways import lacking


def ways_of(starter, prepared, program, shipped):
    """Each way to run the programs, with the bare run that it is compared with."""
    record = [UTRAIL, "record", "-d", "data"]
    run = [starter, *shipped]
    ways = {
        "record --proc=ptrace": (run, [*record, "--proc=ptrace", *run]),
        "record --proc=bpf": (run, [*record, "--proc=bpf", *run]),
        "record --proc=bpf --no-libcall --no-event": (run, [*record, "--proc=bpf", "--no-libcall", "--no-event", *run]),
        "record, children not prepared": ([prepared, *shipped], [*record, prepared, *shipped]),
        "record, children with -pg": ([prepared, *program], [*record, prepared, *program]),
        "build": (run, [UTRAIL, "build", "--as=deps", "-o", "/dev/null", "-d", "data", *run]),
    }
    if why := lacking("bpf"):
        print(why)
        ways = {name: way for name, way in ways.items() if "bpf" not in name}
    return ways


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    nr = sys.argv[2] if len(sys.argv) > 2 else "1000"
    with scratch():
        starter = compile("starter.c", "starter", [])
        prepared = compile("starter.c", "prepared", METHODS["-pg"])
        empty = compile("empty.c", "empty", METHODS["-pg"])
        ways = ways_of(starter, prepared, [nr, empty], [nr, "/bin/true"])
        pairs = {name: [] for name in ways}
        for _ in range(runs):
            for name, (bare, recorded) in ways.items():
                clean("data")
                pairs[name].append((Cost(bare), Cost(recorded)))
    print(f"\n{nr} processes, median of {runs}: times of the bare run, and microseconds more for each process")
    print(f"{'':42} {'cpu':>6} {'wall':>6} {'cpu us':>8} {'wall us':>8}")
    for name, costs in pairs.items():
        cells = [statistics.median(getattr(more, what) / getattr(bare, what) for bare, more in costs) for what in ("cpu", "elapsed")]
        cells += [statistics.median(getattr(more, what) - getattr(bare, what) for bare, more in costs) * 1e6 / int(nr) for what in ("cpu", "elapsed")]
        print(f"{name:42} {cells[0]:6.2f} {cells[1]:6.2f} {cells[2]:8.0f} {cells[3]:8.0f}")


if __name__ == "__main__":
    main()
