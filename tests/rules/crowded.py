#!/usr/bin/env python3
"""No folder of sources has more than 35 files beside its sub-folders, so that a reader sees all of
them at once.

usage: crowded.py TOP
"""
import collections
import pathlib
import sys

MOST = 35
ROOMS = ("arch", "cmds", "libmcount", "trace", "utils", "tests")
# A sample program or a fuzz target is one file, which is found by its name. Their folders may have
# these numbers of files.
NOT_YET = {"tests/e2e/src": 80, "tests/fuzz": 45}
# Inputs that programs have generated.
DATA = "tests/data"


def count(top):
    return collections.Counter(path.parent.relative_to(top).as_posix() for room in ROOMS for path in (top / room).rglob("*")
                               if path.is_file() and "__pycache__" not in path.parts and not path.is_relative_to(top / DATA))


def main():
    found = count(pathlib.Path(sys.argv[1]))
    problems = [f"{folder}: {nr} files, {NOT_YET.get(folder, MOST)} at most: which of them belong together?"
                for folder, nr in sorted(found.items()) if nr > NOT_YET.get(folder, MOST)]
    problems += [f"{folder}: is listed here, and has {found[folder]} files" for folder in NOT_YET if found[folder] <= MOST]
    print("\n".join(problems) or f"{len(found)} folders, {MOST} files at most")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
