#!/usr/bin/python3
"""What one traced call costs over the bare loop, against the peer in the same run.

usage: calls.py [CALLS [RUNS]]
"""

import subprocess
import sys

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, heading, in_turns, need_peer, row, scratch

# method: target plain, target with -t
TARGETS = {"-pg": (0.40, 0.45), "-mfentry": (0.40, 0.45), "-finstrument-functions": (0.45, 0.45)}


def measure(command):
    def job():
        out = Cost(command, stdout=subprocess.PIPE).out
        clean("data")
        return float(out.split()[-1])

    return job


def main():
    need_peer()
    calls = sys.argv[1] if len(sys.argv) > 1 else "300000"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with scratch():
        bare = compile("loop.c", "bare")
        floor = float(Cost([compile("counter.c", "counter")], stdout=subprocess.PIPE).out)
        heading(f"{calls} calls of a leaf, min of {runs}")
        results = {}
        for method, flags in METHODS.items():
            exe = compile("loop.c", f"loop{method}", flags)
            for at, options in enumerate(([], ["-t", "1ms"])):
                best = in_turns(
                    runs,
                    {
                        "bare": measure([bare, calls]),
                        "ours": measure([UTRAIL, "record", *options, "-d", "data", exe, calls]),
                        "peer": measure(
                            [PEER, "record", "--no-libcall", "--no-event", *options, "-d", "data", exe, calls]
                        ),
                    },
                )
                ours, peer = best["ours"] - best["bare"], best["peer"] - best["bare"]
                row(" ".join([method, *options]), ours, peer, "ns", TARGETS[method][at])
                results[method, at] = ours
        print(f"{'two reads of the counter (floor)':34} {floor:10.3f}")
        for method in METHODS:
            print(f"{method:34} {results[method, 0] / floor:10.2f} times the floor")


if __name__ == "__main__":
    main()
