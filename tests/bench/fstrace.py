#!/usr/bin/env python3
"""The cost of declared events (libutrail-trace), in three comparisons:

- a disabled event, compared with a load and a branch
- a line of a log, compared with a formatter, a lock and five system calls
- an event that is recorded in binary, compared with a recorded call
"""

import os
import subprocess
from pathlib import Path
from statistics import mean

from benchlib import METHODS, UTRAIL, compile, environment, scratch

TOP = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("UTRAIL_BUILD", TOP / "build")) / "trace/library/libutrail-trace.a"


def measure(*command):
    """The numbers in the output of a program: each line has a name and nanoseconds."""
    out = subprocess.run(command, check=True, text=True, env=environment(), stdout=subprocess.PIPE).stdout
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


def main():
    with scratch():
        headers = f"-I{TOP / 'trace/include'}"
        places = [measure(compile("fstrace.c", f"fstrace{skip}", [headers, f"-DSKIP={skip}", "-falign-loops=1", "-falign-jumps=1"], [LIBRARY]))
                  for skip in range(0, 64, 8)]
        ns = {name: mean(place[name] for place in places) for name in places[0]}
        print(f"{'disabled event':32} {ns['disabled']:9.2f} ns   load and branch {ns['branch']:9.2f} ns   ratio {ns['disabled'] / ns['branch']:5.2f}   target <= 1.5")
        print(f"{'line of a log':32} {ns['text']:9.0f} ns   naive           {ns['naive']:9.0f} ns   times cheaper {ns['naive'] / ns['text']:5.2f}   target >= 3")
        for method in ("-pg", "-mfentry"):
            exe = compile("fstrace_recorded.c", "recorded", [headers, *METHODS[method]], [LIBRARY])
            ns = measure(UTRAIL, "record", "-b", "8m", "--no-libcall", "--no-sched", "--trace-include", ".", "-d", "data", exe)
            print(f"{'recorded event, ' + method:32} {ns['event']:9.2f} ns   recorded call   {ns['call']:9.2f} ns   ratio {ns['event'] / ns['call']:5.2f}   target <= 2")


if __name__ == "__main__":
    main()
