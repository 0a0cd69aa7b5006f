#!/usr/bin/python3
"""What one traced call costs over the bare loop, against the peer in the same run.

usage: calls.py [CALLS [RUNS]]
"""

import sys

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, heading, in_turns, loop_ns, need_peer, row, scratch

# method: target plain, target with -t
TARGETS = {"-pg": (0.40, 0.45), "-mfentry": (0.40, 0.45), "-finstrument-functions": (0.45, 0.45)}


def main():
    need_peer()
    calls = sys.argv[1] if len(sys.argv) > 1 else "2000000"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with scratch():
        bare = compile("loop.c", "bare")
        counter = compile("counter.c", "counter")
        floor = in_turns(5, {"floor": loop_ns([counter])})["floor"]
        heading(f"{calls} calls of a leaf, min of {runs}")
        results = {}
        for method, flags in METHODS.items():
            exe = compile("loop.c", f"loop{method}", flags)
            for at, options in enumerate(([], ["-t", "1ms"])):
                best = in_turns(
                    runs,
                    {
                        "bare": loop_ns([bare, calls]),
                        "ours": loop_ns([UTRAIL, "record", *options, "-d", "data", exe, calls]),
                        "peer": loop_ns(
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
