#!/usr/bin/env python3
"""The recorder's rooms (doc/internals/recorder.md) call downwards only: no object uses a symbol of
a room above its own. And only the store creates files.

Calls upwards through pointers are allowed. includes.py checks includes.

usage: rooms.py TOP ARCHIVE
"""
import pathlib
import re
import subprocess
import sys

from includes import RECORDER, RECORDER_ROOMS

MEMBER = re.compile(r"record_(\w+?)_\w+\.c\.o$")


def symbols(archive):
    """For each member of the recorder: its room, its name, the symbols that it defines, and those
    that it uses."""
    text = subprocess.run(["nm", "-A", "--no-sort", archive], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        # "<archive>:<member>:<address or blanks> <kind> <name>"
        left, _, right = line.rpartition(":")
        member = MEMBER.search(left)
        if member:
            kind, name = right.split()[-2:]
            yield member[1], member[0], kind, name


def made_files(top):
    for path in sorted((top / RECORDER).rglob("*.[ch]")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            # tracefs.c opens files of the kernel, and empties a list with O_TRUNC. calls.c records
            # files that traced programs have opened. "rename(2)" in a comment is no call.
            if path.parent.name != "store" and path.name not in ("tracefs.c", "calls.c") and re.search(r"\bO_(CREAT|TRUNC)\b|\b(creat|rename\w*|mkstemp)\((?!\d\))", line):
                yield f"{path.relative_to(top)}:{number}: only a store makes files: store_open(), store_publish()"


def main():
    found = list(symbols(sys.argv[2]))
    home = {name: room for room, _, kind, name in found if kind in "TDBRVW"}
    problems = [f"{member}: uses {name}() of the room '{home[name]}' above it"
                for room, member, kind, name in found
                if kind == "U" and name in home
                and RECORDER_ROOMS.index(home[name]) > RECORDER_ROOMS.index(room)]
    problems += made_files(pathlib.Path(sys.argv[1]))
    seen = {room for room, *_ in found}
    problems += [f"there is no object of the room '{room}'" for room in RECORDER_ROOMS if room not in seen]
    print("\n".join(problems) or f"{len(home)} symbols are used from above only")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
