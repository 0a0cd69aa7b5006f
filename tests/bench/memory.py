#!/usr/bin/python3
"""The peak of the memory for reading a recording of one gigabyte.

usage: memory.py [MEGABYTES]
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from benchlib import METHODS, UTRAIL, Cost, compile, scratch
from tools import environment


def peak_mb(command):
    """The peak of the process' memory, read while it runs: the peak of wait4(2) includes the Python
    that it was forked from."""
    peak_kb = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment()) as proc:
        while proc.poll() is None:
            status = Path(f"/proc/{proc.pid}/status").read_text()
            if (found := re.search(r"VmHWM:\s+(\d+)", status)) and "python" not in status:
                peak_kb = max(peak_kb, int(found[1]))
            time.sleep(0.01)
    return peak_kb / 1024


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with scratch():
        exe = compile("tree.c", "tree", METHODS["-pg"])
        calls = megabytes * (1 << 20) // 32
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "data", exe, 4, calls])
        print(f"\npeak memory while reading {megabytes} MB")
        for command in ("report", "replay", "dump"):
            rss = peak_mb([UTRAIL, command, "-d", "data"])
            print(f"{command:34} {rss:10.1f} MB  target 64 {'ok' if rss < 64 else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
