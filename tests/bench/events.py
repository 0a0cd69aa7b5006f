#!/usr/bin/python3
"""The cost of one event of the program (-E): the time above that of the bare loop. It is compared
with the peer's cost in the same run. The peer records no arguments.

usage: events.py [EVENTS [RUNS]]
"""

import sys

from benchlib import PEER, UTRAIL, compile, heading, in_turns, loop_ns, need_peer, row, scratch

CASES = {
    "an event": ("bench:round", []),
    "an event with its argument": ("bench:value", ["value"]),
    "a call with an event": ("bench:call", ["call"]),
}
TARGET = 0.1


def main():
    need_peer()
    events = sys.argv[1] if len(sys.argv) > 1 else "200000"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with scratch():
        bare = compile("events.c", "bare")
        exe = compile("events.c", "events", ["-pg"])
        heading(f"{events} events, min of {runs}")
        for name, (event, words) in CASES.items():
            best = in_turns(
                runs,
                {
                    "bare": loop_ns([bare, events, *words]),
                    "off": loop_ns([UTRAIL, "record", "--no-event", "--trace=off", "-E", event, "-d", "data", exe, events, *words]),
                    "ours": loop_ns([UTRAIL, "record", "--no-event", "-b", "4m", "-E", event, "-d", "data", exe, events, *words]),
                    "peer": loop_ns([PEER, "record", "--no-libcall", "--no-sched", "-E", event, "-d", "data", exe, events, *words]),
                },
            )
            row(name, best["ours"] - best["bare"], best["peer"] - best["bare"], "ns", TARGET)
            print(f"{'  while tracing is off':34} {best['off'] - best['bare']:10.3f}            ns")


if __name__ == "__main__":
    main()
