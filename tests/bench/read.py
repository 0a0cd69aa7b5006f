#!/usr/bin/python3
"""Reading a recording of more than ten million records: user and system time, and elapsed time with several threads,
against the peer in the same run.

usage: read.py [CALLS [RUNS]]
"""

import os
import sys

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, factor, heading, in_turns, need_peer, scratch


COMMANDS = [
    # what, our words, the peer's, target
    ("report", ["report"], ["report"], 6),
    ("replay", ["replay"], ["replay"], 7),
    ("graph", ["graph"], ["graph"], 6),
    ("dump chrome", ["dump", "--format=chrome"], ["dump", "--chrome"], 6),
    ("dump flame-graph", ["dump", "--format=flame-graph"], ["dump", "--flame-graph"], 6),
]


def compare(runs, what, ours, theirs, target, number):
    best = in_turns(
        runs,
        {
            "ours": lambda: number(Cost([UTRAIL, *ours, "-d", "data"])),
            "peer": lambda: number(Cost([PEER, *theirs, "-d", "data"])),
        },
    )
    factor(what, best["ours"], best["peer"], "s", target)


def compare_elapsed(runs, of_what):
    heading(f"of {of_what}, elapsed, {os.cpu_count()} CPUs")
    for what in ("report", "graph"):
        compare(runs, what, [what], [what], 10, lambda cost: cost.elapsed)


def main():
    need_peer()
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 5_200_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with scratch():
        exe = compile("tree.c", "tree", METHODS["-pg"])
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 1, calls])
        heading(f"{2 * calls / 1e6:.1f} M records, min of {runs}")
        for what, ours, theirs, target in COMMANDS:
            compare(runs, what, ours, theirs, target, lambda cost: cost.cpu)
        compare_elapsed(runs, "a single task")
        clean("data")
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 4, calls])
        compare_elapsed(runs, "4 tasks")


if __name__ == "__main__":
    main()
