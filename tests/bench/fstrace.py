#!/usr/bin/env python3
"""Declared events (libutrail-trace): disabled against a load and a branch, a line of a log against a formatter with a lock and five system calls."""

import os
import subprocess
from pathlib import Path

from benchlib import compile, scratch

TOP = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("UTRAIL_BUILD", TOP / "build")) / "libmcount/trace/libutrail-trace.a"


def main():
    with scratch():
        trace = compile("fstrace.c", "fstrace", [f"-I{TOP / 'libmcount/trace'}"], [LIBRARY])
        out = subprocess.run([trace], check=True, text=True, stdout=subprocess.PIPE).stdout
    ns = {name: float(value) for name, value in (line.split() for line in out.splitlines())}
    print(f"{'disabled event':32} {ns['disabled']:9.2f} ns   load and branch {ns['branch']:9.2f} ns   ratio {ns['disabled'] / ns['branch']:5.2f}   target <= 1.5")
    print(f"{'line of a log':32} {ns['text']:9.0f} ns   naive           {ns['naive']:9.0f} ns   times cheaper {ns['naive'] / ns['text']:5.2f}   target >= 3")


if __name__ == "__main__":
    main()
