#!/usr/bin/python3
"""The instructions of a call and its return, by options and by the way the program was compiled.
They are counted one by one, so a busy machine gives the same numbers. With another build directory,
the ratio to its numbers is printed, too. The time of a call is measured by calls.py.

usage: instructions.py [BUILD]
"""

import platform
import subprocess
import sys
from pathlib import Path

from benchlib import METHODS, SKIP, UTRAIL, clean, compile, environment, scratch

OPTIONS = [
    [],
    ["--flight=1m"],
    # The calls are stepped through, so they are slow: -t 1us keeps all of them, and -t 10s none.
    ["-t", "1us"],
    ["-t", "10s"],
    ["--trace=off"],
    ["-D", "2"],
    ["-D", "2", "-F", "main"],
    ["-D", "2", "-F", "chain"],
    ["-D", "3", "-F", "chain"],
    ["-F", "main"],
    ["-F", "other"],
    ["-F", "leaf"],
    # leaf() is called while chain() is open.
    ["-F", "chain;leaf"],
    ["-N", "other"],
    ["-N", "leaf"],
    # Rules that the stubs cannot do alone.
    ["-T", "leaf@depth=3"],
    ["-T", "leaf@time=1s"],
    ["-C", "other"],
    ["-A", "leaf@arg1"],
    ["-A", "leaf@arg1", "-R", "leaf@retval"],
    ["-A", ".@arg1", "-R", ".@retval"],
]


def count(tool, options, exe):
    """The instructions of a call of a leaf, and of a chain of four calls."""
    command = [tool, "record", "--no-event", "--no-libcall", *options, "-d", "data", exe]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    clean("data")
    words = next((line.split() for line in done.stdout.splitlines() if line.startswith("leaf ")), None)
    if not words:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return int(words[1]), int(words[3])


def column(ours, other):
    return f"{ours:6}" if other is None else f"{ours:6} {other:6} {ours / other:6.3f}"


def table(method, exe, build):
    print(f"\n{f'{method}: instructions':40} {'leaf':>6}{' ' * 14 * bool(build)} {'chain':>6}")
    for options in OPTIONS:
        ours = count(UTRAIL, options, exe)
        other = count(build / "utrail", options, exe) if build else (None, None)
        pairs = " ".join(column(*pair) for pair in zip(ours, other))
        print(f"  {' '.join(options) or 'no options':38} {pairs}", flush=True)


def main():
    if platform.machine() != "x86_64":
        print("skipped: the counter is for x86_64")
        sys.exit(SKIP)
    build = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    if build and not (build / "utrail").exists():
        sys.exit(f"{build} has no utrail")
    with scratch():
        for method, flags in METHODS.items():
            table(method, compile("step.c", f"step{method}", flags), build)


if __name__ == "__main__":
    main()
