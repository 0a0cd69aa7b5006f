#!/usr/bin/python3
"""Reading a recording of more than ten million records: user and system time, against the peer in the same run.

usage: read.py [CALLS [RUNS]]
"""

import sys

from benchlib import METHODS, PEER, UTRAIL, Cost, compile, factor, heading, in_turns, need_peer, scratch


def measure(command):
    return lambda: Cost(command).cpu


def main():
    need_peer()
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 5_200_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with scratch():
        exe = compile("tree.c", "tree", METHODS["-pg"])
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 1, calls])
        heading(f"{2 * calls / 1e6:.1f} M records, min of {runs}")
        for command, target in (("report", 6), ("replay", 7)):
            best = in_turns(
                runs,
                {
                    "ours": measure([UTRAIL, command, "-d", "data"]),
                    "peer": measure([PEER, command, "-d", "data"]),
                },
            )
            factor(command, best["ours"], best["peer"], "s", target)


if __name__ == "__main__":
    main()
