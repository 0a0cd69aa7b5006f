#!/usr/bin/env python3
"""Runs the unit tests of the page's modules with node's own runner; without node they are skipped.

usage: run.py
"""
import pathlib
import shutil
import subprocess
import sys

SKIP = 77


def main():
    node = shutil.which("node")
    if not node:
        print("skipped: there is no node (apt-get install nodejs)")
        return SKIP
    tests = sorted(pathlib.Path(__file__).parent.glob("test_*.mjs"))
    return subprocess.run([node, "--test", *tests]).returncode


if __name__ == "__main__":
    sys.exit(main())
