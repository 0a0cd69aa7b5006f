#!/usr/bin/env python3
"""A circle of includes is inside one folder, and has four files at most: files that can only be
understood together must be few. A source and its header count as one file, so a call through a
header leads to its source.

usage: circles.py TOP
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)\.h"')
ROOMS = ("utils", "arch", "libmcount", "cmds", "trace")
LIMIT = 4

# Folders with larger circles, and the number of files in the largest: these numbers may only become
# smaller.
KNOWN = {
    # each command reads options through opts.h, which knows the tables of all of them
    "cmds": 11,
    # parts of one plan that are computed from each other
    "cmds/record/plan": 8,
}


def read_edges(top):
    edges = {}
    for path in (path for room in ROOMS for path in sorted((top / room).rglob("*.[chS]"))):
        name = path.relative_to(top).with_suffix("").as_posix()
        included = (INCLUDE.match(line) for line in path.read_text().splitlines())
        # In the project in trace/, the paths of its own files are relative to trace/.
        before = "trace/" if name.startswith("trace/") else ""
        targets = {before + match[1] for match in included if match}
        edges.setdefault(name, set()).update(targets - {name})
    return edges


def reached_from(edges, start):
    seen, todo = set(), [start]
    while todo:
        new = edges.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return seen


def circles(edges):
    """The circles: sets of two or more files, in which each file can be reached from each other."""
    reached = {name: reached_from(edges, name) for name in edges}
    left = {name for name in edges if name in reached[name]}
    while left:
        name = min(left)
        circle = {other for other in reached[name] if other in left and name in reached[other]}
        left -= circle
        yield circle


def problems_of(found):
    largest = {}
    for circle in found:
        folders = {name.rpartition("/")[0] for name in circle}
        if len(folders) > 1:
            yield f"circle between folders: {' '.join(sorted(circle))}"
            continue
        folder, nr = folders.pop(), len(circle)
        largest[folder] = max(nr, largest.get(folder, 0))
        if nr > KNOWN.get(folder, LIMIT):
            yield f"circle of {nr}: {' '.join(sorted(circle))}"
    for folder, nr in KNOWN.items():
        if largest.get(folder, 0) < nr:
            yield f"KNOWN[{folder!r}] may be {largest.get(folder, 0)} now"


def main():
    edges = read_edges(pathlib.Path(sys.argv[1]))
    problems = list(problems_of(list(circles(edges))))
    print("\n".join(problems) or f"{len(edges)} files, no circle between folders, none of more than {LIMIT} within one")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
