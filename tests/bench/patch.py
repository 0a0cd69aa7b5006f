#!/usr/bin/python3
"""Functions of shipped programs: the number that can be patched, the reasons why the others cannot,
and the time that finding out takes.

usage: patch.py [FILE...]
"""

import os
import subprocess
import sys
from pathlib import Path

from benchlib import scratch

PLAN = Path(os.environ["UTRAIL_BUILD"]) / "tests/bench/plan_functions"
SAMPLE = Path(__file__).resolve().parent.parent / "e2e/src/cplusplus.cc"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
FILES = [
    "/usr/bin/git", "/usr/bin/python3.11", "/usr/bin/sqlite3", "/usr/bin/redis-server", "/usr/sbin/nginx",
    "/usr/sbin/lighttpd", LIBRARIES / "libsqlite3.so.0", LIBRARIES / "libstdc++.so.6", LIBRARIES / "libcrypto.so.3",
    LIBRARIES / "libc.so.6", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
]


def build_sample():
    subprocess.run(["g++", "-O2", "-w", "-I", SAMPLE.parent, SAMPLE, "-o", "cplusplus"], check=True)
    return "./cplusplus"


def main():
    with scratch():
        files = sys.argv[1:] or [build_sample(), *FILES]
        print(f"{'file':34} {'functions':>9} {'patched':>9} {'':8} {'ms':>8} {'ms of 30,000':>13}")
        for file in map(str, files):
            if not os.path.exists(file):
                print(f"{file:34} is not installed")
                continue
            lines = subprocess.run([PLAN, file], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
            _, functions, patched, seconds = lines[0].split("\t")
            functions, patched, ms = int(functions), int(patched), float(seconds) * 1000
            print(f"{file:34} {functions:9} {patched:9} {100 * patched / functions:7.2f}% {ms:8.1f}"
                  f" {ms / functions * 30000:13.0f}")
            for line in lines[1:]:
                _, count, reason = line.split("\t")
                print(f"    {count:>9}  {reason}")


if __name__ == "__main__":
    main()
