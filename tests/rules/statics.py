#!/usr/bin/env python3
"""A static function with a one-word name is in one file only, so that breakpoints and profiles are
unambiguous. Names of more words, as put_text, describe their function and may be in several files.
Tests and examples are programs of their own, and are not checked.

usage: statics.py TOP
"""
import pathlib
import re
import sys

APART = {"tests", "examples"}
ROOMS = ("utils", "arch", "libmcount", "cmds", "trace")
HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|__attribute__\(\([^\n]*?\)\)|ElfW\(\w+\)', re.DOTALL)
STATIC = re.compile(r"^(?:[A-Z_]+ )?static\b[^;={}()\[\]]*?\b(\w+)\(", re.MULTILINE)


def read_statics(top):
    """The files by the names of their static functions, and the number of files."""
    statics, nr = {}, 0
    for path in (path for room in ROOMS for path in sorted((top / room).rglob("*.[ch]"))):
        if APART & set(path.relative_to(top).parts):
            continue
        nr += 1
        for name in STATIC.findall(HIDDEN.sub(" ", path.read_text())):
            statics.setdefault(name, set()).add(path.relative_to(top).as_posix())
    return statics, nr


def main():
    statics, nr = read_statics(pathlib.Path(sys.argv[1]))
    problems = [f"{name}() needs a noun: it is in {', '.join(sorted(files))}" for name, files in sorted(statics.items())
                if "_" not in name and len(files) > 1]
    print("\n".join(problems) or f"{nr} files, no static name of one word in two")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
