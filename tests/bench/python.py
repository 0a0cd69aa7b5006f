#!/usr/bin/python3
"""The cost of a call of a Python program, compared with cProfile and with the least work of a
recorder by sys.setprofile() in C, as VizTracer does it.

The time of the untraced calls is subtracted. A first round is not timed: recorders get their memory
in it. The aim is half of the cheaper one of cProfile and sys.setprofile(). `nothing` is the time
that the interpreter itself takes to tell of a call. It is measured with an empty tool of
sys.monitoring, or before Python 3.12 with an empty profile function. `least` reads the counter and
writes 24 bytes at each event: no recorder can do with less.

usage: python.py [PYTHON]
"""

import os
import subprocess
import sys
from pathlib import Path

from benchlib import scratch, skip

UTRAIL = Path(os.environ["UTRAIL_BUILD"]) / "utrail"
SOURCE = Path(__file__).resolve().parent / "src/python_profile.c"
CALLS = 300_000
RUNS = 7

SHAPES = {
    "Python functions": ("def f(n): return n\ndef work(n):\n    for i in range(n): f(i)\n", 1),
    "a chain of four": ("def a(n): return n\ndef b(n): return a(n)\ndef c(n): return b(n)\ndef d(n): return c(n)\ndef work(n):\n    for i in range(n // 4): d(i)\n", 1),
    "functions in C": ("def work(n):\n    for i in range(n): len('')\n", 1),
    "methods and sorting": ("class K:\n    def __init__(self, n): self.n = n\n    def key(self): return self.n\ndef work(n):\n    for i in range(n // 100):\n        sorted([K(j) for j in range(33)], key=K.key)[0].key()\n", 1),
}

WAYS = {
    "bare": ("", "work(n)"),
    "cProfile": ("import cProfile\np = cProfile.Profile()\n", "p.runcall(work, n)"),
    "setprofile": ("import python_profile\n", "python_profile.start(); work(n); python_profile.stop()"),
    "nothing": ("import python_profile\npython_profile.start_nothing()\n", "work(n)"),
    "least": ("import python_profile\npython_profile.start_least()\n", "work(n)"),
    "utrail": ("", "work(n)"),
    "no libcalls": ("", "work(n)"),
}
PYTHON = sys.argv[1] if len(sys.argv) > 1 else sys.executable


def script(shape, way):
    before, call = WAYS[way]
    return f"import time\n{SHAPES[shape][0]}{before}n = {CALLS}\n{call}\nt = time.process_time_ns()\n{call}\nprint((time.process_time_ns() - t) / n)\n"


def measured(path, way):
    command = [PYTHON, path]
    if way == "utrail":
        command = [UTRAIL, "record", *command]
    elif way == "no libcalls":
        command = [UTRAIL, "record", "--no-libcall", *command]
    return float(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def main():
    asked = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"], check=True, text=True, stdout=subprocess.PIPE)
    include = Path(asked.stdout.strip())
    if not (include / "Python.h").exists():
        skip("needs python3-dev")
    with scratch():
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-I{include}", SOURCE, "-o", "python_profile.so"], check=True)
        print("ns of CPU time more for a call")
        print(f"{'':24}{'bare':>8}{'cProfile':>10}{'setprofile':>12}{'nothing':>9}{'least':>7}{'utrail':>8}{'of the cheapest':>17}{'no libcalls':>13}")
        for shape in SHAPES:
            for way in WAYS:
                Path(f"way_{way}.py").write_text(script(shape, way))
            best = dict.fromkeys(WAYS, float("inf"))
            for _ in range(RUNS):
                for way in WAYS:
                    best[way] = min(best[way], measured(f"way_{way}.py", way))
            more = {way: best[way] - best["bare"] for way in WAYS}
            print(f"{shape:24}{best['bare']:8.0f}{more['cProfile']:10.0f}{more['setprofile']:12.0f}{more['nothing']:9.0f}{more['least']:7.0f}{more['utrail']:8.0f}"
                  f"{more['utrail'] / min(more['cProfile'], more['setprofile']):17.2f}{more['no libcalls']:13.0f}")


if __name__ == "__main__":
    main()
