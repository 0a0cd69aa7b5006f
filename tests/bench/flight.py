#!/usr/bin/python3
"""The cost of a call with the flight recorder, compared with plain recording; and a check that a
long run stays within its size.

usage: flight.py [CALLS [LONG-CALLS]]
"""

import sys
from pathlib import Path

from benchlib import UTRAIL, Cost, clean, compile, in_turns, loop_ns, scratch

RECORD_BYTES = 32  # a call's ENTRY and EXIT


def main():
    calls = sys.argv[1] if len(sys.argv) > 1 else "3000000"
    long_calls = sys.argv[2] if len(sys.argv) > 2 else "100000000"
    with scratch():
        bare = compile("loop.c", "bare")
        exe = compile("loop.c", "loop", ["-pg"])
        record = [UTRAIL, "record", "--no-libcall", "-d", "data"]
        best = in_turns(
            10,
            {
                "bare": loop_ns([bare, calls]),
                "plain": loop_ns([*record, exe, calls]),
                "flight": loop_ns([*record, "--flight=1m", exe, calls]),
            },
        )
        flight, plain = best["flight"] - best["bare"], best["plain"] - best["bare"]
        print(f"\n{'a call, --flight=1m to plain':34} {flight:10.3f} {plain:10.3f} ns   ratio {flight / plain:5.3f}"
              f"  target 1.00 {'ok' if flight <= plain else 'MISSED'}", flush=True)

        Cost([*record, "--flight=16m", exe, long_calls])
        size = sum(p.stat().st_size for p in Path("data").glob("*.dat"))
        would = int(long_calls) * RECORD_BYTES
        print(f"{'a run of ' + long_calls + ' calls':34} {size / 1e6:10.1f} MB instead of {would / 1e6:.0f} MB  "
              f"target 16 MB for its task {'ok' if size <= 17 << 20 else 'MISSED'}")


if __name__ == "__main__":
    main()
