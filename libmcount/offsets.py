#!/usr/bin/env python3
"""Writes a header for assembly code, with the offsets of struct members.

The compiler computes the offsets from SOURCE (libmcount/offsets.c).

usage: offsets.py OUTPUT DEPFILE SOURCE COMPILER...
"""
import pathlib
import re
import subprocess
import sys


def main():
    output, depfile, source, *compiler = sys.argv[1:]
    done = subprocess.run([*compiler, "-S", "-MD", "-MF", depfile, "-MT", output, "-o", "-", source],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return done.returncode
    found = re.findall(r'"->(\w+) \$?(\d+)"', done.stdout)
    if not found:
        print(f"offsets.py: {source} has no offsets", file=sys.stderr)
        return 1
    lines = [f"#define {name} {value}\n" for name, value in found]
    pathlib.Path(output).write_text(f"/* Made of {pathlib.Path(source).name} by the compiler. */\n" + "".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
