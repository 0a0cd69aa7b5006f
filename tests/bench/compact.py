#!/usr/bin/python3
"""The compact form against the plain one: bytes per call, CPU time of recording and of reading, and
of conversion there and back.

usage: compact.py [RUNS [PROGRAM ARGUMENT...]]: PROGRAM is measured, too
"""

import subprocess
import sys
from pathlib import Path

from benchlib import SOURCES, UTRAIL, Cost, clean, compile, in_turns, row, scratch

RECORD_BYTES = 16


def size(path, suffix):
    return sum(p.stat().st_size for p in Path(path).glob("[0-9]*" + suffix))


def measure(name, command, runs):
    record = [UTRAIL, "record", "--no-event"]

    def recording(*options):
        def job():
            clean("data")
            return Cost([*record, *options, "-d", "data", *command]).cpu

        return job

    def reading(path, *words):
        return lambda: Cost([*words[:1], *words[1:], "--no-pager", "-d", path]).cpu

    Cost([*record, "--compact", "-d", "compact", *command])
    Cost([UTRAIL, "convert", "-d", "compact", "plain"])
    calls = size("plain", ".dat") / RECORD_BYTES / 2
    print(f"\n{name}: {calls:.0f} calls, {size('compact', '.cdat') / calls:.2f} bytes each  target 4.00 "
          f"{'ok' if size('compact', '.cdat') <= 4 * calls else 'MISSED'}")
    best = in_turns(runs, {"plain": recording(), "compact": recording("--compact")})
    row("record: CPU, compact to plain", best["compact"], best["plain"], "s", 1.0)
    for words in (["report"], ["report", "--num-thread=1"], ["replay"]):
        best = in_turns(runs, {path: reading(path, UTRAIL, *words) for path in ("plain", "compact")})
        row(" ".join(words) + ": CPU", best["compact"], best["plain"], "s", 1.0)
    Cost([UTRAIL, "convert", "--compact", "-d", "plain", "packed"])
    Cost([UTRAIL, "convert", "-d", "packed", "back"])
    is_same = subprocess.run(["diff", "-r", "plain", "back"], check=False).returncode == 0
    print(f"{'there and back':34} {'ok: the same' if is_same else 'MISSED: it differs'}", flush=True)
    clean("plain", "compact", "packed", "back", "data")


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with scratch():
        subprocess.run(["g++", "-O1", "-pg", SOURCES / "templates.cc", "-o", "templates"], check=True)
        measure("a loop", [compile("loop.c", "loop", ["-pg"]), "1000000"], runs)
        measure("a tree", [compile("tree.c", "tree", ["-pg"]), "1", "2000000"], runs)
        measure("templates", [Path("templates").resolve(), "50"], runs)
        if sys.argv[2:]:
            measure(sys.argv[2], sys.argv[2:], runs)


if __name__ == "__main__":
    main()
