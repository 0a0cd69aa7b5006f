#!/usr/bin/python3
"""The most memory that reading a recording of one gigabyte takes.

usage: memory.py [MEGABYTES]
"""

import sys

from benchlib import METHODS, UTRAIL, Cost, compile, scratch


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with scratch():
        exe = compile("tree.c", "tree", METHODS["-pg"])
        calls = megabytes * (1 << 20) // 32
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 4, calls])
        print(f"\npeak memory while reading {megabytes} MB")
        for command in ("report", "replay", "dump"):
            rss = Cost([UTRAIL, command, "-d", "data"]).maxrss_kb / 1024
            print(f"{command:34} {rss:10.1f} MB  target 64 {'ok' if rss < 64 else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
