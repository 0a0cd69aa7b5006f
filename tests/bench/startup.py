#!/usr/bin/python3
"""The time that recording adds to a program that does nothing, against the peer in the same run.

usage: startup.py [RUNS]
"""

import sys

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, heading, in_turns, need_peer, row, scratch


def measure(command):
    def job():
        clean("data")
        return Cost(command).elapsed * 1000

    return job


def main():
    need_peer()
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with scratch():
        exe = compile("empty.c", "empty", METHODS["-pg"])
        heading(f"an empty program, min of {runs}")
        for options in ([], ["--no-libcall", "--no-event"]):
            best = in_turns(
                runs,
                {
                    "bare": measure([exe]),
                    "ours": measure([UTRAIL, "record", *options, "-d", "data", exe]),
                    "peer": measure([PEER, "record", *options, "-d", "data", exe]),
                },
            )
            ours, peer = best["ours"] - best["bare"], best["peer"] - best["bare"]
            row(" ".join(["record", *options]), ours, peer, "ms", 0.60)
        print(f"{'the program alone':34} {best['bare']:10.3f} {best['bare']:10.3f} ms")


if __name__ == "__main__":
    main()
