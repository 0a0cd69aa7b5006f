#!/usr/bin/env python3
"""The recorder's rooms (doc/internals/recorder.md) call downwards only: no object uses a symbol of a room above its own.

What is called by a pointer goes the other way, and is meant to. Includes are looked at by includes.py.

usage: rooms.py ARCHIVE
"""
import re
import subprocess
import sys

from includes import RECORDER_ROOMS

MEMBER = re.compile(r"record_(\w+?)_\w+\.c\.o$")


def symbols(archive):
    """The room and the name of each member, with what it defines and what it uses; nothing for what is no part of the recorder."""
    text = subprocess.run(["nm", "-A", "--no-sort", archive], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        # "<archive>:<member>:<address or blanks> <kind> <name>"
        left, _, right = line.rpartition(":")
        member = MEMBER.search(left)
        if member:
            kind, name = right.split()[-2:]
            yield member[1], member[0], kind, name


def main():
    found = list(symbols(sys.argv[1]))
    home = {name: room for room, _, kind, name in found if kind in "TDBRVW"}
    problems = [f"{member}: uses {name}() of the room '{home[name]}' above it"
                for room, member, kind, name in found
                if kind == "U" and name in home
                and RECORDER_ROOMS.index(home[name]) > RECORDER_ROOMS.index(room)]

    seen = {room for room, *_ in found}
    problems += [f"there is no object of the room '{room}'" for room in RECORDER_ROOMS if room not in seen]
    print("\n".join(problems) or f"{len(home)} symbols are used from above only")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
