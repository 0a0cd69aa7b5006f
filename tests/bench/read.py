#!/usr/bin/python3
"""Reading a recording of more than ten million records: user and system time, and elapsed time with
several threads, compared with the peer in the same run. And of utrail alone: records per second, a
thousandth of the recording against all of it, SQLite's form against Chrome's.

usage: read.py [CALLS [RUNS]]
"""

import os
import struct
import sys
from pathlib import Path

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, factor, heading, in_turns, need_peer, row, scratch


# The recording for seeking has this many times the calls of the other recordings.
SEEK_TIMES = 6

COMMANDS = [
    # the row's name, utrail's command, the peer's command, how many times faster utrail should be
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


def rates(runs, records):
    """Print the millions of records that are read per second and core."""
    print(f"\n{'M records a second and core':34} {'ours':>10}")
    for what, target in (("report", 100), ("replay", 40)):
        command = [UTRAIL, what, "-d", "data", *(["--num-thread=1"] if what == "report" else [])]
        rate = records / 1e6 / in_turns(runs, {"ours": lambda: Cost(command).cpu})["ours"]
        print(f"{what:34} {rate:10.1f} target {target} {'ok' if rate >= target else 'MISSED'}", flush=True)


def compare_parts(runs, form, times):
    """Compare reading a thousandth with reading all: one near the end (-r), and the last one
    (--last)."""
    start, stop, since, last = times
    print(f"\n{f'a thousandth, {form}':34} {'part':>10} {'all':>10}")
    for view in ("replay", "report", "graph"):
        whole = [UTRAIL, view, "-d", form]
        best = in_turns(
            runs,
            {
                "all": lambda: Cost(whole).cpu,
                "-r": lambda: Cost([*whole, "-r", f"{clock(start)}~{clock(stop)}"]).cpu,
                "--last": lambda: Cost([*whole, "--last", f"{last - since}ns"]).cpu,
            },
        )
        for part in ("-r", "--last"):
            row(f"{view} {part}", best[part], best["all"], "s", 0.02)


def clock(ns):
    return f"{ns // 1000000000}.{ns % 1000000000:09}"


def times_of(directory, *places):
    """The times of the records at @places of the longest file: 0 is its first record, 1 its last
    one."""
    path = max(Path(directory).glob("[0-9]*.dat"), key=lambda path: path.stat().st_size)
    records = path.stat().st_size // 16
    with open(path, "rb") as file:
        for place in places:
            file.seek(16 * int(place * (records - 1)))
            yield struct.unpack("Q", file.read(8))[0]


def compare_seeking(runs, exe, calls):
    """Compare reading parts of a recording that is so long that a program's start does not
    count."""
    Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "plain", exe, 1, SEEK_TIMES * calls])
    Cost([UTRAIL, "convert", "--compact", "-d", "plain", "compact"])
    times = list(times_of("plain", 0.99, 0.991, 0.999, 1))
    for form in ("plain", "compact"):
        compare_parts(runs, form, times)
    clean("plain", "compact")


def compare_own(runs, records):
    rates(runs, records)
    best = in_turns(
        runs, {name: lambda name=name: Cost([UTRAIL, "dump", f"--format={name}", "-d", "data"]).cpu for name in ("sqlite", "chrome")}
    )
    print(f"\n{'against chrome':34} {'sqlite':>10} {'chrome':>10}")
    row("dump", best["sqlite"], best["chrome"], "s", 1)


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
        compare_own(runs, 2 * calls)
        compare_seeking(runs, exe, calls)
        compare_elapsed(runs, "a single task")
        clean("data")
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 4, calls])
        compare_elapsed(runs, "4 tasks")


if __name__ == "__main__":
    main()
