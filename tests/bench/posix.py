#!/usr/bin/env python3
"""POSIX Trace (libutrail-trace): an event without a stream against an empty call, and with 16 bytes into a stream that runs, alone and with a
second writer, beside what reading the clock takes."""

import os
import subprocess
from pathlib import Path

from benchlib import compile, environment, scratch

TOP = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("UTRAIL_BUILD", TOP / "build")) / "libmcount/trace/libutrail-trace.a"


def main():
    with scratch():
        exe = compile("posix.c", "posix", [f"-I{TOP / 'libmcount/posix/include'}"], [LIBRARY])
        env = {**environment(), "UTRAIL_TRACE_DIR": os.getcwd()}
        out = subprocess.run([exe], check=True, text=True, env=env, stdout=subprocess.PIPE).stdout
        ns = {name: float(value) for name, value in (line.split() for line in out.splitlines())}
        print(f"{'no stream':32} {ns['none']:9.2f} ns   empty call      {ns['empty']:9.2f} ns   more  {ns['none'] - ns['empty']:6.2f} ns   target <= 1.5")
        print(f"{'stream that is suspended':32} {ns['suspended']:9.2f} ns")
        print(f"{'16 bytes, there is room':32} {ns['room']:9.2f} ns   the clock alone {ns['clock']:9.2f} ns   target <= 60")
        print(f"{'16 bytes, over the oldest event':32} {ns['running']:9.2f} ns   the clock alone {ns['clock']:9.2f} ns")
        print(f"{'16 bytes, two writers':32} {ns['two']:9.2f} ns   one writer      {ns['running']:9.2f} ns   ratio {ns['two'] / ns['running']:6.2f}   target <= 3")


if __name__ == "__main__":
    main()
