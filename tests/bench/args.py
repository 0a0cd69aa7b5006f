#!/usr/bin/python3
"""The cost of a call whose arguments and return value are recorded: the time over the bare loop,
compared with the peer's in the same run.

usage: args.py [CALLS [RUNS]]
"""

import sys

from benchlib import PEER, UTRAIL, Cost, clean, compile, heading, in_turns, loop_ns, need_peer, row, scratch

# By name: the options to record, and the arguments of the loop. The target of all is 0.5 of the
# peer's cost.
CASES = {
    "-A number@arg1": (["-A", "number@arg1"], []),
    "-A number@arg1 -t 1ms": (["-A", "number@arg1", "-t", "1ms"], []),
    "-A -R number": (["-A", "number@arg1", "-R", "number@retval"], []),
    "-a, an int": (["-a"], []),
    "-A text@arg1/s": (["-A", "text@arg1/s"], ["text"]),
    "-a, strings": (["-a"], ["text"]),
}
TARGET = 0.5


def main():
    need_peer()
    calls = sys.argv[1] if len(sys.argv) > 1 else "200000"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with scratch():
        bare = compile("args.c", "bare")
        exe = compile("args.c", "args", ["-pg", "-g"])
        heading(f"{calls} calls, min of {runs}")
        for name, (options, words) in CASES.items():
            best = in_turns(
                runs,
                {
                    "bare": loop_ns([bare, calls, *words]),
                    "ours": loop_ns([UTRAIL, "record", *options, "-d", "data", exe, calls, *words]),
                    "peer": loop_ns(
                        [PEER, "record", "--no-libcall", "--no-event", *options, "-d", "data", exe, calls, *words]
                    ),
                },
            )
            row(name, best["ours"] - best["bare"], best["peer"] - best["bare"], "ns", TARGET)


if __name__ == "__main__":
    main()
